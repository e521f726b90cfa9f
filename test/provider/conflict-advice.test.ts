import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { ContractInput } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { rule } from "../support/rules.ts";
import { openWorld } from "../support/stack/hooks.ts";
import { failureOf, type Host, markBy, resource } from "../support/stack/hosts.ts";

const operations = { delete: { identifyBy: { in: "query" } } } as const;
const withKey: ContractInput = { version: 1, operations, rule: { id: ["/id"], naturalKey: "/name" } };
const withoutKey: ContractInput = { ...withKey, rule: { id: ["/id"] } };

/** A service that has each name once, and a program whose contract may not say so. */
async function open(contract = withKey) {
  const { service, host, contractFile } = await openWorld({ contract });
  const hostBy = (spoken: ContractInput, hooks?: "merchantRuleSet"): Promise<Host> => {
    writeFileSync(contractFile, JSON.stringify(spoken));
    return host(hooks);
  };
  return { hostBy, service };
}

describe("a replacement that its own old rule is in the way of", () => {
  const declared = (definition: JsonObject): JsonObject => resource("limit", { definition });

  async function refused() {
    const opened = await open();
    const host = await opened.hostBy(withoutKey);
    const { id, outs } = await host.create(declared(rule(1)));
    const changed = declared(rule(1, { priority: 2 }));
    expect(await host.diff(id, outs, changed)).toMatchObject({ replaces: ["definition"], deleteBeforeReplace: false });
    const { message } = await failureOf(host.create(changed));
    expect(message).toMatch(/RULE_CONFLICT/);
    expect(message).toContain(`rule ${id}, which the new rule is to replace, may be in its way`);
    // With it, the diff would say to remove it again.
    expect(message).not.toContain("adopt");
    return { ...opened, id, outs, changed, message };
  }

  test("is told to have that one go first, by the option of the engine", async () => {
    const { hostBy, service, id, outs, changed, message } = await refused();
    expect(message).toContain("deleteBeforeReplace: true");
    const host = await hostBy(withoutKey);
    await host.diff(id, outs, changed);
    await host.delete(id, outs);
    await host.create(changed);
    expect(service.rules()).toMatchObject([{ rule: { priority: 2 } }]);
  });

  test("is told to have that one go first, by the natural key in the contract", async () => {
    const { hostBy, service, id, outs, changed, message } = await refused();
    expect(message).toContain("rule.naturalKey in the contract");
    const host = await hostBy(withKey);
    expect(await host.diff(id, outs, changed)).toMatchObject({ deleteBeforeReplace: true });
    await host.delete(id, outs);
    await host.create(changed);
    expect(service.rules()).toMatchObject([{ rule: { priority: 2 } }]);
  });

  test("in a set is told the same, and the next run replaces it", async () => {
    const { hostBy, service } = await open();
    const all = (a: JsonObject): JsonObject => resource("all", { rules: { a, b: rule(2) } });
    const host = await hostBy(withoutKey, "merchantRuleSet");
    const { id, outs } = await host.create(all(rule(1)));
    const changed = all(rule(1, { priority: 2 }));
    const failure = await failureOf(host.update(id, outs, changed));
    expect(failure.message).toMatch(/a: create rule a failed.*which the new rule is to replace.*rule\.naturalKey/s);
    expect(failure.message).not.toMatch(/adopt|deleteBeforeReplace/);
    const again = await hostBy(withKey, "merchantRuleSet");
    await again.update(id, failure.partial?.properties ?? outs, changed);
    expect(service.rules().map(({ rule: { name, priority } }) => [name, priority])).toEqual([
      ["rule-2", 2],
      ["rule-1", 2],
    ]);
  });
});

describe("an update that is refused as a conflict", () => {
  const updating: ContractInput = {
    ...withKey,
    operations: { ...operations, update: { path: "/api/v1/merchants/rules/{ruleId}" } },
  };

  test("without another natural key speaks of a change meanwhile, and after a refresh goes through", async () => {
    const { hostBy, service } = await open(updating);
    const host = await hostBy(updating);
    const declared = (priority: number): JsonObject => resource("limit", { definition: rule(1, { priority }) });
    const { id, outs } = await host.create(declared(1));
    service.faults.set({ kind: "status", status: 409, operations: ["update"], times: 1 });
    const { message } = await failureOf(host.update(id, outs, declared(2)));
    expect(message).toMatch(/RULE_CONFLICT/);
    expect(message).toContain("If the rule was changed there meanwhile, run `pulumi up --refresh`");
    expect(message).not.toContain("swap");
    service.faults.set([]);
    const { props } = await host.read(id, outs);
    await host.update(id, props, declared(2));
    expect(service.rules()).toMatchObject([{ rule: { priority: 2 } }]);
  });
});

describe("where the contract has no update", () => {
  const owned: ContractInput = {
    ...withKey,
    operations: { ...operations, list: { path: "/api/v1/merchants/rules", items: "/rules", lagMs: 0 } },
    rule: { ...withKey.rule, owner: { at: "/metadata/managedBy" } },
  };
  const declared = (definition: JsonObject, more: JsonObject = {}): JsonObject =>
    resource("limit", { definition, ...more });
  const marked = (owner: string): JsonObject => ({ ...rule(1), metadata: { managedBy: markBy(owner) } });

  test("a rule of another stack is not to be adopted, which could not be: once it is deleted, this one is made", async () => {
    const { hostBy, service } = await open(owned);
    const ruleId = service.put(undefined, marked("shop/other/limit"));
    const { message } = await failureOf((await hostBy(owned)).create(declared(rule(1))));
    expect(message).toMatch(/RULE_CONFLICT/);
    expect(message).toContain("have this one deleted first, at the service or by");
    expect(message).not.toContain("adopt");
    service.remove(ruleId);
    await (await hostBy(owned)).create(declared(rule(1)));
    expect(service.rules()).toHaveLength(1);
  });

  test("a rule that is there already is taken as it is, and changed by a replacement in a later run", async () => {
    const { hostBy, service } = await open(owned);
    const [first = ""] = [1, 2].map((n) => service.put(undefined, rule(n)));
    const wanted = declared(rule(1, { priority: 7 }));
    const { message } = await failureOf((await hostBy(owned)).create(wanted));
    expect(message).toContain(`declare it as it is at the service and add adopt: "${first}"; change it in a later run`);
    const { id, outs } = await (await hostBy(owned)).create(declared(rule(1), { adopt: first }));
    expect(id).toBe(first);
    const host = await hostBy(owned);
    expect(await host.diff(id, outs, wanted)).toMatchObject({ replaces: ["definition"], deleteBeforeReplace: true });
    await host.delete(id, outs);
    await host.create(wanted);
    expect(service.rules().map(({ rule: { name, priority } }) => [name, priority])).toEqual([
      ["rule-2", 2],
      ["rule-1", 7],
    ]);
  });
});
