import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, update } from "../../support/stack/contracts.ts";
import { HookStack, openWorld, type World, writesOf } from "../../support/stack/hooks.ts";
import { failureOf } from "../../support/stack/hosts.ts";

describe("a contract that puts the body of an update in another place than the service", () => {
  const spoken = contractOf({ operations: { update: { ...update, bodyAt: "/rule" } } });
  const declared = { a: { definition: rule(1) }, b: { definition: rule(2) } };
  const changed = { a: { definition: rule(1, { priority: 9 }) }, b: { definition: rule(2, { priority: 9 }) } };

  /** The same service, with the contract as it should be. */
  async function corrected(): Promise<Record<string, string>> {
    const { MERCHANT_RULES_CONTRACT = "" } = (await openWorld()).environment;
    return { MERCHANT_RULES_CONTRACT };
  }

  const byName = (one: JsonObject, other: JsonObject) => String(one.name).localeCompare(String(other.name));
  const expectHealed = ({ service }: World): void =>
    expect(
      service
        .rules()
        .map((each) => each.rule)
        .sort(byName),
    ).toEqual([changed.a.definition, changed.b.definition]);

  test.each(["rule", "id"] as const)(
    "is noticed at once, and the state has what the service keeps, where it answers an update with the %s",
    async (answers) => {
      const world = await openWorld({ spoken, answers });
      const { id, outs } = await (await world.host()).create(declared.a);
      const failure = await failureOf((await world.host()).update(id, outs, changed.a));
      expect(failure.message).toMatch(/the rule has lost .*\bname\b.*operations\.update .*bodyAt/s);
      expect(world.service.rules()).toEqual([{ ruleId: id, rule: { rule: changed.a.definition } }]);
      // The state has what the service keeps: of what is declared nothing.
      expect(failure.partial?.properties).toMatchObject({ definition: {}, ruleId: id });
      expect(Object.keys(Object(failure.partial?.properties.definition))).toEqual([]);
    },
  );

  test("ends a run of two rules after one of them, and the next run, with the contract corrected, makes both as declared", async () => {
    const world = await openWorld({ spoken });
    const stack = new HookStack(world);
    expect(await stack.up(declared)).toEqual([]);
    world.service.resetRequests();
    expect(await stack.up(changed)).toHaveLength(2);
    expect(writesOf(world)).toEqual(["update"]);
    const environment = await corrected();
    expect(await stack.refresh(environment)).toEqual([]);
    expect(await stack.up(changed, environment)).toEqual([]);
    expectHealed(world);
  });

  test("that has wrecked the only rule of a stack is healed by the words that the refusal names", async () => {
    const world = await openWorld({ spoken });
    const stack = new HookStack(world);
    expect(await stack.up({ a: declared.a })).toEqual([]);
    expect(await stack.up({ a: changed.a })).toHaveLength(1);
    const environment = await corrected();
    const [message] = await stack.up({ a: changed.a }, environment);
    expect(message).toContain("set MERCHANT_RULES_MOVED=true for one run");
    const moved = { ...environment, MERCHANT_RULES_MOVED: "true" };
    expect(await stack.refresh(moved)).toEqual([]);
    expect(await stack.up({ a: changed.a }, moved)).toEqual([]);
    expect(world.service.rules().map((each) => each.rule)).toEqual([changed.a.definition]);
    world.service.resetRequests();
    expect(await stack.up({ a: changed.a }, environment)).toEqual([]);
    expect(world.service.requests).toEqual([]);
  });
});

test("one answer that is not its rule fails the refresh of a set: it is no drift of all its fields", async () => {
  const world = await openWorld({ contract: contractOf({ operations: { list: null } }) });
  const rules = { a: rule(1), b: rule(2), c: rule(3) };
  const { id, outs } = await (await world.host("merchantRuleSet")).create({ rules });
  world.service.faults.set({ kind: "other-shape", operations: ["get"], request: 2 });
  const { message } = await failureOf((await world.host("merchantRuleSet")).read(id, outs));
  expect(message).toMatch(/read rule \w failed: .*none of the fields that are declared.*RESPONSE_INVALID/s);
  expect((await (await world.host("merchantRuleSet")).read(id, outs)).props.rules).toEqual(rules);
});
