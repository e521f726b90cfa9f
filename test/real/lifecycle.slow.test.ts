import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../sdk/json/index.ts";
import type { Declared, Stack } from "../support/stack/engines.ts";
import { stub } from "./payments.ts";
import { atWireMock, type RealPlace } from "./place.ts";
import { contract } from "./wiremock.ts";

/** A rule that somebody made by hand, and that no run may touch. */
const others = stub(99, { name: "by hand" });
const total = 8;
const definitions = (changes: Record<string, JsonObject> = {}): Record<string, JsonObject> => ({
  ...Object.fromEntries(Array.from({ length: total }, (_, k) => [`r${k}`, stub(k)])),
  ...changes,
});

const asSet = (rules: Record<string, JsonObject>): Declared => ({ limits: { rules } });
const asSingles = (rules: Record<string, JsonObject>): Declared =>
  Object.fromEntries(Object.entries(rules).map(([name, definition]) => [name, { definition }]));

/** WireMock holds these and what was made by hand, each once, and those alone have a mark of this stack. */
async function expectExactly({ service }: RealPlace, declared: Record<string, JsonObject>): Promise<void> {
  const rules = await service.rules();
  const byName = (one: JsonObject, other: JsonObject): number => String(one.name).localeCompare(String(other.name));
  expect(rules.map(({ rule }) => rule)).toEqual([...Object.values(declared), others].sort(byName));
  for (const { rule, mark = "" } of rules)
    expect(mark, String(rule.name)).toMatch(rule.name === others.name ? /^$/ : / lifecycle\/test\//);
}

async function isInSync(stack: Stack): Promise<void> {
  await stack.isUnchanged();
  await stack.succeeds("refresh", { previewOnly: true, expectNoChanges: true });
}

atWireMock((engine, open) => {
  describe.each([
    ["a set", asSet],
    ["single rules", asSingles],
  ])("%s", (_form, declare) => {
    test("lives from the first rule to the last, marked as its own, and leaves what was made by hand alone", async () => {
      const place = await open();
      const stack = await place.stack(engine);
      await place.service.put(others);
      await stack.up(declare(definitions()));
      expect(place.writes()).toEqual(Array.from({ length: total }, () => "POST"));
      await expectExactly(place, definitions());
      await isInSync(stack);

      const changed = definitions({ r2: stub(2, { decision: "decline" }), r5: stub(5, { over: 5000 }) });
      await stack.up(declare(changed));
      expect(place.writes()).toEqual(["PUT", "PUT"]);
      await expectExactly(place, changed);
      await isInSync(stack);

      const { r0: _, r7: __, ...fewer } = changed;
      await stack.up(declare(fewer));
      expect(place.writes()).toEqual(["DELETE", "DELETE"]);
      await expectExactly(place, fewer);

      await stack.succeeds("destroy");
      expect(place.writes()).toEqual(Array.from({ length: total - 2 }, () => "DELETE"));
      await expectExactly(place, {});
    });

    test("shows what was changed and deleted by hand, and heals it", async () => {
      const place = await open();
      const stack = await place.stack(engine);
      await place.service.put(others);
      await stack.up(declare(definitions()));
      const rules = await place.service.rules();
      const idOf = (name: string): string => rules.find(({ rule }) => rule.name === name)?.ruleId ?? "";
      await place.service.put(stub(3, { decision: "allow" }), idOf("rule-3"));
      await place.service.remove(idOf("rule-6"));
      place.writes();

      const seen = await stack.run("refresh", { previewOnly: true, expectNoChanges: true });
      expect(seen.code, seen.output).not.toBe(0);
      expect(seen.output).toMatch(/r3/);
      expect(seen.output).toMatch(/r6/);
      expect(place.writes()).toEqual([]);
      await stack.succeeds("up", { refresh: true });
      expect(place.writes().sort()).toEqual(["POST", "PUT"]);
      await expectExactly(place, definitions());
    });
  });

  test("rules move from single rules into a set and back, each with the mark of its resource", async () => {
    const place = await open();
    const stack = await place.stack(engine);
    await place.service.put(others);
    await stack.up(asSingles(definitions()));
    const ids = new Set((await place.service.rules()).map(({ ruleId }) => ruleId));
    place.writes();
    await stack.up(asSet(definitions()));
    await stack.up(asSingles(definitions()));
    await isInSync(stack);
    expect(new Set(place.writes())).toEqual(new Set(["PUT"]));
    expect(new Set((await place.service.rules()).map(({ ruleId }) => ruleId))).toEqual(ids);
    await expectExactly(place, definitions());
  });

  test("a rule that another stack marked is refused by name, whatever it is declared as, until adopt names it", async () => {
    const place = await open();
    const [first, second] = [await place.stack(engine), await place.stack(engine)];
    await first.up(asSingles({ a: stub(1) }));
    place.writes();
    await second.upFails(asSingles({ a: stub(1) }), {}, /mark of this very resource/, /MERCHANT_RULES_RECOVER=/);
    expect(place.writes()).toEqual([]);
    const [{ ruleId } = { ruleId: "" }] = await place.service.rules();
    await second.up({ a: { definition: stub(1), adopt: ruleId } });
    expect(place.writes()).toEqual(["PUT"]);
    // It has another's mark by now: it is let go of.
    await first.succeeds("destroy");
    expect(place.writes()).toEqual([]);
    expect((await place.service.rules()).map((each) => each.ruleId)).toEqual([ruleId]);
  });

  test("a list that ends in an error, because rules went while it was read, takes no rule for gone", async () => {
    const place = await open();
    const stack = await place.stack(engine);
    await stack.up(asSet(definitions()));
    const before = stack.project.state();
    const all = await place.service.rules();
    let isFirst = true;
    place.front.behave(async ({ method, path }, pass) => {
      const answer = await pass();
      if (method !== "GET" || !path.includes("offset=0") || !isFirst) return answer;
      isFirst = false;
      for (const { ruleId } of all.slice(1)) await place.service.remove(ruleId);
      return answer;
    });
    expect(await place.service.statusOf("/__admin/mappings?limit=3&offset=9")).toBe(500);
    place.writes();
    await stack.fails("refresh", {}, /500/);
    expect(place.writes()).toEqual([]);
    expect(rulesIn(stack.project.state())).toEqual(rulesIn(before));
    place.front.behave();
    await stack.succeeds("up", { refresh: true });
    expect(place.writes()).toEqual(Array.from({ length: total - 1 }, () => "POST"));
  });

  test("a contract whose delete goes to the collection takes all rules once, and the run ends by saying so", async () => {
    const place = await open({
      ...contract,
      operations: {
        ...contract.operations,
        delete: { path: "/__admin/mappings", identifyBy: { in: "query", name: "ruleId" } },
      },
    });
    const stack = await place.stack(engine);
    await place.service.put(others);
    await stack.up(asSingles(definitions()));
    const { r0: _, r1: __, ...fewer } = definitions();
    place.writes();
    await stack.upFails(asSingles(fewer), {}, /are gone by now/, /operations\.delete/);
    expect(place.writes()).toEqual(["DELETE"]);
  });

  test("a wrong password is no empty service: nothing is taken for gone, and nothing is written", async () => {
    const place = await open();
    const stack = await place.stack(engine);
    await stack.up(asSet(definitions()));
    place.writes();
    const wrong = { MERCHANT_RULES_CLIENT_SECRET: "wrong" };
    await stack.fails("refresh", { environment: wrong }, /401/);
    await stack.upFails(asSet(definitions({ r1: stub(1, { over: 7 }) })), { environment: wrong }, /401/);
    await stack.up(asSet(definitions()));
    await isInSync(stack);
  });
});

/** The rules in a state. */
function rulesIn(state: string): unknown {
  return JSON.parse(state).checkpoint.latest.resources.map(({ id, outputs }: JsonObject) => ({ id, outputs }));
}
