import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { startWorld } from "../../../local/testing/index.ts";
import { MerchantRule } from "../../../provider/index.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, update } from "../../support/stack/contracts.ts";
import type { Declared } from "../../support/stack/engines.ts";
import { openStack } from "../../support/stack/place.ts";
import { variants } from "../../support/variants.ts";

type Update = NonNullable<NonNullable<ContractInput["operations"]>["update"]>;
const speaking = (
  how: Pick<Update, "method" | "body" | "removal">,
  others: ContractInput["operations"] = {},
  hidden: ContractInput["rule"] = {},
): ContractInput => contractOf({ operations: { update: { ...update, ...how }, ...others }, rule: hidden });
const patch = { method: "PATCH", body: "changes" } as const;
const shapes: Record<string, (definition: JsonObject) => Declared> = {
  "a single rule": (one) => ({ a: { definition: one } }),
  "a set": (one) => ({ all: { rules: { a: one } } }),
};

const deep = { token: "t", note: "n", limits: { day: 1, week: 2 }, labels: { by: "me" }, tags: [{ x: 1, y: 2 }] };
const less = { limits: { day: 1 }, tags: [{ x: 1 }] };

describe.each(
  variants(
    [
      [null, "changes", "PATCH"],
      [null, "merged", "PUT"],
      [null, "declared", "PUT"],
      ["omit", "merged", "PUT"],
      ["omit", "declared", "PUT"],
    ] as const,
    4,
  ).flatMap((each) =>
    variants(Object.keys(shapes), each[1] === "changes" ? 2 : 1).map((shape) => [...each, shape] as const),
  ),
)("where an update removes a field by %s, and sends what is %s by %s, of %s", (removal, body, method, shape) => {
  test("what is taken out of the program is gone at the service, at any depth, and nothing else is", async () => {
    const contract = speaking({ method, body, removal }, {}, { writeOnly: ["/token"] });
    const { place, stack } = await openStack("local", { contract });
    const declared = (changes: JsonObject): Declared => shapes[shape]?.(rule(1, changes)) ?? {};
    await stack.up(declared(deep));
    const isKept = body !== "declared";
    if (isKept) place.edit("rule-1", { limits: { day: 1, week: 2, year: 3 }, labels: { by: "me", of: "others" } });
    const [ruleId] = place.ids();
    stack.declare(declared(less));
    expect((await stack.succeeds("preview", { diff: true })).output).toMatch(/note/);
    place.writes();
    await stack.succeeds("up");
    expect(place.writes()).toEqual(["update"]);
    const kept = isKept ? { limits: { day: 1, year: 3 }, labels: { of: "others" } } : {};
    expect(place.service.rules()).toEqual([{ ruleId, rule: rule(1, { ...less, ...kept }) }]);
    await stack.isUnchanged();
    await stack.hasNoDrift();
    await stack.succeeds("up", { expectNoChanges: true });
    expect(place.writes()).toEqual([]);
  });
});

