import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { type Declared, onBothEngines } from "../../support/stack/engines.ts";
import { openStack } from "../../support/stack/place.ts";

const single: Declared = { a: { definition: rule(1) }, b: { definition: rule(2) } };
const changedSingle: Declared = { a: { definition: rule(1, { priority: 7 }) }, b: { definition: rule(2) } };
const set: Declared = { all: { rules: { a: rule(1), b: rule(2) } } };
const changedSet: Declared = { all: { rules: { a: rule(1, { priority: 7 }), b: rule(2) } } };

/** The advice where all rules are gone: the variable, and the command of that one run. */
const advised = /(?:really|all) deleted at the service, set (\w+)=true for one run of `pulumi up (--refresh)`/;

onBothEngines((engine) => {
  test.each([
    ["rules", single, changedSingle],
    ["a set", set, changedSet],
  ])(
    "after all was deleted at the service, what an up of %s advises makes all of it anew, once",
    async (_, declared, changed) => {
      const { place, stack } = await openStack(engine);
      await stack.up(declared);
      for (const { ruleId } of place.service.rules()) place.service.remove(ruleId);
      place.writes();
      const { output } = await stack.upFails(changed, {}, advised);
      expect(place.writes()).toEqual([]);
      const [, variable = "", flag] = advised.exec(output.replaceAll(/\s+/g, " ")) ?? [];
      await stack.succeeds("up", { refresh: flag === "--refresh", environment: { [variable]: "true" } });
      expect(place.service.rules().map((each) => each.rule)).toEqual([rule(1, { priority: 7 }), rule(2)]);
      expect(place.writes()).toEqual(["create", "create"]);
      await stack.isUnchanged();
      await stack.succeeds("destroy");
      expect(place.service.rules()).toEqual([]);
    },
  );
});
