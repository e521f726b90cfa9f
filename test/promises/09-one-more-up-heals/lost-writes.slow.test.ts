import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";
import { MerchantRuleSet } from "../../../provider/index.ts";
import { isJsonObject, type JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, lagging, owner, update } from "../../support/stack/contracts.ts";
import { type Declared, onBothEngines } from "../../support/stack/engines.ts";
import { lost, strangePage } from "../../support/stack/front.ts";
import { openPlace, openStack, type Place, unmarked } from "../../support/stack/place.ts";

/** Few attempts, so that a run that gets no answers ends soon. */
const contract = contractOf({ limits: { maxAttempts: 2 } });
const limits = { maxAttempts: 1 };
const [a, b] = [rule(1), rule(2)];
const set = (rules: Record<string, JsonObject>): Declared => ({ all: { rules } });
const shapes: [string, (a: JsonObject, b: JsonObject) => Declared][] = [
  ["a set", (a, b) => set({ a, b })],
  ["resources of one rule", (a, b) => ({ a: { definition: a }, b: { definition: b } })],
];

onBothEngines((engine) => {
  describe.each(shapes)("of %s", (_, declared) => {
    test.each([["up"], ["up --refresh"]])(
      "an update that ADDED a field, whose answers were lost and that is taken back in the program, is taken back at the service by %s",
      async (verb) => {
        const { place, stack } = await openStack(engine, { contract });
        await stack.up(declared(a, b));
        place.front.behave(lost("PUT"));
        // The new field turns the rule off for all but one country.
        await stack.upFails(declared(a, { ...b, countries: ["XX"] }), {});
        expect(place.definitions()).toEqual([a, { ...b, countries: ["XX"] }]);
        place.front.behave();
        await stack.up(declared(a, b), { refresh: verb !== "up" });
        await stack.isUnchanged();
        expect(place.definitions()).toEqual([a, b]);
      },
    );
  });

  test.each(["merged", "declared"] as const)(
    "the same, where the rule goes to another set in the run that takes the field back (%s)",
    async (body) => {
      const contract = contractOf({ rule: { owner }, limits, operations: { update: { ...update, body } } });
      const { place, stack } = await openStack(engine, { contract });
      await stack.up({ one: { rules: { b } }, two: { rules: { a } } });
      place.front.behave(lost("PUT"));
      await stack.upFails({ one: { rules: { b: { ...b, countries: ["XX"] } } }, two: { rules: { a } } }, {});
      place.front.behave();
      stack.declare({ one: { rules: {}, allowEmpty: true } as never, two: { rules: { a, b } } });
      if (body === "merged") {
        // It is sent back: nobody declares it, and that is said.
        const { output } = await stack.succeeds("up");
        expect(output).toMatch(/has fields that the program does not declare, which stay: countries/);
        return;
      }
      // To take the rule over would erase what nobody declares: it is deleted, and made anew by the next run.
      await stack.fails("up", {}, /would delete fields of rule .*countries/);
      await stack.succeeds("up");
      await stack.isUnchanged();
      expect(unmarked(place.service.rules()).find((each) => each.rule.name === b.name)?.rule).toEqual(b);
    },
  );

  test("a create that was lost, is found by its mark by the next run, and is declared without a field of it by then is said to have that field still", async () => {
    const contract = contractOf({ ...lagging(null), rule: { owner }, limits });
    const { place, stack } = await openStack(engine, { contract });
    place.service.faults.set({ kind: "stale-list" });
    place.front.behave(lost("POST"));
    await stack.upFails({ all: { rules: { a: { ...a, countries: ["XX"] } } } }, {}, /the rule may exist/);
    place.front.behave();
    place.service.faults.clear();
    stack.declare({ all: { rules: { a } } });
    const { output } = await stack.succeeds("up");
    expect(output).toMatch(/has fields that the program does not declare, which stay: countries/);
  });
});

test.each([["up"], ["up --refresh"]])(
  "a field that a lost update added within a list is taken back by %s",
  async (verb) => {
    const { place, stack } = await openStack("local", { contract: contractOf({ limits }) });
    await stack.up({ all: { rules: { a, b } } });
    place.front.behave(lost("PUT"));
    const conditions = [{ field: "amount", operator: "gt", value: 20, onlyIn: "XX" }];
    await stack.upFails({ all: { rules: { a, b: { ...b, conditions } } } }, {});
    place.front.behave();
    await stack.up({ all: { rules: { a, b } } }, { refresh: verb !== "up" });
    await stack.isUnchanged();
    expect(place.named(b.name).rule).toEqual(b);
  },
);

test("two lost updates that add different fields below one object are both taken back", async () => {
  const { place, stack } = await openStack("local", { contract: contractOf({ limits }) });
  const base = { ...b, scope: { base: 1 } };
  await stack.up({ all: { rules: { a, b: base } } });
  place.front.behave(lost("PUT"));
  await stack.upFails({ all: { rules: { a, b: { ...b, scope: { base: 1, x: "XX" } } } } }, {});
  place.front.behave(lost("PUT", { isDone: false }));
  await stack.upFails({ all: { rules: { a, b: { ...b, scope: { base: 1, y: "YY" } } } } }, {});
  place.front.behave();
  await stack.up({ all: { rules: { a, b: base } } });
  await stack.isUnchanged();
  expect(place.named(b.name).rule).toEqual(base);
});

