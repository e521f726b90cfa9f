import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";
import { MerchantRule, MerchantRuleSet } from "../../../provider/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, marking, owner } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openPlace, openStack, unmarked } from "../../support/stack/place.ts";
import { variants } from "../../support/variants.ts";

describe("a rule that has the mark of another resource of the same stack", () => {
  /** A stack whose resource `old` has a rule that says by its mark that a resource has it which is no more. */
  async function mistaken() {
    const { place, stack } = await openStack("local", { contract: marking });
    await stack.up({ old: { definition: rule(1) }, other: { definition: rule(2) } });
    const ruleId = place.idOf("rule-1");
    const metadata = place.service.rules().find(({ rule: { name } }) => name === "rule-2")?.rule.metadata ?? {};
    await stack.up({ old: { definition: rule(1) } });
    place.service.put(ruleId, { ...rule(1), metadata });
    place.writes();
    return { place, stack, ruleId };
  }

  test("is changed when adopt names it, and deleted after that", async () => {
    const { place, stack, ruleId } = await mistaken();
    const definition = rule(1, { priority: 7 });
    await stack.upFails({ old: { definition } }, {}, new RegExp(`adopt: "${ruleId}"`));
    expect(place.writes()).toEqual([]);
    await stack.up({ old: { definition, adopt: ruleId } });
    expect(place.writes()).toEqual(["update"]);
    expect(unmarked(place.service.rules())).toEqual([{ ruleId, rule: definition }]);
    await stack.succeeds("destroy");
    expect(place.service.rules()).toEqual([]);
  });

  test("is not left in force by a destroy that says nothing of it", async () => {
    const { place, stack, ruleId } = await mistaken();
    const { output } = await stack.succeeds("destroy");
    if (place.service.rules().length > 0) expect(output).toContain(ruleId);
  });
});

test("a resource that is renamed without an alias takes its rule over, and writes its mark alone", async () => {
  const { place, stack } = await openStack("local", { contract: marking });
  await stack.up({ old: { definition: rule(1) } });
  const before = unmarked(place.service.rules());
  place.writes();
  await stack.up({ renamed: { definition: rule(1) } });
  expect(place.writes()).toEqual(["update"]);
  expect(unmarked(place.service.rules())).toEqual(before);
  expect(place.markOf("rule-1")).toMatch(/ lifecycle\/test\/renamed$/);
  await stack.up({ renamed: { definition: rule(1, { priority: 7 }) } });
  expect(place.writes()).toEqual(["update"]);
});

test("a resource that is made before the holder of its rule is asked does not overwrite what the holder declares", async () => {
  const place = await openPlace({ contract: marking });
  let hasEarly = false;
  const stack = await place.stack("local", {
    program: () => {
      const early = hasEarly ? [new MerchantRule("early", { definition: rule(1, { priority: 50 }) })] : [];
      new MerchantRule("holder", { definition: rule(1) }, { dependsOn: early });
    },
  });
  await stack.succeeds("up");
  const before = place.service.rules();
  place.writes();
  hasEarly = true;
  await stack.fails("up", {}, new RegExp(place.idOf("rule-1")));
  expect(place.writes()).toEqual([]);
  hasEarly = false;
  await stack.succeeds("up");
  expect(place.writes()).toEqual([]);
  expect(place.service.rules()).toEqual(before);
});

test("two resources that declare one rule are told so, and neither overwrites what the other declares", async () => {
  const { place, stack } = await openStack("local", { contract: marking });
  const holder = { definition: rule(1) };
  await stack.up({ holder });
  const before = place.service.rules();
  place.writes();
  const both = { early: { definition: rule(1, { priority: 50 }) }, holder };
  await stack.upFails(both, {}, new RegExp(place.idOf("rule-1")));
  expect(place.writes()).toEqual([]);
  expect(place.service.rules()).toEqual(before);
});

onBothEngines((engine) => {
  test.each(
    variants([
      ["loses it", true],
      ["gets it", false],
    ]),
  )("a rule moves between two sets, and back, where the set that %s is declared first", async (_case, isFromFirst) => {
    const { place, stack } = await openStack(engine, { contract: marking });
    const live = () => unmarked(place.service.rules()).map(isFromFirst ? ({ rule }) => rule : (each) => each);
    const sets = (from: Record<string, ReturnType<typeof rule>>, to: Record<string, ReturnType<typeof rule>>) =>
      isFromFirst ? { from: { rules: from }, to: { rules: to } } : { to: { rules: to }, from: { rules: from } };
    const first = sets({ r1: rule(1), r2: rule(2) }, { r9: rule(9) });
    await stack.up(first);
    const before = live();
    await stack.up(sets({ r1: rule(1) }, { r2: rule(2), r9: rule(9) }));
    expect(live()).toEqual(before);
    await stack.isUnchanged({ refresh: true });
    await stack.up(first);
    expect(live()).toEqual(before);
  });
});

class Shop extends pulumi.ComponentResource {
  constructor(name: string, rules: Record<string, JsonObject>) {
    super(`shop:index:${name}`, name);
    new MerchantRuleSet("rules", { rules }, { parent: this });
  }
}

test("sets of one name in two components have rules of their own", async () => {
  const place = await openPlace({ contract: contractOf({ rule: { owner, naturalKey: null } }) });
  const { service } = place;
  let shops: Record<string, JsonObject> = { North: rule(1) };
  const stack = await place.stack("local", {
    program: () => {
      for (const [name, limit] of Object.entries(shops)) new Shop(name, { limit });
    },
  });
  await stack.succeeds("up");
  const [north] = service.rules();
  shops = { North: rule(1), South: rule(2) };
  await stack.succeeds("up");
  expect(service.rules()).toHaveLength(2);
  expect(service.rules()[0]).toEqual(north);
  const [, south] = service.rules();
  expect(south?.rule).toMatchObject(rule(2));
  expect(south?.rule.metadata).not.toEqual(north?.rule.metadata);
  shops = { South: rule(2) };
  await stack.succeeds("up");
  expect(service.rules()).toEqual([south]);
});

test("connections whose names would share their variables are refused, before any request", async () => {
  const place = await openPlace();
  const { baseUrl = "" } = place.settings;
  const stack = await place.stack("local", { config: { connections: { shopA: { baseUrl }, "shop-a": { baseUrl } } } });
  stack.declare({
    a: { definition: rule(1), connection: "shopA" },
    b: { definition: rule(2), connection: "shop-a" },
  });
  const environment = { MERCHANT_RULES_SHOP_A__TOKEN: "local-token" };
  await stack.fails("preview", { environment }, /shopA/, /shop-a/, /MERCHANT_RULES_SHOP_A__/);
  await stack.fails("up", { environment }, /shopA/, /shop-a/);
  expect(place.front.taken()).toEqual([]);
});
