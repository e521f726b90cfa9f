import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { startWorld } from "../../../local/testing/index.ts";
import { MerchantRuleSet } from "../../../provider/index.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { contractOf, list } from "../../support/stack/contracts.ts";
import { HookStack, openWorld, writesOf } from "../../support/stack/hooks.ts";
import { contractFileOf } from "../../support/stack/service.ts";

/** A field of each form: as it is declared, as another writes the same, as the service shows it, and another value. */
const fields = {
  decimal: [{ x: 10 }, { x: "10.000" }, { x: "10.00" }, { x: "10.01" }],
  dateTime: [
    { x: "2026-01-01T02:00:00+02:00" },
    { x: "2026-01-01T00:00:00Z" },
    { x: "2026-01-01T00:00:00.000Z" },
    { x: "2026-01-01T00:00:00.001Z" },
  ],
  trimmed: [{ x: " a b " }, { x: "a b\n" }, { x: "a b" }, { x: "ab" }],
  lower: [{ x: "EUR" }, { x: "Eur" }, { x: "eur" }, { x: "usd" }],
  upper: [{ x: "eur" }, { x: "Eur" }, { x: "EUR" }, { x: "USD" }],
  distinct: [{ x: ["a", "b", "a"] }, { x: ["a", "b", "b"] }, { x: ["a", "b"] }, { x: ["a", "c"] }],
  empty: [{ x: [] }, { x: "" }, { x: null }, { x: ["a"] }],
  default: [{ x: { on: true } }, { x: {} }, { x: {} }, { x: { on: false } }],
} as const satisfies Readonly<Record<string, readonly [JsonObject, JsonObject, JsonObject, JsonObject]>>;

const names = Object.keys(fields) as readonly (keyof typeof fields)[];

/** One rule of each form; its field has the form's name, so that each form is at a place of its own. */
function rules(which: 0 | 1 | 2 | 3): Record<string, JsonObject> {
  return Object.fromEntries(names.map((name) => [name, { name, [name]: fields[name][which].x }]));
}

const formed = {
  forms: names.map((name) =>
    name === "default" ? { at: "/default/on", default: true } : { at: `/${name}`, is: name },
  ),
};
const storing: ContractInput = contractOf({ rule: formed });

test("a service that stores values in forms of its own has rules made, left alone, changed, healed and destroyed", async () => {
  const program = (which: 0 | 1 | 3) => () => {
    // One that nobody edits shows that this is the right merchant.
    new MerchantRuleSet("all", { rules: { ...rules(which), still: { name: "still" } } });
  };
  const world = await startWorld({ program: program(0), contract: storing });
  await world.up();
  const answer = await fetch(`${world.service.url}${list.path}`, {
    headers: { authorization: "Bearer token-of-default" },
  });
  const shown: { rules: JsonObject[] } = JSON.parse(await answer.text());
  const byName = Object.fromEntries(shown.rules.map((rule) => [String(rule.name), rule]));
  expect(byName).toMatchObject(rules(2));
  expect(Object.keys(Object(byName.default?.default))).toEqual([]);

  world.service.resetRequests();
  await world.expectNoChanges();
  await world.expectNoDrift();
  await world.refresh();
  await world.expectNoChanges();
  // Written otherwise by the program, or by hand, it is the same.
  await world.expectNoChanges({ program: program(1) });
  await world.up({ program: program(1) });
  for (const name of names) world.edit({ name }, { [name]: fields[name][1].x });
  await world.expectNoDrift();
  await world.expectNoChanges({ refresh: true });
  await world.up();
  expect(world.service.requests.filter(({ method }) => method !== "GET")).toEqual([]);

  for (const name of names) world.edit({ name }, { [name]: fields[name][3].x });
  const drift = await world.drift();
  expect(drift.rules.map(({ step, key }) => `${step} ${key}`)).toEqual(names.map((name) => `changed ${name}`).sort());
  expect(drift.rules.find(({ key }) => key === "distinct")?.paths).toEqual([
    { path: "distinct[1]", before: "b", after: "c" },
  ]);
  await world.up({ refresh: true });
  await world.expectNoDrift();
  expect(world.rules().map(({ rule }) => rule)).toEqual(expect.arrayContaining(Object.values(rules(0))));
  const changed = await world.up({ program: program(3) });
  expect(changed.rules.map(({ step }) => step)).toEqual(names.map(() => "update"));
  await world.expectNoChanges({ program: program(3) });
  await world.destroy();
  expect(world.rules()).toEqual([]);
});

