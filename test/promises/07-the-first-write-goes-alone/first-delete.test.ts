import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
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
  await stack.upFails({ a: three.a }, {}, /operations\.delete/, /acceptAllGone|ACCEPT_ALL_GONE/);
  place.service.faults.clear();
  await stack.succeeds("up", { refresh: true, environment: { MERCHANT_RULES_ACCEPT_ALL_GONE: "true" } });
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
  const list = { path: "/api/v1/merchants/rules", items: "/rules", lagMs: 300 };
  const { place, stack } = await openStack("local", { contract: contractOf({ operations: { list } }) });
  await stack.up(three);
  place.service.faults.set({ kind: "stale-list", lagMs: 250 });
  await stack.up({ a: three.a, b: { definition: rule(2, { priority: 50 }) } });
  expect(
    place.service
      .rules()
      .map((each) => each.rule)
      .sort((one, other) => Number(one.priority) - Number(other.priority)),
  ).toEqual([rule(1), rule(2, { priority: 50 })]);
});
