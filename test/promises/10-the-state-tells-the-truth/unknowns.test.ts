import { describe, expect, test } from "vitest";
import { unknownValue } from "../../../provider/host/wire.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { openWorld } from "../../support/stack/hooks.ts";

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
