import { createServer } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { unknownValue } from "../../provider/hooks/wire.ts";
import type { ContractInput } from "../../sdk/contract/index.ts";
import { rule, type ServedContract, serve } from "../support/connections.ts";
import { HookFailure, ProviderHost } from "../support/provider-host.ts";

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

type Hooks = "merchantRule" | "merchantRuleSet";

async function open(contract?: ContractInput, environment: Record<string, string> = {}) {
  const served: ServedContract = await serve(contract);
  opened.push(served);
  const another = async (hooks: Hooks = "merchantRule"): Promise<ProviderHost> => {
    const host = await ProviderHost.start({}, { ...served.environment, ...environment }, hooks);
    opened.push(host);
    return host;
  };
  return { host: await another(), service: served.service, url: served.service.url, another };
}

const identifyBy = { in: "query" } as const;
const list = { path: "/api/v1/merchants/rules", items: "/rules" };
const withoutUpdate: ContractInput = {
  version: 1,
  operations: { delete: { identifyBy }, list },
  rule: { naturalKey: "/name" },
};

describe("no rule is lost when resources change places", () => {
  test("a connection that is only renamed keeps its rules", async () => {
    const { host, service, url } = await open();
    const old = await host.create({ definition: rule(1) });
    const main = await ProviderHost.start(
      { "merchant-rules:connections": JSON.stringify({ main: { baseUrl: `${url}/`, token: "local-token" } }) },
      { MERCHANT_RULES_BASE_URL: url, MERCHANT_RULES_CONTRACT: "illustrative", MERCHANT_RULES_TOKEN: "local-token" },
    );
    opened.push(main);
    const moved = { definition: rule(1), connection: "main" };
    expect(await main.diff(old.id, old.outs, moved)).toMatchObject({ replaces: ["connection"] });
    const { id } = await main.create(moved);
    await main.delete(old.id, old.outs);
    expect(service.rules()).toMatchObject([{ ruleId: id }]);
  });

  test("a resource that becomes another rule, while a new one declares the rule it was, gets a rule of its own", async () => {
    const { host, service, another } = await open();
    const a = await host.create({ definition: rule(1) });
    const next = await another();
    const c = await next.create({ definition: rule(1) });
    expect(c.id).toBe(a.id);
    expect(await next.diff(a.id, a.outs, { definition: rule(2) })).toMatchObject({
      replaces: ["definition"],
      deleteBeforeReplace: false,
    });
    const replaced = await next.create({ definition: rule(2) });
    await next.delete(a.id, a.outs);
    expect(
      service
        .rules()
        .map(({ ruleId }) => ruleId)
        .sort(),
    ).toEqual([c.id, replaced.id].sort());
  });

  test("a resource that was renamed, and changes before the old one is gone, keeps its rule", async () => {
    const { host, service, another } = await open();
    const old = await host.create({ definition: rule(1) });
    const renamed = await (await another()).create({ definition: rule(1) });
    const later = await another();
    const changed = { definition: rule(1, { priority: 9 }) };
    await later.diff(renamed.id, renamed.outs, changed);
    await later.update(renamed.id, renamed.outs, changed);
    await later.delete(old.id, old.outs);
    expect(service.rules()).toHaveLength(1);
  });

  test.each([0, 3, 6])("a rule that moves from one set to another at once is not lost (%i ms apart)", async (apart) => {
    const { another, service } = await open();
    const moving = { r1: rule(1), r2: rule(2), r3: rule(3) };
    let host = await another("merchantRuleSet");
    const from = await host.create({ rules: { ...moving, stays: rule(8) } });
    const to = await host.create({ rules: { here: rule(9) } });
    const after = { from: { rules: { stays: rule(8) } }, to: { rules: { ...moving, here: rule(9) } } };
    host = await another("merchantRuleSet");
    const leave = host.update(from.id, from.outs, after.from);
    await new Promise((resolve) => setTimeout(resolve, apart));
    const arrive = host.update(to.id, to.outs, after.to).catch((error: unknown) => {
      if (error instanceof HookFailure && error.partial !== undefined) return error.partial.properties;
      throw error;
    });
    const [left, arrived] = await Promise.all([leave, arrive]);
    host = await another("merchantRuleSet");
    await host.diff(from.id, left, after.from);
    await host.diff(to.id, arrived, after.to);
    await host.update(from.id, left, after.from);
    await host.update(to.id, arrived, after.to);
    expect(
      service
        .rules()
        .map(({ rule: { name } }) => name)
        .sort(),
    ).toEqual(["rule-1", "rule-2", "rule-3", "rule-8", "rule-9"]);
  });

  test("a rule that was taken over in a run of its own, and is deleted by the set that it came from, is made again", async () => {
    const { another, service } = await open();
    const first = await another("merchantRuleSet");
    const from = await first.create({ rules: { old: rule(1), stays: rule(8) } });
    const to = await (await another("merchantRuleSet")).create({ rules: { new: rule(1), here: rule(9) } });
    expect(service.rules()).toHaveLength(3);
    const host = await another("merchantRuleSet");
    const after = { rules: { new: rule(1), here: rule(9) } };
    await host.update(from.id, from.outs, { rules: { stays: rule(8) } });
    expect(service.rules()).toHaveLength(2);
    expect(await host.diff(to.id, to.outs, after)).toMatchObject({ changes: "some" });
    const { ruleIds } = await host.update(to.id, to.outs, after);
    expect(service.rules()).toHaveLength(3);
    const made = service.rules().find((each) => each.rule.name === "rule-1");
    expect(ruleIds).toMatchObject({ new: made?.ruleId });
  });

  test("so it is for a resource of its own", async () => {
    const { another, service } = await open();
    const from = await (await another("merchantRuleSet")).create({ rules: { old: rule(1), stays: rule(8) } });
    const single = await (await another()).create({ definition: rule(1) });
    expect(service.rules()).toHaveLength(2);
    const host = await another("merchantRuleSet");
    await host.update(from.id, from.outs, { rules: { stays: rule(8) } });
    const asSingle = host.as("merchantRule");
    opened.push(asSingle);
    expect(await asSingle.diff(single.id, single.outs, { definition: rule(1) })).toMatchObject({
      replaces: ["definition"],
    });
    await asSingle.create({ definition: rule(1) });
    await asSingle.delete(single.id, single.outs);
    expect(service.rules()).toHaveLength(2);
  });

  test("a rule whose delete is under way is not taken over", async () => {
    const { host: before, another, service } = await open();
    const old = await before.create({ definition: rule(1) });
    const host = await another();
    service.faults.add({ kind: "latency", ms: 200, operations: ["delete"] });
    const deleted = host.delete(old.id, old.outs);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await expect(host.create({ definition: rule(1), adopt: old.id })).rejects.toThrow(/managed by another resource/);
    await deleted;
    expect(service.rules()).toEqual([]);
    await host.create({ definition: rule(1) });
    expect(service.rules()).toHaveLength(1);
  });

  test("of two that adopt one rule at once, the one that is refused has not written", async () => {
    const { host, service } = await open();
    const existing = service.put(undefined, rule(1));
    const adopting = [10, 20].map((priority) => host.create({ definition: rule(1, { priority }), adopt: existing }));
    const results = await Promise.allSettled(adopting);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const winner = results[0]?.status === "fulfilled" ? 10 : 20;
    expect(service.rules()).toMatchObject([{ rule: { priority: winner } }]);
  });

  test("a replacement is refused while adopt names a rule, before anything is touched", async () => {
    const { host, service } = await open(withoutUpdate);
    const existing = service.put(undefined, rule(1));
    const { id, outs } = await host.create({ definition: rule(1), adopt: existing });
    service.resetRequests();
    await expect(host.diff(id, outs, { definition: rule(1, { priority: 2 }), adopt: existing })).rejects.toThrow(
      /remove adopt/,
    );
    expect(await host.diff(id, outs, { definition: rule(1, { priority: 2 }) })).toMatchObject({
      replaces: ["definition"],
    });
    expect(service.requests).toEqual([]);
  });
});

