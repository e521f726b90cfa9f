import { describe, expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf, list, owner } from "../../support/stack/contracts.ts";
import { type Declared, onBothEngines } from "../../support/stack/engines.ts";
import { openStack, type Place, unmarked } from "../../support/stack/place.ts";

const contract = contractOf({ limits: { maxAttempts: 2 } });
const [a, b] = [rule(1), rule(2)];
const shapes: [string, (b: typeof a) => Declared][] = [
  ["a set", (b) => ({ all: { rules: { a, b } } })],
  ["a resource of one rule", (b) => ({ a: { definition: a }, b: { definition: b } })],
];

const rulesOf = ({ service }: Place): unknown[] =>
  service
    .rules()
    .map((each) => each.rule)
    .toSorted((one, other) => Number(one.priority) - Number(other.priority));

onBothEngines((engine) => {
  describe.each(shapes)("of %s", (_, declared) => {
    test.each([["up"], ["up --refresh"]])(
      "an update that ADDED a field, whose answers were lost and that is taken back in the program, is taken back at the service by %s",
      async (verb) => {
        const { place, stack } = await openStack(engine, { contract });
        await stack.up(declared(b));
        place.front.behave(async ({ method }, pass) => {
          const answer = await pass();
          return method === "PUT" ? { status: 504, body: {} } : answer;
        });
        // The new field turns the rule off for all but one country.
        await stack.upFails(declared({ ...b, countries: ["XX"] }), {});
        expect(rulesOf(place)).toEqual([a, { ...b, countries: ["XX"] }]);
        place.front.behave();
        await stack.up(declared(b), verb === "up" ? {} : { refresh: true });
        await stack.isUnchanged();
        expect(rulesOf(place)).toEqual([a, b]);
      },
    );
  });
});

onBothEngines((engine) => {
  const limits = { maxAttempts: 1 };

  test("the same, where the rule goes to another set in the run that takes the field back", async () => {
    const { place, stack } = await openStack(engine, { contract: contractOf({ rule: { owner }, limits }) });
    await stack.up({ one: { rules: { b } }, two: { rules: { a } } });
    place.front.behave(async ({ method }, pass) => {
      const answer = await pass();
      return method === "PUT" ? { status: 504, body: {} } : answer;
    });
    await stack.upFails({ one: { rules: { b: { ...b, countries: ["XX"] } } }, two: { rules: { a } } }, {});
    place.front.behave();
    stack.declare({ one: { rules: {}, allowEmpty: true } as never, two: { rules: { a, b } } });
    // A move with a change takes two runs.
    await stack.fails("up", {}, /differs at countries/);
    await stack.succeeds("up");
    await stack.isUnchanged();
    expect(unmarked(place.service.rules()).find((each) => each.rule.name === b.name)?.rule).toEqual(b);
  });

  test("a create that was lost, is found by its mark by the next run, and is declared without a field of it by then is said to have that field still", async () => {
    const contract = contractOf({ operations: { list: { ...list, lagMs: null } }, rule: { owner }, limits });
    const { place, stack } = await openStack(engine, { contract });
    place.service.faults.set({ kind: "stale-list" });
    place.front.behave(async ({ method }, pass) => {
      const answer = await pass();
      return method === "POST" ? { status: 504, body: {} } : answer;
    });
    await stack.upFails({ all: { rules: { a: { ...a, countries: ["XX"] } } } }, {}, /the rule may exist/);
    place.front.behave();
    place.service.faults.clear();
    stack.declare({ all: { rules: { a } } });
    const { output } = await stack.succeeds("up");
    expect(output).toMatch(/has fields that the program does not declare, which stay: countries/);
  });
});
