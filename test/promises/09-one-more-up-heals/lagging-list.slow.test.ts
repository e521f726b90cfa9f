import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, lagging, owner } from "../../support/stack/contracts.ts";
import { openPlace, openStack, type Place } from "../../support/stack/place.ts";

const [a, b, c, d] = [rule(1), rule(2), rule(3), rule(4)];
const off = (of: JsonObject): JsonObject => ({ ...of, isActive: false });
const activity = ({ service }: Place): Record<string, unknown> =>
  Object.fromEntries(service.rules().map(({ rule: { name, isActive } }) => [String(name), isActive]));

// The list is at most 2.5 s behind, as the contract says.
test.each([
  ["up, marks, lag 3 s", { owner }, false, 3000],
  ["up --refresh, marks, lag 3 s", { owner }, true, 3000],
  ["up --refresh, no marks, lag 3 s", {}, true, 3000],
  ["up, marks, lag unknown", { owner }, false, null],
  ["up, no marks, lag 3 s", {}, false, 3000],
])(
  "changes that are taken back a moment later are taken back at the service (%s)",
  async (_c, more, refresh, lagMs) => {
    const { place, stack } = await openStack("local", {
      contract: contractOf({ ...lagging(lagMs), rule: more }),
    });
    await stack.up({ all: { rules: { a, b, c } } });
    await sleep(2600);
    place.service.faults.set({ kind: "stale-list", lagMs: 2500 });
    // Where nobody knows the lag, nothing tells of other rules in time, and such a run ends with 1.
    const up = (rules: Record<string, JsonObject>, choice = {}) => {
      stack.declare({ all: { rules } });
      return lagMs === null ? stack.run("up", choice) : stack.succeeds("up", choice);
    };
    await up({ a: off(a), b: off(b), c });
    const { output } = await up({ a, b, c }, refresh ? { refresh: true } : {});
    await sleep(2600);
    if (lagMs === null) await up({ a, b, c });
    await stack.isUnchanged();
    expect(activity(place), output).toEqual({ "rule-1": true, "rule-2": true, "rule-3": true });
  },
  60_000,
);

test("a rule that a killed run made a moment ago is not made twice, though the list lags as the contract says", async () => {
  const contract = contractOf({ ...lagging(2000), rule: { owner } });
  const { place, stack } = await openStack("local", { contract, allowDuplicates: true });
  await stack.up({ all: { rules: { a, b } } });
  const mark = place.markOf(b.name);
  await stack.up({ all: { rules: { a } } });
  await sleep(2000);
  place.service.faults.set({ kind: "stale-list", lagMs: 1800 });
  place.putMarked(b, mark);
  stack.declare({ all: { rules: { a, b } } });
  const { output } = await stack.run("up");
  expect(place.names(), output).toEqual([a.name, b.name]);
});

test.each([["deleted"], ["changed"]])(
  "rules that another stack has adopted a moment ago are not %s, though the list lags as the contract says",
  async (what) => {
    const place = await openPlace({
      contract: contractOf({ ...lagging(3000), rule: { owner } }),
    });
    const [one, two] = [await place.stack("local"), await place.stack("local")];
    await one.up({ all: { rules: { a, b, c } } });
    await two.up({ own: { rules: { d } } });
    await sleep(2600);
    place.service.faults.set({ kind: "stale-list", lagMs: 2500 });
    await two.up({ own: { rules: { d, a, b }, adopt: { a: place.idOf(a.name), b: place.idOf(b.name) } } });
    one.declare({ all: { rules: what === "deleted" ? { c } : { a: off(a), b: off(b), c } } });
    const { output } = await one.run("up");
    expect(activity(place), output).toEqual({ "rule-1": true, "rule-2": true, "rule-3": true, "rule-4": true });
  },
  60_000,
);
