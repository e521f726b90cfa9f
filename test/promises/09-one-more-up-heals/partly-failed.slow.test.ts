import { expect, test } from "vitest";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openStack } from "../../support/stack/place.ts";

const rules = { a: rule(1), b: rule(2), c: rule(3) };
const dearer = Object.fromEntries(Object.entries(rules).map(([key, each]) => [key, { ...each, priority: 9 }]));

onBothEngines((engine) => {
  test.each<[string, JsonObject | undefined, Record<string, JsonObject>, RegExp]>([
    ["POST", undefined, rules, /1 to create, 2 unchanged/],
    ["PUT", rules, dearer, /1 to update, 2 unchanged/],
    ["DELETE", rules, { c: rules.c }, /1 to delete, 1 unchanged/],
  ])(
    "after one of a set's requests (%s) failed, a plain preview shows what is left, and the next run does that alone",
    async (verb, before, wanted, left) => {
      const { place, stack } = await openStack(engine);
      if (before !== undefined) await stack.up({ all: { rules } });
      let hits = 0;
      place.front.behave(({ method }, pass) => {
        if (method === verb) hits += 1;
        return method === verb && hits === 2 ? { status: 422, body: { error: { code: "NO", message: "no" } } } : pass();
      });
      const failed = await stack.upFails({ all: { rules: wanted } }, { diff: true }, /422/);
      place.front.behave();
      const preview = await stack.run("preview", { expectNoChanges: true, diff: true });
      expect(preview.code, preview.output).not.toBe(0);
      expect(preview.output).toMatch(left);
      for (const { output } of [failed, preview]) {
        expect(output).not.toMatch(/: (.+) => \1$/m);
        if (verb === "PUT") expect(output).toMatch(/priority: 2 => 9$/m);
      }
      place.writes();
      await stack.succeeds("up");
      expect(place.writes()).toHaveLength(1);
      await stack.isUnchanged();
      expect(place.service.rules().map((each) => each.rule.name)).toHaveLength(Object.keys(wanted).length);
    },
  );
});
