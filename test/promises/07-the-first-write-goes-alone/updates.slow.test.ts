import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { openStack } from "../../support/stack/place.ts";

const withoutList = contractOf({ operations: { list: null }, rule: { immutable: ["/conditions"] } });

test.each([
  [
    "a set",
    { all: { rules: { a: rule(1), b: rule(2) } } },
    { all: { rules: { a: rule(1, { priority: 9 }), b: rule(2) } } },
  ],
  [
    "rules",
    { a: { definition: rule(1) }, b: { definition: rule(2) } },
    { a: { definition: rule(1, { priority: 9 }) }, b: { definition: rule(2) } },
  ],
])(
  "a page that answers the looks after the first update of %s is not taken for the rule: the next run ends as declared",
  async (_, declared, changed) => {
    for (const request of [2, 3]) {
      const { place, stack } = await openStack("local", { contract: withoutList });
      await stack.up(declared);
      place.service.faults.set({ kind: "other-shape", operations: ["get"], request, times: "always" });
      stack.declare(changed);
      await stack.run("up");
      place.service.faults.clear();
      await stack.succeeds("up");
      expect(place.service.rules().map((each) => each.rule)).toEqual([rule(1, { priority: 9 }), rule(2)]);
      await stack.isUnchanged();
    }
  },
);
