import { join } from "node:path";
import { expect, test } from "vitest";
import { Session } from "../../provider/hooks/session.ts";
import { connectionSettings } from "../../provider/settings/connection-settings.ts";
import { stateVersion } from "../../provider/state/state.ts";
import { defineContract } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";
import { rule } from "../support/rules.ts";
import { startHost } from "../support/stack/hooks.ts";
import { failureOf, type HookNames, type Host, hooksHere } from "../support/stack/hosts.ts";
import { startService } from "../support/stack/service.ts";

const environment = { MERCHANT_RULES_BASE_URL: "http://127.0.0.1:1", MERCHANT_RULES_TOKEN: "t" };

function project(files: Record<string, string> = {}): string {
  return newFolder({ "Pulumi.yaml": "name: shop\nruntime: nodejs\n", ...files });
}

const settings = (folder: string, more: Record<string, string> = {}) =>
  connectionSettings({ config: () => undefined, environment: { ...environment, ...more }, folder }).client;

test("a contract is found by both of its names", () => {
  const text = "version: 1\noperations: { delete: { identifyBy: { in: body, name: id } } }\n";
  for (const name of ["merchant-rules.contract.yaml", "merchant-rules.contract.yml"]) {
    const { contract, noContract } = settings(project({ [name]: text }));
    expect(contract.operations.delete.identifyBy).toMatchObject({ in: "body" });
    expect(noContract).toBeUndefined();
  }
});

test("where there is none, the settings say so, and where it was looked for", () => {
  const folder = project();
  expect(settings(folder).noContract).toContain(
    `looked for merchant-rules.contract.yaml and merchant-rules.contract.yml in ${folder}`,
  );
});

test("a file that is nearly named as a contract is named; two contracts in a folder are refused with both names", () => {
  for (const name of ["merchant-rule.contract.yaml", "Rules-Contract.yml", "merchant-rules.contrat.yaml"])
    expect(settings(project({ [name]: "version: 1\n" })).noContract).toContain(`(did you mean ${name}?`);
  expect(settings(project({ "merchant-rules.semantics.yaml": "" })).noContract).not.toContain("did you mean");
  const both = { "merchant-rules.contract.yaml": "version: 1\n", "merchant-rules.contract.yml": "version: 1\n" };
  expect(() => settings(project(both))).toThrow(
    "there are two: merchant-rules.contract.yaml and merchant-rules.contract.yml",
  );
});

test("each run says once which contract it goes by, and warns where there is none", async () => {
  const saidIn = async (folder: string, more: Record<string, string> = {}): Promise<string> => {
    const sources = { config: () => undefined, environment: { ...environment, ...more }, folder };
    const host = hooksHere("connection", new Session(sources));
    for (let call = 0; call < 2; call += 1) await host.check({ connection: "default" });
    return host.stderr;
  };
  const named = project({ "merchant-rules.contract.yaml": "version: 1\n" });
  expect(await saidIn(named)).toBe("contract: merchant-rules.contract.yaml");
  expect(await saidIn(named, { MERCHANT_RULES_CONTRACT: "seed" })).toBe("contract: preset seed");
  expect(await saidIn(project())).toMatch(/^no contract was found [^\n]*$/);
});

