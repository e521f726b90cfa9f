import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openStack } from "../../support/stack/place.ts";

onBothEngines((engine) => {
  test("a rule that adopt names and that goes away meanwhile is not made beside another one of the same natural key", async () => {
    const { place, stack } = await openStack(engine, { allowDuplicates: true });
    const named = place.service.put(undefined, rule(1, { name: "old name" }));
    place.service.put(undefined, rule(1));
    place.front.behave(({ method, path }, pass) => {
      if (!path.includes(named) || method === "POST") return pass();
      place.service.remove(named);
      return pass();
    });
    stack.declare({ all: { rules: { a: rule(1) }, adopt: { a: named } } });
    const { output } = await stack.run("up");
    expect(
      place.service.rules().map((each) => each.rule.name),
      output,
    ).toEqual(["rule-1"]);
  });
});