describe("a rule is gone only when the service itself says so", () => {
  test("an address where nobody knows of rules makes even a single rule no deletion", async () => {
    const elsewhere = createServer((_, response) => response.writeHead(404).end("<h1>Not Found</h1>"));
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    opened.push({ close: async () => void elsewhere.close() });
    const address = elsewhere.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const wrong = await ProviderHost.start(
      {},
      { MERCHANT_RULES_BASE_URL: `http://127.0.0.1:${port}`, MERCHANT_RULES_TOKEN: "local-token" },
    );
    opened.push(wrong);
    await expect(wrong.read("1", { definition: rule(1), ruleId: "1" })).rejects.toThrow(/can be seen over connection/);
  });

  test("a delete or an update at a path that the service does not have is an error, not a success", async () => {
    const contract: ContractInput = {
      version: 1,
      operations: {
        delete: { path: "/api/v1/merchants/nowhere", identifyBy },
        update: { path: "/api/v1/merchants/rulez/{ruleId}" },
      },
    };
    const { service } = await open();
    const host = await ProviderHost.start(
      {},
      {
        MERCHANT_RULES_BASE_URL: service.url,
        MERCHANT_RULES_CONTRACT: await contractFile(contract),
        MERCHANT_RULES_TOKEN: "local-token",
      },
    );
    opened.push(host);
    const { id, outs } = await host.create({ definition: rule(1) });
    await expect(host.delete(id, outs)).rejects.toThrow(/operations\.delete/);
    await expect(host.update(id, outs, { definition: rule(1, { priority: 2 }) })).rejects.toThrow(/operations\.update/);
    expect(service.rules()).toHaveLength(1);
  });
});

