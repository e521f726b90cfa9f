import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { marking } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openStack } from "../../support/stack/place.ts";

const [a, b, c] = [rule(1), rule(2), rule(3)];

onBothEngines((engine) => {
  test("rules with the mark of a set that no state knows are named, and the advice ends with each in a state or gone", async () => {
    const { place, stack } = await openStack(engine, { contract: marking, allowDuplicates: true });
    await stack.up({ all: { rules: { a, b, c } } });
    const [markOfA, markOfC] = [place.markOf(a.name), place.markOf(c.name)];
    await stack.up({ all: { rules: { a, b } } });
    const double = place.putMarked(a, markOfA);
    const left = place.putMarked(c, markOfC);

    const refreshed = await stack.succeeds("up", { refresh: true });
    for (const [ruleId, key, what] of [
      [double, "a", "another rule with it is in the state"],
      [left, "c", "no resource that this run has read so far"],
    ])
      expect(refreshed.output).toMatch(
        new RegExp(`rule ${ruleId} has the mark of lifecycle/test/all#${key}, and ${what}`),
      );
    const changing = await stack.up({ all: { rules: { a, b: { ...b, isActive: false } } } });
    expect(changing.output).toContain(`rule ${left} has the mark of`);

    place.service.remove(double);
    await stack.up({ all: { rules: { a, b, c }, adopt: { c: left } } });
    expect(place.names()).toEqual([a.name, b.name, c.name]);
    const told = await stack.succeeds("up", { refresh: true });
    expect(told.output).not.toContain("has the mark of");
    await stack.isUnchanged();

    const last = place.putMarked(c, markOfC);
    const { output } = await stack.succeeds("destroy");
    expect(output).toContain(`1 rule is left at the service with the mark of this stack, but in no state: ${last}`);
    expect(place.service.rules().map(({ ruleId }) => ruleId)).toEqual([last]);
  });
});

test("a rule of its own that two runs made is named, too", async () => {
  const { place, stack } = await openStack("local", { contract: marking, allowDuplicates: true });
  await stack.up({ a: { definition: a } });
  const double = place.putMarked(a, place.markOf(a.name));
  const { output } = await stack.succeeds("up", { refresh: true });
  expect(output).toContain(
    `rule ${double} has the mark of lifecycle/test/a, and no resource that this run has read so far`,
  );
});