describe.each(Object.keys(shapes))("where no update removes a field, %s", (shape) => {
  const declared = (changes: JsonObject): Declared => shapes[shape]?.(rule(1, changes)) ?? {};

  test("is replaced when one is taken out of it, as the preview says, and updated when what an array holds is", async () => {
    const { place, stack } = await openStack("local", { contract: speaking({ ...patch, removal: "none" }) });
    await stack.up(declared(deep));
    const [before] = place.ids();
    await stack.up(declared({ ...deep, tags: [{ x: 1 }] }));
    expect(place.ids()).toEqual([before]);
    stack.declare(declared(less));
    expect((await stack.succeeds("preview", { diff: true })).output).toMatch(/replace/);
    place.writes();
    await stack.succeeds("up");
    expect(place.writes()).toEqual(["delete", "create"]);
    expect(place.ids()).not.toEqual([before]);
    expect(place.definitions()).toEqual([rule(1, less)]);
    await stack.isUnchanged();
    await stack.hasNoDrift();
  });

  test("is refused by the preview where nothing can be deleted: each way on that it names leads on", async () => {
    const contract = speaking({ ...patch, removal: "none" });
    const spoken = speaking({ ...patch, removal: "none" }, { delete: {} });
    const { place, stack } = await openStack("local", { contract, spoken });
    await stack.up(declared({ note: "n" }));
    stack.declare(declared({}));
    for (const verb of ["preview", "up"] as const)
      await stack.fails(verb, {}, /no update removes note \(operations\.update\.removal\)/, /declare again what stays/);
    expect(place.definitions()).toEqual([rule(1, { note: "n" })]);
    await stack.up(declared({ note: "n" }), { expectNoChanges: true });
    const [{ ruleId } = { ruleId: "" }] = place.service.rules();
    place.service.put(ruleId, rule(1));
    await stack.up(declared({}), { refresh: true });
    await stack.isUnchanged();
    await stack.up(declared({ note: "n" }));
    writeFileSync(place.contractFile, JSON.stringify(contract));
    await stack.up(declared({}));
    expect(place.definitions()).toEqual([rule(1)]);
  });
});

describe.each(variants(Object.keys(shapes)))("a field of %s that stays after an update", (shape) => {
  test.each([null, "none"] as const)(
    "is an error, is in the state and in the next preview, and goes away by the contract field that the error names: %s",
    async (removal) => {
      const declared = (changes: JsonObject): Declared => shapes[shape]?.(rule(1, changes)) ?? {};
      const { place, stack } = await openStack("local", {
        contract: speaking({ ...patch, removal }),
        spoken: speaking(patch),
      });
      await stack.up(declared({ note: "n" }));
      const says = [
        /still has note, declared before and no more/,
        /operations\.update\.removal of the contract \(null, /,
      ];
      await stack.upFails(declared({ priority: 5 }), {}, ...says);
      expect(stack.project.state()).toMatch(/note/);
      expect((await stack.succeeds("refresh", { previewOnly: true })).output).not.toMatch(/note/);
      expect((await stack.succeeds("preview", { diff: true })).output).toMatch(/-.*note/);
      await stack.fails("up", {}, ...says);
      writeFileSync(place.contractFile, JSON.stringify(speaking({ ...patch, removal })));
      const { output } = await stack.succeeds("preview", { diff: true });
      expect(output).toMatch(/-.*note/);
      expect(/replace/.test(output)).toBe(removal === "none");
      await stack.succeeds("up");
      expect(place.definitions()).toEqual([rule(1, { priority: 5 })]);
      await stack.isUnchanged();
      await stack.hasNoDrift();
    },
  );
});

test("what reads back as null is removed, and nothing is sent for it again", async () => {
  let changes: JsonObject = { note: "n" };
  const world = await startWorld({
    contract: speaking({}),
    program: () => void new MerchantRule("a", { definition: Object(rule(1, changes)) }),
  });
  await world.up();
  world.fault({ kind: "store-otherwise", at: "/note", value: null, operations: ["update"] });
  changes = { priority: 7 };
  await world.up();
  expect(world.rules()).toMatchObject([{ rule: rule(1, { priority: 7, note: null }) }]);
  await world.expectNoChanges();
  await world.expectNoDrift();
  await world.close();
});

test.each([null, "none"] as const)(
  "a rule that is taken over keeps what nobody declares, where a field goes away by %s and not by its absence",
  async (removal) => {
    const { place, stack } = await openStack("local", { contract: speaking({ removal }) });
    const ruleId = place.service.put(undefined, rule(1, { note: "of others", priority: 3 }));
    await stack.up({ a: { definition: rule(1), adopt: ruleId } });
    expect(place.service.rules()).toEqual([{ ruleId, rule: rule(1, { note: "of others" }) }]);
    await stack.isUnchanged();
  },
);
