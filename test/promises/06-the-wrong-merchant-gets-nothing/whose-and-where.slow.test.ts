import { expect, test } from "vitest";
import { localCredentials } from "../../../local/service/index.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import * as contracts from "../../support/stack/contracts.ts";
import { onBothEngines, type RunChoice, type Stack } from "../../support/stack/engines.ts";
import { wordIn } from "../../support/stack/model-stack.ts";
import { openPlace, openStack, type Place } from "../../support/stack/place.ts";
import type { CommandResult, EngineName } from "../../support/stack/project.ts";

const { asking, contractOf, marking, merchants, owner, twoMerchants } = contracts;
const create = { identifyBy: { in: "body", name: "id" } } as const;
/** Contracts with nothing by which rules are found but ids chosen by the client, or marks. */
const keyless = {
  "chosen ids": contractOf({ operations: { create }, rule: { naturalKey: null } }),
  marks: contractOf({ rule: { owner, naturalKey: null } }),
};
const kinds = { "no marks": contractOf(), marks: marking };
const askingAndMarking = contractOf({ auth: { identity: contracts.identity }, rule: { owner } });

/** The rules of both merchants. */
const all = ({ service }: Place) => merchants.map(({ name }) => service.of(name).rules());

/** Takes a resource out of the state, as `pulumi state delete` does; the local engine has no command for that. */
async function forget(engine: EngineName, { project }: Stack, name: string): Promise<void> {
  const state = JSON.parse(project.state());
  const { latest } = state.checkpoint;
  const at = latest.resources.findIndex((each: { urn: string }) => each.urn.endsWith(`::${name}`));
  const [{ urn }] = latest.resources.splice(at, 1);
  if (engine === "local") return project.restore(JSON.stringify(state));
  const { code, output } = await project.pulumi("state", "delete", urn, "--yes", "--stack", project.stack);
  expect(code, output).toBe(0);
}

/** A stack that has a second connection as well, to the same merchant. */
async function withSecond(engine: EngineName, contract: ContractInput, settings: (url: string) => JsonObject) {
  const place = await openPlace({ ...twoMerchants, contract });
  const stack = await place.stack(engine, { config: { connections: { second: settings(place.front.url) } } });
  return { place, stack };
}
const { clientId, clientSecret } = localCredentials;
const byClient = (baseUrl: string): JsonObject => ({ baseUrl, clientId, clientSecret });
const spelt = (url: string): JsonObject => ({ baseUrl: url.replace("127.0.0.1", "localhost"), token: "token-acme" });
const token = { path: "/api/v1/auth/token", fields: { client_id: "{clientId}", client_secret: "{clientSecret}" } };

/** A program whose resources have an alias, a provider, or one that they depend on. */
const program = `
import { readFileSync } from "node:fs";
import { MerchantRule, Provider } from "pulumi-merchant-rules";
const made = {};
const resources = JSON.parse(readFileSync(new URL("rules.json", import.meta.url), "utf8"));
for (const [name, { settings, alias, provider, after, ...args }] of Object.entries(resources)) {
  const options = { provider: made[provider], dependsOn: after ? [made[after]] : [], aliases: alias ? [{ name: alias }] : [] };
  made[name] = settings ? new Provider(name, settings) : new MerchantRule(name, args, options);
}
`;

/** An `up` of that program that must end with this code. */
async function upOf(stack: Stack, resources: Record<string, JsonObject>, choice: RunChoice = {}, succeeds = true) {
  stack.project.declare(resources);
  const result = await stack.run("up", choice);
  expect(result.code === 0, result.output).toBe(succeeds);
  return result;
}

