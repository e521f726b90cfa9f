import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, marking, otherToken, twoMerchants, withoutList } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openStack, type Place } from "../../support/stack/place.ts";

const declared = { a: { definition: rule(1) }, b: { definition: rule(2) } };
const changed = { ...declared, a: { definition: rule(1, { priority: 50 }) } };
const wrong = { environment: otherToken };

/** The rules of both merchants. */
function both({ service }: Place) {
  return { acme: service.of("acme").rules(), globex: service.of("globex").rules() };
}

onBothEngines((engine) => {
  test.each<[string, Parameters<typeof contractOf>[0], (k: number) => JsonObject, RegExp]>([
    ["equal names and other content", {}, (k) => rule(k, { priority: 100 + k }), /moved/i],
    [
      "no natural key, and some equal fields",
      { rule: { naturalKey: null } },
      (k) => rule(k, { priority: 100 + k, conditions: [] }),
      /moved/i,
    ],
    [
      "marks in the state, and the same rules without a mark",
      { rule: { owner: { at: "/managedBy" } } },
      rule,
      /moved/i,
    ],
    [
      "the same rules, where the contract can ask who it is",
      { auth: { identity: { path: "/me", at: "/account/id" } } },
      rule,
      /globex/,
    ],
  ])(
    "another merchant's rules of the same ids are neither changed nor deleted: %s",
    async (_case, contract, theirs, says) => {
      const { place, stack } = await openStack(engine, { ...twoMerchants, contract: contractOf(contract) });
      await stack.up(declared);
      for (const k of [1, 2]) place.service.of("globex").put(place.idOf(`rule-${k}`), theirs(k));
      const known = stack.known();
      const before = both(place);
      place.writes();
      await stack.upFails(changed, wrong, says);
      await stack.fails("destroy", wrong, says);
      expect(place.writes()).toEqual([]);
      expect(both(place)).toEqual(before);
      expect(stack.known()).toEqual(known);
    },
  );

  test.each([
    ["marks", marking],
    ["no marks", contractOf()],
  ])(
    "a run that only adds rules makes none at another merchant, and takes none over there, under a contract with %s",
    async (_case, contract) => {
      const { place, stack } = await openStack(engine, { ...twoMerchants, contract });
      await stack.up(declared);
      for (const k of [5, 6, 4]) place.service.of("globex").put(undefined, rule(k, { priority: 100 + k }));
      const known = stack.known();
      const before = both(place);
      place.writes();
      const more = { ...declared, c: { definition: rule(3) }, d: { definition: rule(4), adopt: true } } as const;
      await stack.upFails(more, wrong, /moved/i);
      expect(place.writes()).toEqual([]);
      expect(both(place)).toEqual(before);
      expect(stack.known()).toEqual(known);
    },
  );
});

describe.each([
  ["a list", contractOf()],
  ["no list", withoutList],
])("resources that are read one after another at another merchant, under a contract with %s", (_case, contract) => {
  test("all stay in the state, and none counts as gone", async () => {
    const { place, stack } = await openStack("local", { merchants: twoMerchants.merchants, contract });
    await stack.up(declared);
    place.service.of("globex").put(undefined, rule(9));
    const known = stack.known();
    const before = both(place);
    place.writes();
    const oneByOne = { ...wrong, parallel: 1 };
    await stack.fails("refresh", oneByOne, /MERCHANT_RULES_MOVED=/);
    expect(stack.known()).toEqual(known);
    await stack.fails("destroy", oneByOne, /MERCHANT_RULES_MOVED=/);
    expect(stack.known()).toEqual(known);
    expect(place.writes()).toEqual([]);
    expect(both(place)).toEqual(before);
  });
});
