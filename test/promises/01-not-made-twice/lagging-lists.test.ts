import { describe, expect, test } from "vitest";
import type { FaultInput } from "../../../local/service/faults/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, list } from "../../support/stack/contracts.ts";
import { openWorld, writesOf } from "../../support/stack/hooks.ts";
import { failureOf, ownedBy } from "../../support/stack/hosts.ts";

const declared = { a: rule(1), b: rule(2), c: rule(3) };
const names = ["rule-1", "rule-2", "rule-3"];
const lost: FaultInput = { kind: "close", at: "after", operations: ["create"], times: 3 };
const unknownLag = contractOf({ operations: { list: { ...list, lagMs: null } } });

describe("three creates that lose their answers while the list lags behind", () => {
  test("are found by the same run, where the contract says how far it lags", async () => {
    const world = await openWorld({
      contract: contractOf({ operations: { list: { ...list, lagMs: 600 } } }),
      allowDuplicates: true,
    });
    world.service.faults.set([{ kind: "stale-list", lagMs: 400 }, lost]);
    const { outs } = await (await world.host("merchantRuleSet")).create({ rules: declared });
    expect(Object.keys(Object(outs.ruleIds)).sort()).toEqual(["a", "b", "c"]);
    expect(world.names()).toEqual(names);
    expect(writesOf(world)).toEqual(["create", "create", "create"]);
  });

  test("of resources of one rule are found by the same run, too", async () => {
    const world = await openWorld({
      contract: contractOf({ operations: { list: { ...list, lagMs: 600 } } }),
      allowDuplicates: true,
    });
    world.service.faults.set([{ kind: "stale-list", lagMs: 400 }, lost]);
    const host = await world.host();
    await Promise.all(Object.values(declared).map((definition) => host.create({ definition })));
    expect(world.names()).toEqual(names);
  });

  test.each([
    ["recover, once the list shows them", "recover"],
    ["adopt, at once", "adopt"],
    ["adopt, once the list shows them", "adopt later"],
  ])(
    "are said to be unknown where the contract does not say so, and the advice ends with those rules: %s",
    async (_case, way) => {
      // One request at a time, so that it is the first three rules whose creates lose their answers.
      const world = await openWorld({ contract: { ...unknownLag, limits: { concurrency: 1 } }, allowDuplicates: true });
      // As it was when the fault was set, until it is cleared.
      world.service.faults.set([{ kind: "stale-list" }, lost]);
      const failure = await failureOf(
        (await world.host("merchantRuleSet")).create({ rules: { ...declared, d: rule(4) } }),
      );
      expect(failure.message).toMatch(/RULE_OUTCOME_UNKNOWN/);
      expect(failure.message).toContain("the rule may exist; the list does not show it");
      expect(failure.message).toContain("operations.list.lagMs");
      expect(failure.message).toContain("look at the service whether the rule is there");
      expect(failure.message).toContain('add adopt: { "a": "<its ruleId>" }');
      expect(writesOf(world)).toHaveLength(4);
      if (way !== "adopt") world.service.faults.clear();
      const ids = Object.fromEntries(world.service.rules().map(({ ruleId, rule: { name } }) => [name, ruleId]));
      const adopt = { a: ids["rule-1"] ?? "", b: ids["rule-2"] ?? "", c: ids["rule-3"] ?? "" };
      const host = await world.host(
        "merchantRuleSet",
        way.startsWith("recover") ? { MERCHANT_RULES_RECOVER: "true" } : {},
      );
      const { id, properties } = failure.partial ?? { id: "", properties: {} };
      const inputs = { rules: { ...declared, d: rule(4) }, ...(way.startsWith("adopt") ? { adopt } : {}) };
      await (id === "" ? host.create(inputs) : host.update(id, properties, inputs)).catch(() => undefined);
      expect(world.names()).toEqual([...names, "rule-4"]);
    },
  );

  test("that were not carried out are made by running again, as advised", async () => {
    const world = await openWorld({ contract: unknownLag, allowDuplicates: true });
    world.service.faults.set([{ kind: "stale-list" }, { ...lost, at: "before" }]);
    const { message } = await failureOf((await world.host("merchantRuleSet")).create({ rules: declared }));
    expect(message).toContain("if it is not, run again");
    await (await world.host("merchantRuleSet")).create({ rules: declared });
    expect(world.names()).toEqual(names);
  });

  test("are found by their marks by the next run, without a word from the user", async () => {
    const contract = contractOf({
      operations: { list: { ...list, lagMs: null } },
      rule: { owner: { at: "/managedBy" } },
    });
    const world = await openWorld({ contract, allowDuplicates: true });
    world.service.faults.set([{ kind: "stale-list" }, lost]);
    const inputs = { rules: declared, ...ownedBy("shop/test/limits") };
    const { message } = await failureOf((await world.host("merchantRuleSet")).create(inputs));
    expect(message).toContain("run again");
    world.service.faults.clear();
    await (await world.host("merchantRuleSet")).create(inputs);
    expect(world.names()).toEqual(names);
  });
});