test("every error that follows from it says so: a delete, an unknown path, a list that is needed", async () => {
  const service = await startService({
    contract: defineContract({ version: 1, operations: { create: { path: "/other" } } }),
  });
  const open = () => startHost({ MERCHANT_RULES_BASE_URL: service.url, MERCHANT_RULES_TOKEN: "t" }, "merchantRuleSet");
  const host = await open();
  const outs = { rules: { a: rule(1), b: rule(2) }, ruleIds: { a: "1", b: "2" } };
  const deleting = await failureOf(host.diff("set", outs, { rules: { a: rule(1) } }));
  expect(deleting.message).toMatch(/does not say how a delete names its rule.*no contract was found \(looked for/);
  // In a run that knows no rule, so that nothing else is asked first.
  const creating = await failureOf((await open()).create({ rules: { a: rule(1) } }));
  expect(creating.message).toMatch(/the service answered 40\d.*no contract was found/s);
  const { failures } = await host.check({ rules: { a: rule(1) }, onUnmanaged: "warn" });
  expect(failures).toMatchObject([{ reason: expect.stringMatching(/needs operations\.list.*no contract was found/) }]);
});

test("so does the error about a token that is lacking, though client credentials are there", async () => {
  const host = await startHost({
    MERCHANT_RULES_BASE_URL: environment.MERCHANT_RULES_BASE_URL,
    MERCHANT_RULES_CLIENT_ID: "i",
    MERCHANT_RULES_CLIENT_SECRET: "s",
  });
  const { message } = await failureOf(host.create({ definition: rule(1) }));
  expect(message).toMatch(/lacks merchant-rules:token .*Note: no contract was found \(looked for/s);
});

test("a preset that is misspelt gets the nearest name", () => {
  expect(() => settings(project(), { MERCHANT_RULES_CONTRACT: "ilustrative" })).toThrow("did you mean illustrative?");
  expect(() => settings(project(), { MERCHANT_RULES_CONTRACT: "Seed" })).toThrow("did you mean seed?");
  expect(() => settings(project(), { MERCHANT_RULES_CONTRACT: "contract.yaml" })).toThrow(/^(?!.*did you mean)/s);
});

test("an address that cannot work fails in a preview", async () => {
  const host = await startHost({
    MERCHANT_RULES_BASE_URL: "http://rules.example.com",
    MERCHANT_RULES_CONTRACT: "illustrative",
  });
  const { failures } = await host.check({ definition: rule(1) });
  expect(failures).toMatchObject([{ property: "connection", reason: expect.stringContaining("use https") }]);
});

test("a parameter that no request can carry fails in a preview", async () => {
  const folder = project({
    "c.json": JSON.stringify({
      version: 1,
      parameters: { merchantId: {} },
      operations: { create: { path: "/m/{merchantId}/rules" } },
    }),
  });
  const host = await startHost({
    ...environment,
    MERCHANT_RULES_CONTRACT: join(folder, "c.json"),
    MERCHANT_RULES_PARAM_MERCHANT_ID: "..",
  });
  const { failures } = await host.check({ definition: rule(1) });
  expect(failures).toMatchObject([
    { reason: expect.stringMatching(/parameter merchantId cannot be used: .*another path/) },
  ]);
});

const connected = { connection: "default", owner: "0".repeat(32), ownerNames: "shop/prod", names: "shop/prod" };

test.each<[HookNames, JsonObject, JsonObject]>([
  ["merchantRule", { definition: rule(1) }, { definition: rule(1), ruleId: "1" }],
  ["merchantRuleSet", { rules: { a: rule(1) } }, { rules: { a: rule(1) }, ruleIds: { a: "1" } }],
  ["connection", connected, { ...connected, stateVersion }],
])(
  "a setting that names a missing contract is an error in every hook of %s, also where nothing changes",
  async (hooks, news, olds) => {
    const folder = project();
    const missing = { ...environment, MERCHANT_RULES_CONTRACT: join(folder, "missing.yaml") };
    const id = "default";
    const open = () => startHost(missing, hooks);
    const { failures } = await (await open()).check(news, olds);
    expect(failures).toMatchObject([{ reason: expect.stringContaining("missing.yaml") }]);
    const calls: ((host: Host) => Promise<unknown>)[] = [
      (host) => host.diff(id, olds, news),
      (host) => host.create(news),
      (host) => host.read(id, olds),
      (host) => host.update(id, olds, news),
      (host) => host.delete(id, olds),
    ];
    for (const call of calls) expect((await failureOf(call(await open()))).message).toContain("missing.yaml");
  },
);

test("the state of a connection whose other settings are gone can be read and deleted", async () => {
  const { MERCHANT_RULES_BASE_URL: _, ...fewer } = environment;
  const host = await startHost(fewer, "connection");
  const state = { ...connected, stateVersion };
  const id = "default";
  expect(await host.read(id, state)).toMatchObject({ id });
  await host.delete(id, state);
  expect(host.stderr).toContain("could not check whether rules of this stack are left");
});
