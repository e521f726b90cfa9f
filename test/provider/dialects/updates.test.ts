import { describe, expect, test } from "vitest";
import { startWorld, type World } from "../../../local/testing/index.ts";
import { MerchantRuleSet } from "../../../provider/index.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { openWorld } from "../../support/stack/hooks.ts";
import { failureOf } from "../../support/stack/hosts.ts";
import { contractFileOf } from "../../support/stack/service.ts";
import { variants } from "../../support/variants.ts";

type Update = NonNullable<NonNullable<ContractInput["operations"]>["update"]>;

const path = "/api/v1/merchants/rules";
const updating = (update: Update): ContractInput => contractOf({ operations: { update } });

const updates: [string, Update][] = [
  ["merged, without what the service sets", { path: `${path}/{ruleId}`, body: "merged" }],
  ["what the method is for, by PUT", { path: `${path}/{ruleId}` }],
  ["what the method is for, by PATCH", { path: `${path}/{ruleId}`, method: "PATCH" }],
  ["declared", { path: `${path}/{ruleId}`, body: "declared" }],
  ["changes, by PATCH", { path: `${path}/{ruleId}`, method: "PATCH", body: "changes" }],
  [
    "the rule itself with its id in it, on the path of create",
    { path, method: "POST", identifyBy: { in: "body", name: "id" } },
  ],
  ["the live rule with its id in it", { path, identifyBy: { in: "body", name: "id" }, body: "merged" }],
  ["beside its id", { path, identifyBy: { in: "body", name: "key" }, bodyAt: "/rule" }],
];

describe.each(variants(updates, 2))("an update whose body is %s", (_, update) => {
  test("changes rules in place; a field that nobody declares stays where the live rule goes back", async () => {
    let priority = 1;
    const rules = (): JsonObject => ({ a: rule(1, { priority }), b: rule(2), c: rule(3, { priority }) });
    const world: World = await startWorld({
      contract: updating(update),
      program: () => void new MerchantRuleSet("all", { rules: Object(rules()) }),
    });
    await world.up();
    const ids = world.rules().map(({ ruleId }) => ruleId);
    expect(ids).toHaveLength(3);
    world.edit({ name: "rule-1" }, { note: "by hand" });
    priority = 9;
    world.service.resetRequests();
    await world.up();
    expect(world.service.requestCount("update")).toBe(2);
    expect(world.service.requestCount("create")).toBe(0);
    expect(world.rules().map(({ ruleId }) => ruleId)).toEqual(ids);
    const note = update.body === "declared" ? {} : { note: "by hand" };
    const wanted = [rule(1, { priority, ...note }), rule(2), rule(3, { priority })];
    expect(world.rules().map((live) => live.rule)).toEqual(expect.arrayContaining(wanted));
    await world.expectNoChanges();
    await world.destroy();
    expect(world.rules()).toEqual([]);
  });
});

test("a service that refuses a field that the program does not declare is understood with operations.update.omit", async () => {
  const contract = updating({ path: `${path}/{ruleId}`, omit: ["/statistics"] });
  const world = await openWorld({ contract, spoken: updating({ path: `${path}/{ruleId}` }) });
  const { id, outs } = await (await world.host()).create({ definition: rule(1) });
  world.service.put(id, rule(1, { statistics: { hits: 3 } }));
  const changed = { definition: rule(1, { priority: 9 }) };
  const { message } = await failureOf((await world.host()).update(id, outs, changed));
  expect(message).toContain("an update must not carry statistics");
  expect(message).toContain("operations.update.omit of the contract");
  const MERCHANT_RULES_CONTRACT = contractFileOf(contract);
  await (await world.host("merchantRule", { MERCHANT_RULES_CONTRACT })).update(id, outs, changed);
  expect(world.service.rules()).toEqual([{ ruleId: id, rule: changed.definition }]);
});