describe("what a preview says", () => {
  test("a declared null is a change, although the engine takes null for absent", async () => {
    const { host } = await open();
    const olds = { definition: rule(1), ruleId: "1" };
    expect(await host.diff("1", olds, { definition: rule(1, { note: null }) })).toMatchObject({ changes: "some" });
    expect(await host.diff("1", olds, { definition: rule(1, { note: null, priority: 2 }) })).toMatchObject({
      changes: "unknown",
    });
  });

  test("a service that drops nulls is as declared", async () => {
    const { host, service, another } = await open();
    const { id, outs } = await host.create({ definition: rule(1, { note: null }) });
    service.put(id, rule(1));
    const seen = await (await another()).read(id, outs);
    expect(seen.inputs).toEqual({ definition: rule(1, { note: null }) });
  });

  test("nothing is refused for a value that is not known yet", async () => {
    const { host } = await open({ version: 1 });
    const olds = { definition: rule(1), ruleId: "1" };
    expect(await host.diff("1", olds, { definition: rule(1, { priority: unknownValue }) })).toMatchObject({
      changes: "unknown",
    });
  });
});

describe("a set whose rule could not be deleted", () => {
  test("remembers it by its id alone, and deletes it in the next run", async () => {
    const { service, another } = await open({ ...withoutUpdate, rule: {}, operations: { delete: { identifyBy } } });
    const host = await another("merchantRuleSet");
    const { id, outs } = await host.create({ rules: { a: rule(1), b: rule(2, { secret: "s3cr3t" }) } });
    const wrong = await ProviderHost.start(
      {},
      {
        MERCHANT_RULES_BASE_URL: service.url,
        MERCHANT_RULES_CONTRACT: await contractFile({
          version: 1,
          operations: { delete: { path: "/api/v1/merchants/nowhere", identifyBy } },
        }),
        MERCHANT_RULES_TOKEN: "local-token",
      },
      "merchantRuleSet",
    );
    opened.push(wrong);
    const failure = await wrong.update(id, outs, { rules: { a: rule(1) } }).catch((error: unknown) => error);
    if (!(failure instanceof HookFailure)) throw new Error("the delete should have failed");
    expect(failure.partial?.properties.rules).toEqual({ a: rule(1), b: {} });
    expect(JSON.stringify(failure.partial)).not.toContain("s3cr3t");
    const after = await host.update(id, failure.partial?.properties ?? {}, { rules: { a: rule(1) } });
    expect(Object.keys(Object(after.ruleIds))).toEqual(["a"]);
    expect(service.rules()).toHaveLength(1);
  });
});

async function contractFile(contract: ContractInput): Promise<string> {
  const served = await serve(contract);
  opened.push(served);
  return served.environment.MERCHANT_RULES_CONTRACT ?? "";
}
