import { describe, expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf, lagging, withoutList } from "../../support/stack/contracts.ts";
import { type Declared, onBothEngines } from "../../support/stack/engines.ts";
import { openWorld, type World } from "../../support/stack/hooks.ts";
import { failureOf } from "../../support/stack/hosts.ts";
import { openPlace, openStack, type Place } from "../../support/stack/place.ts";

const three = { a: { definition: rule(1) }, b: { definition: rule(2) }, c: { definition: rule(3) } };

/** Rules that somebody else made. */
function putOthers({ service }: Place): void {
  for (const k of [11, 12]) service.put(undefined, rule(k));
}

test("a delete that takes everybody's rules is no success, though the stack has one rule alone", async () => {
  const { place, stack } = await openStack("local");
  putOthers(place);
  await stack.up({ a: three.a });
  place.service.faults.set({ kind: "delete-all", times: "always" });
  await stack.fails("destroy", {}, /operations\.delete/);
});

test("a rule that was gone already does not stand for the first delete", async () => {
  const { place, stack } = await openStack("local");
  putOthers(place);
  await stack.up(three);
  place.service.faults.set({ kind: "delete-all", times: "always" });
  let deletes = 0;
  place.front.behave(({ method, path }, pass) => {
    if (method !== "DELETE") return pass();
    deletes += 1;
    if (deletes > 1) return pass();
    // Somebody is quicker than the first one.
    place.service.remove(new URL(path, "http://service").searchParams.get("ruleId") ?? "");
    return { status: 404, body: { error: { code: "RULE_NOT_FOUND", message: "there is no such rule" } } };
  });
  await stack.fails("destroy", {}, /operations\.delete/);
  expect(deletes).toBe(2);
});

test("after a delete that took all, what the refusal advises brings back what is declared", async () => {
  const { place, stack } = await openStack("local");
  await stack.up(three);
  place.service.faults.set({ kind: "delete-all", times: "always" });
  await stack.upFails({ a: three.a }, {}, /operations\.delete/, /`pulumi up --refresh`/);
  place.service.faults.clear();
  await stack.succeeds("up", { refresh: true });
  expect(place.service.rules().map((each) => each.rule)).toEqual([rule(1)]);
});

onBothEngines((engine) => {
  test("a delete that is answered with success and does nothing ends the run after the first, and the state keeps the rules", async () => {
    const place = await openPlace();
    const { service } = place;
    const stack = await place.stack(engine);
    await stack.up(three);
    const before = service.rules();
    const leaving = [place.idOf("rule-2"), place.idOf("rule-3")].join("|");
    place.front.behave(({ method }, pass) => (method === "DELETE" ? { status: 200, body: {} } : pass()));
    place.writes();
    await stack.upFails({ a: three.a }, {}, new RegExp(leaving));
    expect(place.writes()).toEqual(["delete"]);
    expect(service.rules()).toEqual(before);
    place.front.behave();
    await stack.succeeds("up");
    expect(service.rules().map((each) => each.rule)).toEqual([rule(1)]);
  });
});

test("a list that lags as the contract says makes neither the first update nor the first delete a failure", async () => {
  const { place, stack } = await openStack("local", { contract: contractOf(lagging(300)) });
  await stack.up(three);
  place.service.faults.set({ kind: "stale-list", lagMs: 250 });
  await stack.up({ a: three.a, b: { definition: rule(2, { priority: 50 }) } });
  expect(place.definitions()).toEqual([rule(1), rule(2, { priority: 50 })]);
});

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

const rules = { a: rule(1), b: rule(2), c: rule(3), d: rule(4), e: rule(5) };
const contracts: [string, ReturnType<typeof contractOf>][] = [
  ["a list", contractOf()],
  ["no list", withoutList],
];

function expectStopped(world: World, message: string): void {
  expect(message).toMatch(/(is|are) gone by now/);
  expect(message).toContain("operations.delete.identifyBy");
  expect(world.service.requestCount("delete")).toBe(1);
}

describe.each(contracts)("a delete that takes all rules, under a contract with %s", (_case, contract) => {
  test("ends the destroy of a set after the first delete", async () => {
    const world = await openWorld({ contract });
    const { id, outs } = await (await world.host("merchantRuleSet")).create({ rules });
    world.service.faults.set({ kind: "delete-all", times: "always" });
    const { message } = await failureOf((await world.host("merchantRuleSet")).delete(id, outs));
    expectStopped(world, message);
  });

  test("ends a run that removes two rules of a set, and nothing else is written", async () => {
    const world = await openWorld({ contract });
    const { id, outs } = await (await world.host("merchantRuleSet")).create({ rules });
    world.service.faults.set({ kind: "delete-all", times: "always" });
    const { d: _, e: __, ...left } = rules;
    const failure = await failureOf((await world.host("merchantRuleSet")).update(id, outs, { rules: left }));
    expectStopped(world, failure.message);
    // What the advice says: `pulumi up --refresh`, once the contract is right.
    world.service.faults.clear();
    const host = await world.host("merchantRuleSet");
    const seen = await host.read(id, failure.partial?.properties ?? outs);
    await host.update(id, seen.props, { rules: left });
    expect(world.service.rules()).toHaveLength(3);
  });

  test("ends the destroy of five resources of one rule", async () => {
    const world = await openWorld({ contract });
    const first = await world.host();
    const made = await Promise.all(Object.values(rules).map((definition) => first.create({ definition })));
    world.service.faults.set({ kind: "delete-all", times: "always" });
    const host = await world.host();
    const ends = await Promise.allSettled(made.map(({ id, outs }) => host.delete(id, outs)));
    expect(world.service.requestCount("delete")).toBe(1);
    const messages = ends.flatMap((end) => (end.status === "rejected" ? [String(end.reason.message)] : []));
    expect(messages.length).toBeGreaterThan(0);
    for (const message of messages) expectStopped(world, message);
  });
});
