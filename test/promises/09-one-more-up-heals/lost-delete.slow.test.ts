import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { type Declared, onBothEngines } from "../../support/stack/engines.ts";
import { openStack, type Place } from "../../support/stack/place.ts";

/** Few attempts, so that a run that gets no answers ends soon. */
const contract = contractOf({ limits: { maxAttempts: 2 } });
const set = (rules: Record<string, JsonObject>): Declared => ({ all: { rules } });
const [a, b] = [rule(1), rule(2)];

const active = ({ service }: Place): unknown[] =>
  service
    .rules()
    .flatMap((each) => (each.rule.isActive === true ? [each.rule.name] : []))
    .toSorted();

/** Deletes are carried out, or not, and no answer arrives from the first of them on, but for those of GETs where they do. */
function loseDeletes({ front }: Place, { carriedOut, canRead }: { carriedOut: boolean; canRead: boolean }): void {
  let isLost = false;
  front.behave(async ({ method }, pass) => {
    if (method === "DELETE") {
      isLost = true;
      if (carriedOut) await pass();
      return { status: 504, body: {} };
    }
    return isLost && !canRead ? { status: 502, body: {} } : pass();
  });
}

test("a delete whose every answer is lost is told by one GET, and the run goes on", async () => {
  const { place, stack } = await openStack("local", { contract });
  await stack.up(set({ a, b }));
  loseDeletes(place, { carriedOut: true, canRead: true });
  await stack.up(set({ a }));
  place.front.behave((_, pass) => pass());
  expect(place.names()).toEqual([a.name]);
  await stack.isUnchanged();
  await stack.up(set({ a, b }));
  expect(place.names()).toEqual([a.name, b.name]);
});

onBothEngines((engine) => {
  describe.each([
    ["it was", true],
    ["it was not", false],
  ])("where nothing tells whether a delete was carried out, and %s", (_, carriedOut) => {
    test("the state says so: a rule of a set that is declared again is looked at, and is there once", async () => {
      const { place, stack } = await openStack(engine, { contract });
      await stack.up(set({ a, b }));
      loseDeletes(place, { carriedOut, canRead: false });
      await stack.upFails(set({ a }), {}, /the rule may be deleted/);
      place.front.behave((_request, pass) => pass());
      stack.declare(set({ a, b }));
      await stack.fails("preview", { expectNoChanges: true });
      await stack.up(set({ a, b }));
      expect(place.names()).toEqual([a.name, b.name]);
      await stack.isUnchanged();
    });

    test("a rule of its own is there once after what the error advises", async () => {
      const { place, stack } = await openStack(engine, { contract });
      const both = { a: { definition: a }, b: { definition: b } };
      await stack.up(both);
      loseDeletes(place, { carriedOut, canRead: false });
      await stack.upFails({ a: both.a }, {}, /the rule may be deleted.*run again.*`pulumi up --refresh`/s);
      place.front.behave((_request, pass) => pass());
      stack.declare(both);
      await stack.succeeds("up", { refresh: true });
      expect(place.names()).toEqual([a.name, b.name]);
      await stack.isUnchanged();
    });
  });

  test("an update whose answers are lost and that is taken back in the program is taken back at the service", async () => {
    const { place, stack } = await openStack(engine, { contract });
    await stack.up(set({ a, b }));
    place.front.behave(async ({ method }, pass) => {
      const answer = await pass();
      return method === "PUT" ? { status: 504, body: {} } : answer;
    });
    await stack.upFails(set({ a, b: { ...b, isActive: false } }), {}, /1 of 2 rules failed/);
    expect(active(place)).toEqual([a.name]);
    place.front.behave((_, pass) => pass());
    await stack.up(set({ a, b }));
    expect(active(place)).toEqual([a.name, b.name]);
    await stack.isUnchanged();
  });
});