describe("a natural key that the service stores in another form", () => {
  const trimmed = [
    { at: "/name", is: "trimmed" },
    { at: "/name", is: "lower" },
  ] as const;
  const contract = contractOf({ rule: { forms: [...trimmed] } });

  test("finds the rule that is adopted, and the one whose create was not answered", async () => {
    const world = await openWorld({ contract });
    const stack = new HookStack(world);
    const ruleId = world.service.put(undefined, { name: "night", priority: 1 });
    const night = { definition: { name: " Night", priority: 1 }, adopt: true };
    expect(await stack.up({ night })).toEqual([]);
    expect(stack.state.map(({ id }) => id)).toEqual([ruleId]);
    expect(writesOf(world)).toEqual([]);
    world.service.faults.set({ kind: "close", at: "after", operations: ["create"] });
    expect(await stack.up({ night, day: { definition: { name: "Day " } } })).toEqual([]);
    expect(world.service.rules()).toHaveLength(2);
  });

  test("is one, however it is written: two keys of a set cannot have it, and a rule that keeps it goes before its successor comes", async () => {
    const world = await openWorld({ contract: { ...contract, operations: { ...contract.operations, update: null } } });
    const host = await world.host("merchantRuleSet");
    const { failures } = await host.check({ rules: { a: { name: "A" }, b: { name: "a " } } });
    expect(failures).toMatchObject([{ property: "rules.b", reason: expect.stringContaining("the same natural key") }]);
    const stack = new HookStack(world, "merchantRuleSet");
    expect(await stack.up({ all: { rules: { a: { name: "A", priority: 1 } } } })).toEqual([]);
    expect(await stack.up({ all: { rules: { a: { name: "a ", priority: 2 } } } })).toEqual([]);
    expect(writesOf(world)).toEqual(["create", "delete", "create"]);
  });
});

describe("a service whose contract does not say how it stores what it is sent", () => {
  const kept = {
    ...formed,
    forms: [
      ...formed.forms,
      { at: "/rows/*/code", is: "lower" as const },
      { at: "/rows/*/code", is: "trimmed" as const },
    ],
  };

  test("is named with the paths and the forms that fit, and with these in the contract nothing is left to do", async () => {
    const world = await openWorld({ contract: contractOf({ rule: kept }), spoken: contractOf() });
    const stack = new HookStack(world, "merchantRuleSet");
    const { default: onlyDefault = {}, ...others } = rules(0);
    const all = { rules: { ...others, rows: { name: "rows", rows: [{ code: " A" }, { code: "B" }] } } };
    let advised: { at: string; is?: "lower" | "trimmed" }[] = [];
    let environment = {};
    const messages: string[] = [];
    // Each run ends at the first such rule, with all that this one needs.
    for (const _ of Object.keys(all.rules)) {
      const [message = ""] = await stack.up({ all }, environment);
      messages.push(message);
      advised = [
        ...advised,
        ...[...message.matchAll(/rule\.forms: (\[.*?\}\])/g)].flatMap(([, entries = ""]) => parse(entries)),
      ];
      environment = { MERCHANT_RULES_CONTRACT: contractFileOf(contractOf({ rule: { forms: advised } })) };
    }
    expect(messages.join()).toMatch(/decimal: .*it differs at decimal\. What to do: say in the contract/);
    expect(messages.join()).toContain("at rows[0].code, rows[1].code");
    expect(advised).toEqual(expect.arrayContaining(kept.forms.filter(({ at }) => at !== "/default/on")));
    world.service.resetRequests();
    expect(await stack.up({ all }, environment)).toEqual([]);
    expect(await stack.refresh(environment)).toEqual([]);
    expect(await stack.up({ all }, environment)).toEqual([]);
    expect(writesOf(world)).toEqual([]);
    // A field that is not shown may be lost, or have its default: the reader has to know.
    const [unshown] = await stack.up({ all: { rules: { ...all.rules, onlyDefault } } }, environment);
    expect(unshown).toMatch(
      /at default\.on\. What to do: where the service leaves out .* \(default\.on\); declare these/,
    );
  });

  test("is not done by any update that is answered without the rule, until the contract has the form", async () => {
    const lower = contractOf({ rule: { forms: [{ at: "/note", is: "lower" }] } });
    const world = await openWorld({ contract: lower, spoken: contractOf(), answers: "id" });
    const stack = new HookStack(world, "merchantRuleSet");
    const noted = (note: string) => ({ all: { rules: { a: { name: "a", note } } } });
    expect(await stack.up(noted("one"))).toEqual([]);
    for (let run = 1; run <= 2; run += 1) {
      world.service.resetRequests();
      const [message] = await stack.up(noted("One"));
      expect(message).toContain("add rule.forms: [{ at: /note, is: lower }]");
      expect(writesOf(world)).toHaveLength(1);
    }
    const environment = { MERCHANT_RULES_CONTRACT: contractFileOf(lower) };
    world.service.resetRequests();
    expect(await stack.up(noted("One"), environment)).toEqual([]);
    expect(await stack.up(noted("One"), environment)).toEqual([]);
    expect(writesOf(world)).toEqual([]);
  });

  test("is named without a value of the rule, which may be secret", async () => {
    const world = await openWorld();
    world.service.faults.set({ kind: "normalise" });
    const [message = ""] = await new HookStack(world).up({ a: { definition: { name: "s3cr3t ", pin: "s3cr3t" } } });
    expect(message).toContain("add rule.forms: [{ at: /name, is: trimmed }]");
    expect(message).not.toContain("s3cr3t");
  });
});