test("after a lost update, reads that a page answers 404 make no second rule, while the list shows the rule", async () => {
  const { place, stack } = await openStack("local", { contract: contractOf({ limits }), allowDuplicates: true });
  await stack.up({ all: { rules: { a, b } } });
  place.front.behave(lost("PUT"));
  await stack.upFails({ all: { rules: { a, b: { ...b, priority: 9 } } } }, {});
  const id = place.idOf(b.name);
  place.front.behave(({ method, path }, pass) => (method === "GET" && path.endsWith(`/${id}`) ? strangePage : pass()));
  stack.declare({ all: { rules: { a, b } } });
  const { output } = await stack.run("up");
  expect(place.names(), output).toEqual([a.name, b.name]);
});

test("after a lost delete, reads that a page answers 404 do not make the state forget the rule, while the list shows it", async () => {
  const { place, stack } = await openStack("local", { contract: contractOf({ limits }), allowDuplicates: true });
  await stack.up({ all: { rules: { a, b } } });
  place.front.behave(lost("DELETE", { status: 502, isDone: false }));
  await stack.upFails({ all: { rules: { a } } }, {});
  const id = place.idOf(b.name);
  place.front.behave(({ method, path }, pass) => (method === "GET" && path.endsWith(`/${id}`) ? strangePage : pass()));
  stack.declare({ all: { rules: { a } } });
  const { output } = await stack.run("up");
  place.front.behave();
  await stack.run("up");
  expect(place.names(), output).toEqual([a.name]);
});

test("a secret that a lost write added does not enter the state of another set in plain", async () => {
  const place = await openPlace({ contract: contractOf({ rule: { owner }, limits }) });
  let step = 0;
  const stack = await place.stack("local", {
    program: () => {
      const own = step === 0 ? b : { ...b, token: pulumi.secret("s3cret-hook-key") };
      new MerchantRuleSet("one", { rules: step < 2 ? { b: own } : {}, allowEmpty: true });
      new MerchantRuleSet("two", { rules: step < 2 ? { a } : { a, b } });
    },
  });
  await stack.succeeds("up");
  place.front.behave(lost("PUT"));
  step = 1;
  await stack.fails("up", {});
  place.front.behave();
  expect(stack.project.state()).not.toContain("s3cret-hook-key");
  step = 2;
  const { output } = await stack.run("up");
  expect(stack.project.state(), output).not.toContain("s3cret-hook-key");
  const preview = await stack.run("preview");
  expect(preview.output).not.toContain("s3cret-hook-key");
});

onBothEngines((engine) => {
  describe.each(shapes)("of %s", (_, declared) => {
    test.each(["POST", "PUT"])(
      "what a %s made of a rule, and could not be read after it, is looked at by the next run: it does not say that all is as declared",
      async (write) => {
        const { place, stack } = await openStack(engine, { contract, answers: "id" });
        if (write === "PUT") await stack.up(declared(a, b));
        const changed = { ...a, priority: 7 };
        let isWritten = false;
        place.front.behave(({ method, body }, pass) => {
          // The service loses a field of every rule that it is sent, and answers with the id alone.
          if (method === write) {
            isWritten = true;
            const { actions: _lost, ...others } = isJsonObject(body) ? body : {};
            return pass({ body: { ...others, note: "no actions" } });
          }
          return isWritten && method === "GET" ? { status: 502, body: {} } : pass();
        });
        await stack.upFails(declared(changed, b), {});
        place.front.behave();
        const next = await stack.run("up");
        const isHealed = place.service.rules().every(({ rule: live }) => Object.hasOwn(live, "actions"));
        // One more `up` heals, or says what is wrong.
        expect({ isHealed, isSaid: next.code !== 0 }, next.output).not.toEqual({ isHealed: false, isSaid: false });
      },
    );
  });
});

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
  place.front.behave();
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
      place.front.behave();
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
      place.front.behave();
      stack.declare(both);
      await stack.succeeds("up", { refresh: true });
      expect(place.names()).toEqual([a.name, b.name]);
      await stack.isUnchanged();
    });
  });

  test("an update whose answers are lost and that is taken back in the program is taken back at the service", async () => {
    const { place, stack } = await openStack(engine, { contract });
    await stack.up(set({ a, b }));
    place.front.behave(lost("PUT"));
    await stack.upFails(set({ a, b: { ...b, isActive: false } }), {}, /1 of 2 rules failed/);
    expect(place.definitions().map(({ isActive }) => isActive)).toEqual([true, false]);
    place.front.behave();
    await stack.up(set({ a, b }));
    expect(place.definitions().map(({ isActive }) => isActive)).toEqual([true, true]);
    await stack.isUnchanged();
  });
});