onBothEngines((engine) => {
  test.each([
    ["other credentials", contractOf({ auth: { token } }), byClient, false],
    ["other credentials, and marks", contractOf({ auth: { token }, rule: { owner } }), byClient, true],
    ["another spelling of the address", contractOf(), spelt, false],
    ["another spelling of the address, and marks", marking, spelt, true],
  ])("1 and 2. a connection's new name, with %s", async (_, contract, settings, isProven) => {
    const { place, stack } = await withSecond(engine, contract, settings);
    await stack.up({ limit: { definition: rule(1) } });
    const before = all(place);
    const limit = { definition: rule(1), connection: "second" };
    if (!isProven) {
      const refused = await stack.upFails({ limit }, {});
      expect(refused.output).not.toContain("adopt");
      await stack.succeeds("up", { environment: wordIn({ text: refused.output }, "SAME") });
    }
    await stack.up({ limit });
    expect(place.writes()).toEqual(["create"]);
    expect(all(place)).toEqual(before);
    if (contract !== marking) await stack.up({ limit: { ...limit, definition: rule(1, { priority: 9 }) } });
    expect(place.writes()).toEqual(contract === marking ? [] : ["update"]);
    // The first connection has no credentials any more.
    const destroyed = await stack.succeeds("destroy", { environment: { MERCHANT_RULES_TOKEN: "" } });
    expect(all(place)).toEqual([[], []]);
    expect(destroyed.output).not.toContain("mark");
  });

  test.each(Object.entries(keyless))("3. a new resource under an old name, with %s", async (_, contract) => {
    const { place, stack } = await openStack(engine, { ...twoMerchants, contract }, { program });
    const block = { definition: rule(1, { name: "decline" }) };
    const limit = { definition: rule(2, { name: "review" }) };
    await upOf(stack, { limit: block });
    const before = place.service.rules();
    await upOf(stack, { block: { ...block, alias: "limit" } });
    // The new one is made before the old one was heard.
    const refused = await upOf(stack, { limit, block: { ...block, after: "limit" } }, {}, false);
    expect(refused.output).toContain("adopt");
    expect(place.writes()).toEqual(["create"]);
    await upOf(stack, { cap: limit, block: { ...block, after: "cap" } });
    await upOf(stack, { block });
    expect(place.writes()).toEqual(["create", "delete"]);
    await upOf(stack, { block, limit: { ...limit, after: "block" } });
    expect(place.writes()).toEqual(["create"]);
    expect(place.service.rules()).toEqual(expect.arrayContaining(before));
    await upOf(stack, { limit, block: { definition: { ...block.definition, priority: 50 } } });
    expect(place.writes()).toEqual(["update"]);
    expect(place.named("review").rule.priority).toBe(2);
    await stack.succeeds("destroy");
    expect(place.names()).toEqual([]);
  });

  const keyed = <T>(each: readonly T[]): Record<string, T> => Object.fromEntries(each.map((one, k) => [`r${k}`, one]));
  const asSet = (rules: readonly JsonObject[]) => ({ all: { rules: keyed(rules) } });
  const asSingles = (rules: readonly JsonObject[]) => keyed(rules.map((definition) => ({ definition })));
  const five = [1, 2, 3, 4, 5].map((k) => rule(k));
  const changed = [rule(1), rule(2, { priority: 52 }), rule(3, { priority: 53 }), rule(4), rule(5), rule(6)];
  const wrong = { environment: contracts.otherToken };
  test.each([
    ["one equal rule opens no other merchant to a set", contractOf(), asSet, /-1$/],
    ["one equal rule opens no other merchant to single rules", contractOf(), asSingles, /-1$/],
    ["copies of all rules, with marks, are told by the identity", askingAndMarking, asSet, /^/],
  ])("4. %s", async (_, contract, written, equal) => {
    const { place, stack } = await openStack(engine, { ...twoMerchants, contract });
    await stack.up(written(five));
    const globex = place.service.of("globex");
    for (const { ruleId, rule: ours } of place.service.rules())
      globex.put(ruleId, equal.test(`${ours.name}`) ? ours : rule(100, { name: `their-${ours.name}` }));
    const theirs = globex.rules();
    const ids = stack.knownIds();
    place.writes();
    await stack.upFails(written(changed), wrong);
    await stack.fails("refresh", wrong);
    expect(new Set(stack.knownIds())).toEqual(new Set(ids));
    await stack.up(written(five));
    expect(place.writes()).toEqual([]);
    await stack.up(written(changed));
    expect(place.writes().toSorted()).toEqual(["create", "update", "update"]);
    const ours = place.service.rules();
    await stack.fails("destroy", wrong);
    expect(place.service.rules()).toEqual(ours);
    // A rule that is equal under the same id is taken for ours, where it is the only one that is known.
    const kept = written === asSet ? theirs : theirs.filter(({ rule: { name } }) => name !== "rule-1");
    expect(globex.rules()).toEqual(expect.arrayContaining(kept));
  });

  test.each(Object.entries(kinds))("5. an id given again is a colleague's, with %s", async (_, contract) => {
    const { place, stack } = await openStack(engine, { ...twoMerchants, contract });
    const a = { definition: rule(1, { priority: 50 }) };
    const theirs = { ruleId: "1", rule: rule(7, { name: "colleague" }) };
    await stack.up({ a: { definition: rule(1) } });
    place.service.remove("1");
    place.service.put("1", theirs.rule);
    await stack.upFails({ a }, {}, /adopt: "1"/);
    expect((await stack.succeeds("refresh")).output).toContain("rule 1");
    expect(stack.known()).toEqual({ a: "1" });
    await stack.upFails({ a: { definition: rule(1) } }, {}, /adopt: "1"/);
    const state = stack.project.state();
    expect((await stack.succeeds("destroy")).output).toContain("rule 1");
    expect(place.writes()).toEqual(["create"]);
    expect(place.service.rules()).toEqual([theirs]);
    expect(stack.project.state()).not.toContain("MerchantRule::");
    // Both pieces of advice: its row is removed, or the program says adopt.
    stack.project.restore(state);
    await forget(engine, stack, "a");
    await stack.up({ a });
    expect(place.service.rules()).toMatchObject([theirs, { rule: { name: "rule-1" } }]);
    place.service.remove(place.idOf("rule-1"));
    stack.project.restore(state);
    await stack.up({ a: { ...a, adopt: "1" } });
    expect(place.service.rules()).toMatchObject([{ ruleId: "1", rule: a.definition }]);
  });

  test.each(Object.entries({ ...kinds, "an identity": asking }))(
    "6. a rule gets an explicit provider of another merchant, with %s",
    async (kind, contract) => {
      const { place, stack } = await openStack(engine, { ...twoMerchants, contract }, { program });
      const a = { definition: rule(1) };
      await upOf(stack, { a });
      const ours = place.service.rules();
      place.writes();
      const sandbox = { settings: { ...place.settings, token: "token-globex" } };
      const resources = { sandbox, a: { ...a, provider: "sandbox" } };
      const isTold = kind === "an identity";
      const first = await upOf(stack, resources, {}, isTold);
      if (!isTold) {
        expect(place.writes()).toEqual([]);
        const moved = await upOf(stack, resources, { environment: wordIn({ text: first.output }, "MOVED") });
        expect(moved.output).toContain(`rule ${ours[0]?.ruleId}`);
      }
      expect(place.writes()).toEqual(isTold ? ["create", "delete"] : ["create"]);
      const left = isTold ? [] : ours;
      expect(all(place)).toMatchObject([left, [{ rule: { name: "rule-1" } }]]);
      await stack.isUnchanged();
      await stack.succeeds("destroy");
      expect(all(place)).toEqual([left, []]);
    },
  );

  test("9. a double that stands before ours in the list is unmanaged, and no rule of the stack is", async () => {
    const { place, stack } = await openStack(engine, { contract: marking, allowDuplicates: true });
    const said = ({ output }: CommandResult) => output.split("\n").filter((line) => line.includes("not in the set"));
    const set = { rules: { a: rule(1), b: rule(2) }, onUnmanaged: "warn" } as const;
    const declared = { all: set, single: { definition: rule(3) } };
    const runs = [await stack.up(declared), await stack.succeeds("refresh"), await stack.up(declared)];
    expect(runs.flatMap(said)).toEqual([]);
    const { ruleId, rule: ours } = place.named("rule-1");
    const managed = place.ids();
    place.service.remove(ruleId);
    const double = place.service.put(undefined, rule(1, { priority: 70 }));
    place.service.put(ruleId, ours);
    const lines = said(await stack.succeeds("refresh")).join();
    expect([double, ...managed].filter((id) => lines.includes(id))).toEqual([double]);
  });

  test("9. a connection that is used no more names no rule that another connection's resource has", async () => {
    const { place, stack } = await withSecond(engine, marking, spelt);
    await stack.up({ a: { definition: rule(1) }, b: { definition: rule(2) } });
    await forget(engine, stack, "b");
    const { output } = await stack.up({ a: { definition: rule(1), connection: "second" } });
    const left = [...output.matchAll(/left at the service with the mark of this stack.*: (.*?)\. .*/g)];
    expect(new Set(left.map(([, ids]) => ids)), output).toEqual(new Set([place.idOf("rule-2")]));
    expect(left.join()).not.toMatch(/delete/i);
    expect(place.writes()).toEqual(["create", "create"]);
  });

  test.each([true, false])("14. a rule that is taken again keeps its fields (merged: %s)", async (isMerged) => {
    const update = { ...contracts.update, body: isMerged ? "merged" : "declared" } as const;
    const contract = contractOf({ rule: { owner }, operations: { update } });
    const { place, stack } = await openStack(engine, { contract });
    await stack.up({ a: { definition: rule(1) } });
    const known = stack.known();
    place.edit("rule-1", { note: "by hand" });
    await forget(engine, stack, "a");
    await stack.up({ a: { definition: rule(1) } });
    expect(place.writes()).toEqual(["create"]);
    expect(stack.known()).toEqual(known);
    const changed = rule(1, { priority: 50 });
    if (!isMerged) await stack.upFails({ a: { definition: changed } }, {}, /note/, /declare these fields/);
    expect(place.writes()).toEqual([]);
    await stack.up({ a: { definition: isMerged ? changed : { ...changed, note: "by hand" } } });
    expect(place.writes()).toEqual(["update"]);
    expect(place.named("rule-1").rule).toMatchObject({ priority: 50, note: "by hand" });
  });
});
