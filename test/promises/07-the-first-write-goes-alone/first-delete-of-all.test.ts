import { describe, expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { type Declared, onBothEngines } from "../../support/stack/engines.ts";
import { openStack } from "../../support/stack/place.ts";

const [a, b, c] = [rule(1), rule(2), rule(3)];
const off = (each: typeof a) => ({ ...each, isActive: false });

const changes: [string, Declared, Declared, string[]][] = [
  [
    "a set of which one rule goes and all others change",
    { all: { rules: { a, b, c } } },
    { all: { rules: { a: off(a), b: off(b) } } },
    ["rule-1", "rule-2"],
  ],
  [
    "a set of which one rule goes and another comes",
    { all: { rules: { a } } },
    { all: { rules: { b }, allowEmpty: true } as never },
    ["rule-2"],
  ],
];

onBothEngines((engine) => {
  describe.each(changes)("%s", (_, before, after, left) => {
    test("a delete that takes every rule of the merchant ends no run well: rules that this run wrote count, too", async () => {
      const { place, stack } = await openStack(engine);
      await stack.up(before);
      place.service.faults.set({ kind: "delete-all", times: "always" });
      stack.declare(after);
      const { code, output } = await stack.run("up");
      // Either the rules are there, or the run says that they are not.
      expect(code === 0 ? place.names() : left, output).toEqual(left);
    });
  });
});
