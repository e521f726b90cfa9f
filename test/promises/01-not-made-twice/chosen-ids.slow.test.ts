import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { isJsonObject, withoutValueAt } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, withoutList } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openPlace, openStack, type Place } from "../../support/stack/place.ts";

const identifyBy = { in: "body", name: "id" } as const;
/** Neither a list, nor a natural key, nor an idempotency key. */
const chosen = { ...withoutList, operations: { ...withoutList.operations, create: { identifyBy } } };
const path = "/api/v1/merchants/rules/{ruleId}";
const byPut: ContractInput = {
  ...withoutList,
  operations: {
    ...withoutList.operations,
    create: { method: "PUT", path, identifyBy: { in: "path" } },
    update: { path, success: [200, 201] },
  },
};
const set = (rules: Record<string, ReturnType<typeof rule>>) => ({ all: { rules } });
const both = set({ a: rule(1), b: rule(2) });
const ids = ({ service }: Place): string[] => service.rules().map(({ ruleId }) => ruleId);

onBothEngines((engine) => {
  test("a create that a gateway answered and the service carries out later is made once, and found by one GET", async () => {
    const { place, stack } = await openStack(engine, { contract: { ...chosen, limits: { maxAttempts: 2 } } });
    const late: Promise<unknown>[] = [];
    place.front.behave(({ method }, pass) => {
      if (method !== "POST") return pass();
      late.push(sleep(1500).then(() => pass()));
      return { status: 503, body: {} };
    });
    await stack.upFails(both, {}, /the rule may exist; a read does not show it/, /run again: the next run looks first/);
    place.front.behave((_, pass) => pass());
    await Promise.all(late);
    // Each attempt was carried out, and all but the first found the rule there.
    expect(place.names()).toEqual(["rule-1", "rule-2"]);
    place.writes();
    await stack.up(both);
    expect(place.writes()).toEqual([]);
    await stack.isUnchanged();
  });

  test("an answer that is lost is no failure: the second request finds the rule that the first has made", async () => {
    const { place, stack } = await openStack(engine, { contract: chosen });
    place.service.faults.set({ kind: "close", at: "after", operations: ["create"], times: 2 });
    const { output } = await stack.up(both);
    expect(output).not.toContain("taken over");
    expect(place.names()).toEqual(["rule-1", "rule-2"]);
    await stack.isUnchanged();
  });
});

describe("an id that the client chooses", () => {
  test("is kept by a replacement, which deletes first", async () => {
    const { place, stack } = await openStack("local", {
      contract: { ...chosen, rule: { ...chosen.rule, immutable: ["/priority"] } },
    });
    await stack.up(both);
    const before = ids(place).toSorted();
    await stack.up(set({ a: rule(1, { priority: 9 }), b: rule(2) }));
    expect(place.writes()).toEqual(["create", "create", "delete", "create"]);
    expect(ids(place).toSorted()).toEqual(before);
    await stack.isUnchanged();
  });

  test("is given to no rule that a delete carried out late would take", async () => {
    const { place, stack } = await openStack("local", {
      contract: { ...chosen, rule: { ...chosen.rule, immutable: ["/priority"] } },
    });
    await stack.up(both);
    const late: Promise<unknown>[] = [];
    place.front.behave(({ method }, pass) => {
      if (method !== "DELETE" || late.length > 0) return pass();
      late.push(sleep(1500).then(() => pass()));
      return { status: 504, body: {} };
    });
    const changed = set({ a: rule(1, { priority: 9 }), b: rule(2) });
    await stack.upFails(changed, {}, /carried out late, it would delete the new rule/, /What to do: run again/);
    await Promise.all(late);
    await stack.up(changed);
    expect(place.names()).toEqual(["rule-1", "rule-2"]);
    await stack.isUnchanged();
  });

  test("is the next one where another rule has it, and where a deleted row has", async () => {
    const gone = [{ at: "/state", is: ["deleted"] }];
    const { place, stack } = await openStack("local", { contract: { ...chosen, rule: { ...chosen.rule, gone } } });
    await stack.up(set({ a: rule(1) }));
    await stack.up(set({ b: rule(1) }));
    expect(place.writes()).toEqual(["create"]);
    await stack.up(set({ a: rule(3), b: rule(1) }));
    expect(place.names()).toEqual(["rule-1", "rule-3"]);
    await stack.up(set({ b: rule(1) }));
    await stack.up(set({ a: rule(4), b: rule(1) }));
    expect(place.names()).toEqual(["rule-1", "rule-4"]);
    expect(new Set(place.service.rows().map(({ ruleId }) => ruleId)).size).toBe(3);
    await stack.isUnchanged();
  });

  test("is never that of a rule that somebody changed meanwhile, until the program names it", async () => {
    const { place, stack } = await openStack("local", { contract: byPut });
    place.front.behave(async ({ method }, pass) => {
      const answer = await pass();
      return method === "PUT" ? { status: 403, body: {} } : answer;
    });
    await stack.upFails({ a: { definition: rule(1) } }, {}, /403/);
    place.front.behave((_, pass) => pass());
    const [ruleId] = ids(place);
    place.service.put(ruleId, rule(1, { priority: 77 }));
    place.writes();
    await stack.upFails(
      { a: { definition: rule(1) } },
      {},
      /differs at priority/,
      new RegExp(`add adopt: "${ruleId}"`),
    );
    expect(place.writes()).toEqual([]);
    await stack.up({ a: { definition: rule(1), adopt: ruleId ?? "" } });
    expect(place.service.rules()).toEqual([{ ruleId, rule: rule(1) }]);
  });

  test("that the service replaces by its own is said, and the rule stays in the state", async () => {
    const { place, stack } = await openStack("local", {
      contract: withoutList,
      spoken: JSON.parse(JSON.stringify(chosen)),
    });
    place.front.behave(({ method, body }, pass) => {
      if (method !== "POST") return pass();
      return pass({ body: isJsonObject(body) ? withoutValueAt(body, "/id") : undefined });
    });
    await stack.upFails({ a: { definition: rule(1) } }, {}, /in place of .*operations\.create\.identifyBy/);
    expect(Object.values(stack.known())).toEqual(ids(place));
    await stack.run("destroy");
    expect(place.service.rules()).toEqual([]);
  });

  test("is no field for a program to declare", async () => {
    const { place, stack } = await openStack("local", { contract: chosen });
    await stack.upFails({ a: { definition: rule(1, { id: "mine" }) } }, {}, /declares id, where the id stands/);
    expect(place.writes()).toEqual([]);
  });

  test("finds a rule beside those that a list and a natural key find", async () => {
    const contract = contractOf({ operations: { create: { identifyBy } }, rule: { naturalKey: "/name" } });
    const place = await openPlace({ contract });
    const [one, other] = [await place.stack("local"), await place.stack("local")];
    await one.up(both);
    await other.upFails(both, {}, /has the same natural key/);
    expect(place.names()).toEqual(["rule-1", "rule-2"]);
  });
});
