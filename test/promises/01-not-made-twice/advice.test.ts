import { describe, expect, test } from "vitest";
import type { FaultInput } from "../../../local/service/faults/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { HookStack, openWorld } from "../../support/stack/hooks.ts";
import { ownedBy } from "../../support/stack/hosts.ts";

const lost: FaultInput = { kind: "close", at: "after", operations: ["create"], times: 1 };

describe("a replacement whose create loses its answer, under a contract without list", () => {
  const contract = contractOf({ operations: { list: null, update: null } });

  test.each<["merchantRule" | "merchantRuleSet", string, JsonObject]>([
    ["merchantRule", "keeps its natural key", rule(1, { priority: 9 })],
    ["merchantRule", "gets another natural key", rule(7)],
    ["merchantRuleSet", "keeps its natural key", rule(1, { priority: 9 })],
    ["merchantRuleSet", "gets another natural key", rule(7)],
  ])("ends with exactly one rule by adopt, as it advises: a %s that %s", async (hooks, _how, next) => {
    const world = await openWorld({ contract, allowDuplicates: true });
    const stack = new HookStack(world, hooks);
    const inputs = (definition: JsonObject) =>
      hooks === "merchantRule" ? { definition } : { rules: { a: definition } };
    expect(await stack.up({ s: inputs(rule(1)) })).toEqual([]);
    world.service.faults.set(lost);
    const [message = ""] = await stack.up({ s: inputs(next) });
    expect(message).toMatch(/RULE_OUTCOME_UNKNOWN/);
    expect(message).toContain(
      hooks === "merchantRule" ? 'add adopt: "<its ruleId>"' : 'add adopt: { "a": "<its ruleId>" }',
    );
    const ruleId =
      world.service.rules().find((row) => row.rule.name === next.name && row.rule.priority === next.priority)?.ruleId ??
      "";
    const adopt = hooks === "merchantRule" ? ruleId : { a: ruleId };
    expect(await stack.up({ s: { ...inputs(next), adopt } })).toEqual([]);
    expect(world.service.rules()).toEqual([{ ruleId, rule: next }]);
    expect(await stack.up({ s: inputs(next) })).toEqual([]);
    expect(world.service.rules()).toEqual([{ ruleId, rule: next }]);
  });

  test("that was not carried out ends with exactly one rule by running again, as it advises", async () => {
    const world = await openWorld({ contract, allowDuplicates: true });
    const stack = new HookStack(world, "merchantRuleSet");
    expect(await stack.up({ s: { rules: { a: rule(1) } } })).toEqual([]);
    world.service.faults.set({ ...lost, at: "before" });
    const next = { s: { rules: { a: rule(1, { priority: 9 }) } } };
    expect((await stack.up(next))[0]).toContain("if it is not, run again");
    expect(await stack.up(next)).toEqual([]);
    expect(world.service.rules()).toMatchObject([{ rule: { priority: 9 } }]);
  });
});

describe("two resources of one rule that swap their names", () => {
  test("end as declared by running again as often as it is advised, under a contract without update", async () => {
    const world = await openWorld({ contract: contractOf({ operations: { update: null } }) });
    const stack = new HookStack(world);
    const declared = (one: string, other: string) => ({
      x: { definition: rule(1, { name: one, priority: 1 }), ...ownedBy("shop/test/x") },
      y: { definition: rule(2, { name: other, priority: 2 }), ...ownedBy("shop/test/y") },
    });
    expect(await stack.up(declared("left", "right"))).toEqual([]);
    const swapped = declared("right", "left");
    let failures = await stack.up(swapped);
    for (let run = 2; run <= 5 && failures.length > 0; run += 1) {
      for (const message of failures) expect(message).toMatch(/run again/);
      failures = await stack.up(swapped);
    }
    expect(failures).toEqual([]);
    const priorities = world.service.rules().map(({ rule: { name, priority } }) => `${name} ${priority}`);
    expect(priorities.sort()).toEqual(["left 2", "right 1"]);
    expect(await stack.up({})).toEqual([]);
    expect(world.service.rules()).toEqual([]);
  });

  test("are told a way on where an update of one collides with the other", async () => {
    const world = await openWorld();
    const stack = new HookStack(world);
    const declared = (one: string, other: string) => ({
      x: { definition: rule(1, { name: one }) },
      y: { definition: rule(2, { name: other }) },
    });
    expect(await stack.up(declared("left", "right"))).toEqual([]);
    // Running again does not help: both changes collide in every run.
    for (const message of await stack.up(declared("right", "left")))
      expect(message).toMatch(/natural key|MerchantRuleSet|first/);
  });
});

describe("a 409 of the service under a contract without natural key", () => {
  test.each([
    ["a list", contractOf({ rule: { naturalKey: null } })],
    ["no list", contractOf({ operations: { list: null }, rule: { naturalKey: null } })],
  ])("names the cure, and each way leads to the rule, under a contract with %s", async (_case, spoken) => {
    const world = await openWorld({ spoken });
    const existing = world.service.put(undefined, rule(1, { priority: 50 }));
    const stack = new HookStack(world);
    const [message = ""] = await stack.up({ a: { definition: rule(1) } });
    expect(message).toContain("RULE_CONFLICT");
    expect(message).toContain("rule.naturalKey");
    expect(message).toContain('add adopt: "<its ruleId>"');
    expect(await stack.up({ a: { definition: rule(1), adopt: existing } })).toEqual([]);
    expect(world.service.rules()).toEqual([{ ruleId: existing, rule: rule(1) }]);
  });

  test("is found by itself with the contract completed, as advised", async () => {
    const completed = await openWorld();
    const world = await openWorld({ spoken: contractOf({ rule: { naturalKey: null } }) });
    const existing = world.service.put(undefined, rule(1));
    const stack = new HookStack(world);
    expect(await stack.up({ a: { definition: rule(1) } })).toHaveLength(1);
    const { MERCHANT_RULES_CONTRACT = "" } = completed.environment;
    const [message = ""] = await stack.up({ a: { definition: rule(1) } }, { MERCHANT_RULES_CONTRACT });
    expect(message).toContain(`adopt: "${existing}"`);
    expect(await stack.up({ a: { definition: rule(1), adopt: true } }, { MERCHANT_RULES_CONTRACT })).toEqual([]);
    expect(world.names()).toEqual(["rule-1"]);
  });
});
