import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, marking, owner, update } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openPlace, openStack, othersMark, unmarked } from "../../support/stack/place.ts";

/** The declared part of a rule that has a condition and a ticket besides. */
const { conditions, ...declared } = rule(1);
const live = { ...rule(1), metadata: { ticket: "PAY-7" } };

/** Of a service that does not take the rest of a rule back. */
const declaring = contractOf({ rule: { owner }, operations: { update: { ...update, body: "declared" } } });

describe("a rule with fields that the program does not declare", () => {
  test("keeps them when it is taken over, and when a change would erase them; declared, they are changed as any other", async () => {
    const place = await openPlace({ contract: declaring });
    const { service } = place;
    const ruleId = service.put(undefined, live);
    const stack = await place.stack("local");
    await stack.up({ a: { definition: declared, adopt: true } });
    expect(place.writes()).toEqual([]);
    expect(service.rules()).toEqual([{ ruleId, rule: live }]);
    await stack.isUnchanged();

    const changed = { ...declared, priority: 5 };
    await stack.upFails({ a: { definition: changed, adopt: true } }, {}, /conditions/, /metadata\.ticket/);
    expect(place.writes()).toEqual([]);
    expect(service.rules()).toEqual([{ ruleId, rule: live }]);

    const whole = { ...changed, conditions: conditions ?? [], metadata: { ticket: "PAY-7" } };
    await stack.up({ a: { definition: whole, adopt: true } });
    expect(place.writes()).toEqual(["update"]);
    expect(unmarked(service.rules())).toEqual([{ ruleId, rule: whole }]);
  });

  test("is not taken from another owner by a write that would erase them", async () => {
    const place = await openPlace({ contract: declaring });
    const { service } = place;
    const theirs = { ...rule(1), metadata: { ticket: "PAY-7", managedBy: othersMark } };
    const ruleId = service.put(undefined, theirs);
    const stack = await place.stack("local");
    await stack.upFails({ a: { definition: declared, adopt: ruleId } }, {}, /conditions/, /metadata\.ticket/);
    expect(place.writes()).toEqual([]);
    expect(service.rules()).toEqual([{ ruleId, rule: theirs }]);
    expect(stack.known()).toEqual({});
  });
});

describe("a rule with another owner's mark", () => {
  test("is marked at once when it is taken over, so that its old owner leaves it alone", async () => {
    const place = await openPlace({ contract: marking });
    const { service } = place;
    const ruleId = service.put(undefined, { ...rule(1), metadata: { managedBy: othersMark } });
    const stack = await place.stack("local");
    await stack.up({ a: { definition: rule(1), adopt: ruleId } });
    expect(place.writes()).toEqual(["update"]);
    expect(service.rules()).toMatchObject([
      { ruleId, rule: { metadata: { managedBy: expect.stringMatching(/lifecycle\/test\/a$/) } } },
    ]);
    expect(unmarked(service.rules())).toEqual([{ ruleId, rule: rule(1) }]);
  });

  test("is changed no more, though the state knows it, until adopt names it", async () => {
    const { place, stack } = await openStack("local", { contract: marking });
    const { service } = place;
    await stack.up({ a: { definition: rule(1) }, b: { definition: rule(2) } });
    const ruleId = place.idOf("rule-1");
    const taken = { ...rule(1), metadata: { managedBy: othersMark } };
    service.put(ruleId, taken);
    place.writes();
    const changed = { a: { definition: rule(1, { priority: 50 }) }, b: { definition: rule(2) } };
    await stack.upFails(changed, {}, /adopt/, new RegExp(ruleId));
    expect(place.writes()).toEqual([]);
    expect(service.rules()).toContainEqual({ ruleId, rule: taken });
    await stack.up({ ...changed, a: { ...changed.a, adopt: ruleId } });
    expect(place.writes()).toEqual(["update"]);
    expect(unmarked(service.rules())).toContainEqual({ ruleId, rule: rule(1, { priority: 50 }) });
  });
});

