import { describe, expect, test } from "vitest";
import { unknownValue } from "../../../provider/host/wire.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { openHost, openWorld } from "../../support/stack/hooks.ts";

const seed: ContractInput = { version: 1 };
const immutable = contractOf({ rule: { immutable: ["/name", "/conditions"] } });
const contracts: [string, ContractInput][] = [
  ["the bare contract of the specification", seed],
  ["a full contract", contractOf()],
  ["a contract with immutable fields", immutable],
  ["a contract without update", contractOf({ operations: { update: null } })],
];

describe.each(contracts)("a preview under %s", (_case, contract) => {
  const undecided = { changes: "unknown", replaces: [], deleteBeforeReplace: false };
  const single = { definition: rule(1), ruleId: "1" };
  const set = { rules: { a: rule(1), b: rule(2) }, ruleIds: { a: "1", b: "2" } };

  test("says of what is wholly unknown that it may change: no replacement, no error, no request", async () => {
    const world = await openWorld({ contract });
    const host = await world.host();
    const ofSet = host.as("merchantRuleSet");
    expect(await host.diff("1", single, { definition: unknownValue })).toEqual(undecided);
    expect(await ofSet.diff("set-1", set, { rules: unknownValue })).toEqual(undecided);
    const one: JsonObject = { rules: { a: unknownValue, b: rule(2) } };
    expect(await ofSet.diff("set-1", set, one)).toEqual(undecided);
    expect(await ofSet.diff("set-1", set, { rules: { ...set.rules, c: unknownValue } })).toEqual(undecided);
    expect(await ofSet.diff("set-1", set, { rules: { a: unknownValue, b: unknownValue } })).toEqual(undecided);
    for (const news of [{ rules: unknownValue }, one]) expect((await ofSet.check(news)).failures).toEqual([]);
    expect((await host.check({ definition: unknownValue })).failures).toEqual([]);
    expect(world.service.requests).toEqual([]);
  });
});

describe("what a preview says", () => {
  test("a declared null is a change, although the engine takes null for absent", async () => {
    const { host } = await openHost();
    const olds = { definition: rule(1), ruleId: "1" };
    expect(await host.diff("1", olds, { definition: rule(1, { note: null }) })).toMatchObject({ changes: "some" });
    expect(await host.diff("1", olds, { definition: rule(1, { note: null, priority: 2 }) })).toMatchObject({
      changes: "unknown",
    });
  });

  test("a service that drops nulls is as declared", async () => {
    const { host, served, another } = await openHost();
    const { id, outs } = await host.create({ definition: rule(1, { note: null }) });
    served.service.put(id, rule(1));
    const seen = await (await another()).read(id, outs);
    expect(seen.inputs.definition).toEqual(rule(1, { note: null }));
  });

  test("nothing is refused for a value that is not known yet", async () => {
    const { host } = await openHost({ version: 1 });
    const olds = { definition: rule(1), ruleId: "1" };
    expect(await host.diff("1", olds, { definition: rule(1, { priority: unknownValue }) })).toMatchObject({
      changes: "unknown",
    });
  });
});
