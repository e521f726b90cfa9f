import { expect, test } from "vitest";
import { rule } from "../../support/connections.ts";
import { onBothEngines, openPlace, type Place } from "../stacks.ts";
import { contractOf, list } from "../worlds/world.ts";

/** The list may be 20 s behind, as the contract says. */
const contract = contractOf({ operations: { list: { ...list, lagMs: 20_000 } }, limits: { maxAttempts: 2 } });
const [a, b] = [rule(1), rule(2)];
const active = ({ service }: Place): unknown[] =>
  service
    .rules()
    .flatMap((each) => (each.rule.isActive === true ? [each.rule.name] : []))
    .toSorted();

onBothEngines((engine) => {
  test.each([["up"], ["up --refresh"]])(
    "a doubt is not settled by a list that may be behind: a rule whose lost delete was carried out is made again by the next %s",
    async (verb) => {
      const place = await openPlace({ contract });
      const stack = await place.stack(engine);
      await stack.up({ all: { rules: { a, b } } });
      // The list of the service lags as the contract says; GETs of one rule are exact.
      place.service.faults.set({ kind: "stale-list", lagMs: 18_000 });
      let isLost = false;
      place.front.behave(async ({ method }, pass) => {
        if (method === "DELETE") {
          isLost = true;
          await pass();
          return { status: 504, body: {} };
        }
        return isLost ? { status: 502, body: {} } : pass();
      });
      await stack.upFails({ all: { rules: { a } } }, {}, /the rule may be deleted/);
      place.front.behave();
      await stack.up({ all: { rules: { a, b } } }, verb === "up" ? {} : { refresh: true });
      place.service.faults.clear();
      await stack.isUnchanged();
      expect(active(place)).toEqual([a.name, b.name]);
    },
    120_000,
  );

  test("a doubt is not settled by a list that may be behind: a lost update that was carried out and is taken back in the program is taken back at the service", async () => {
    const place = await openPlace({ contract });
    const stack = await place.stack(engine);
    await stack.up({ all: { rules: { a, b } } });
    place.service.faults.set({ kind: "stale-list", lagMs: 18_000 });
    place.front.behave(async ({ method }, pass) => {
      const answer = await pass();
      return method === "PUT" ? { status: 504, body: {} } : answer;
    });
    await stack.upFails({ all: { rules: { a, b: { ...b, isActive: false } } } }, {}, /1 of 2 rules failed/);
    place.front.behave();
    await stack.up({ all: { rules: { a, b } } });
    place.service.faults.clear();
    await stack.isUnchanged();
    expect(active(place)).toEqual([a.name, b.name]);
  }, 120_000);
});
