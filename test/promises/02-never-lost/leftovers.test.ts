import { expect, test } from "vitest";
import { isJsonObject, type JsonObject, valueAt, withValueAt } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { marking, owner } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openStack, type Place } from "../../support/stack/place.ts";

const [a, b, c] = [rule(1), rule(2), rule(3)];

const marksOf = ({ service }: Place): string[] =>
  service
    .rules()
    .map((each) => String(valueAt(each.rule, owner.at)))
    .toSorted((one, two) => (keyIn(one) < keyIn(two) ? -1 : 1));
const keyIn = (mark: string): string => mark.split("#").at(-1) ?? "";

/** A rule as another run of the same stack makes it. */
function asAnotherRunMakes({ service }: Place, definition: JsonObject, mark: string): string {
  const made = withValueAt(definition, owner.at, mark);
  return service.put(undefined, isJsonObject(made) ? made : {});
}

onBothEngines((engine) => {
  test("rules with the mark of a set that no state knows are named, and the advice ends with each in a state or gone", async () => {
    const { place, stack } = await openStack(engine, { contract: marking, allowDuplicates: true });
    await stack.up({ all: { rules: { a, b, c } } });
    const [markOfA = "", , markOfC = ""] = marksOf(place);
    await stack.up({ all: { rules: { a, b } } });
    const double = asAnotherRunMakes(place, a, markOfA);
    const left = asAnotherRunMakes(place, c, markOfC);

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

    const last = asAnotherRunMakes(place, c, markOfC);
    const { output } = await stack.succeeds("destroy");
    expect(output).toContain(`1 rule is left at the service with the mark of this stack, but in no state: ${last}`);
    expect(place.service.rules().map(({ ruleId }) => ruleId)).toEqual([last]);
  });
});

test("a rule of its own that two runs made is named, too", async () => {
  const { place, stack } = await openStack("local", { contract: marking, allowDuplicates: true });
  await stack.up({ a: { definition: a } });
  const double = asAnotherRunMakes(place, a, marksOf(place)[0] ?? "");
  const { output } = await stack.succeeds("up", { refresh: true });
  expect(output).toContain(
    `rule ${double} has the mark of lifecycle/test/a, and no resource that this run has read so far`,
  );
});
