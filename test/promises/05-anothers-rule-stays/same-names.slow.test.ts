import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { marking } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { wordIn } from "../../support/stack/model-stack.ts";
import { openPlace, unmarked } from "../../support/stack/place.ts";

const three = { a: { definition: rule(1) }, b: { definition: rule(2) }, c: { definition: rule(3) } };
const other = { ...three, a: { definition: rule(1, { priority: 50 }) } };

onBothEngines((engine) => {
  test("a stack of the same names in another backend changes, takes over and deletes none of the first one's rules", async () => {
    const place = await openPlace({ contract: marking });
    const { service } = place;
    const first = await place.stack(engine);
    await first.up(three);
    const before = service.rules();
    const ids = before.map(({ ruleId }) => new RegExp(ruleId));
    place.writes();

    const second = await place.stack(engine);
    const named = /3 rules have the mark of another stack with this name \(lifecycle\/test\)/;
    await second.upFails(other, {}, named, ...ids, /MERCHANT_RULES_RECOVER=/);
    expect(place.writes()).toEqual([]);
    expect(service.rules()).toEqual(before);
    await second.succeeds("destroy");
    expect(place.writes()).toEqual([]);
    expect(service.rules()).toEqual(before);

    await first.up(other);
    expect(unmarked(service.rules()).find(({ ruleId }) => ruleId === place.idOf("rule-1"))?.rule.priority).toBe(50);
  });

  test("a stack that was renamed keeps its rules by one run that names what it was; a new stack of its old name gets none", async () => {
    const place = await openPlace({ contract: marking });
    const { service } = place;
    const first = await place.stack(engine);
    await first.up(three);
    const before = service.rules();
    await first.rename("prod");
    place.front.taken();
    await first.fails("preview", {}, /formerNames|FORMER_NAMES/, /lifecycle\/test/);
    await first.succeeds("up", { environment: { MERCHANT_RULES_FORMER_NAMES: "lifecycle/test" } });
    expect(place.writes()).toEqual([]);
    await first.isUnchanged();

    const second = await place.stack(engine);
    await second.upFails(other, {}, /MERCHANT_RULES_RECOVER=/);
    expect(place.writes()).toEqual([]);
    expect(service.rules()).toEqual(before);
    await first.succeeds("destroy");
    expect(service.rules()).toEqual([]);
  });
});

test("with recover, a stack of the same names takes over its rules, says each, and changes what differs in the next run", async () => {
  const place = await openPlace({ contract: marking });
  const { service } = place;
  const first = await place.stack("local");
  await first.up(three);
  const before = service.rules();
  place.writes();
  const second = await place.stack("local");
  const { output: text } = await second.upFails(other, {}, /3 rules have the mark/);
  const recover = { environment: wordIn({ text }, "RECOVER") };
  await second.upFails(other, recover, ...["rule-1", "rule-2", "rule-3"].map((name) => new RegExp(place.idOf(name))));
  expect(place.writes()).toEqual(["update", "update"]);
  expect(unmarked(service.rules())).toEqual(unmarked(before));
  expect(service.rules().find(({ ruleId }) => ruleId === place.idOf("rule-1"))).toEqual(
    before.find(({ rule: { name } }) => name === "rule-1"),
  );
  await second.up(other);
  expect(place.writes()).toEqual(["update"]);
  expect(place.named("rule-1").rule.priority).toBe(50);
});