test("a copy that somebody made in a dashboard, mark and all, is not overwritten when it is declared, until adopt names it", async () => {
  const { place, stack } = await openStack("local", { contract: marking });
  const { service } = place;
  await stack.up({ a: { definition: rule(1) } });
  const [original] = service.rules();
  const copy = { ...original?.rule, name: "rule-1 copy", priority: 50 };
  const ruleId = service.put(undefined, copy);
  const declaredCopy = rule(1, { name: "rule-1 copy", priority: 5 });
  place.writes();
  await stack.upFails({ a: { definition: rule(1) }, b: { definition: declaredCopy } }, {}, new RegExp(ruleId), /adopt/);
  expect(place.writes()).toEqual([]);
  expect(service.rules()).toEqual([original, { ruleId, rule: copy }]);
  await stack.up({ a: { definition: rule(1) }, b: { definition: declaredCopy, adopt: ruleId } });
  expect(place.writes()).toEqual(["update"]);
  expect(service.rules()[0]).toEqual(original);
  expect(unmarked(service.rules())[1]).toEqual({ ruleId, rule: declaredCopy });
});

test("what people wrote where the mark goes is nobody's mark, and is not erased without a word", async () => {
  const place = await openPlace({
    contract: { ...declaring, rule: { ...declaring.rule, owner: { at: "/createdBy" } } },
  });
  const { service } = place;
  const byAlice = { ...rule(1), createdBy: "alice" };
  const ruleId = service.put(undefined, byAlice);
  const stack = await place.stack("local");
  await stack.up({ a: { definition: rule(1), adopt: true } });
  expect(place.writes()).toEqual([]);
  expect(service.rules()).toEqual([{ ruleId, rule: byAlice }]);
  await stack.upFails({ a: { definition: rule(1, { priority: 5 }), adopt: ruleId } }, {}, /createdBy/);
  expect(place.writes()).toEqual([]);
  expect(service.rules()).toEqual([{ ruleId, rule: byAlice }]);
});

test.each<[string, string, JsonObject[], RegExp]>([
  [
    "a text, null or an array",
    "/metadata/managedBy",
    [{ metadata: "seen by Alice" }, { metadata: null }, { metadata: ["checked"] }],
    /metadata/,
  ],
  ["an array of objects", "/actions/0/managedBy", [{}], /actions/],
])("a preview refuses each rule that declares %s where its mark stands below", async (_case, at, changes, says) => {
  const { place, stack } = await openStack("local", { contract: contractOf({ rule: { owner: { at } } }) });
  const rules = changes.map((change, k) => [`rule-${k}`, { definition: rule(k, change) }] as const);
  stack.declare(Object.fromEntries(rules));
  const { output } = await stack.fails("preview", {}, /rule\.owner/, says);
  for (const [name] of rules) expect(output).toMatch(new RegExp(`error: .*MerchantRule ${name}:`));
  expect(place.front.taken()).toEqual([]);
});

onBothEngines((engine) => {
  test("rules that go from one set to several get the marks of those alone, and none is lost", async () => {
    const { place, stack } = await openStack(engine, { contract: marking });
    const { service } = place;
    const rules = Object.fromEntries([1, 2, 3, 4, 5, 6].map((k) => [`r${k}`, rule(k)]));
    await stack.up({ all: { rules } });
    const before = unmarked(service.rules());
    expect(before).toHaveLength(6);
    place.writes();
    const [first, second] = [Object.entries(rules).slice(0, 2), Object.entries(rules).slice(2)];
    await stack.up({ first: { rules: Object.fromEntries(first) }, second: { rules: Object.fromEntries(second) } });
    expect(new Set(place.writes())).toEqual(new Set(["update"]));
    expect(unmarked(service.rules())).toEqual(before);
    await stack.succeeds("destroy");
    expect(service.rules()).toEqual([]);
  });
});
