import { describe, expect, test } from "vitest";
import { rule } from "../support/connections.ts";
import { contractOf, failureOf, open, update } from "./world.ts";

describe("a contract that puts the body of an update in another place than the service", () => {
  const spoken = contractOf({ operations: { update: { ...update, bodyAt: "/rule" } } });

  test("is noticed at once, with the paths, and the state has what the service keeps", async () => {
    const world = await open({ spoken });
    const { id, outs } = await (await world.host()).create({ definition: rule(1) });
    const host = await world.host();
    const failure = await failureOf(host.update(id, outs, { definition: rule(1, { priority: 9 }) }));
    expect(failure.message).toContain("RULE_DIFFERS");
    expect(failure.message).toMatch(/differs at .*name/);
    expect(failure.message).toContain("bodyAt");
    expect(world.service.rules()).toEqual([{ ruleId: id, rule: { rule: rule(1, { priority: 9 }) } }]);
    expect(failure.partial?.properties).toMatchObject({ definition: {}, ruleId: id });
    expect(Object.keys(Object(failure.partial?.properties.definition))).toEqual([]);
  });

  test("is noticed by the next refresh where the service answers an id alone", async () => {
    const world = await open({ spoken, answers: "id" });
    const { id, outs } = await (await world.host()).create({ definition: rule(1) });
    const host = await world.host();
    const next = await host.update(id, outs, { definition: rule(1, { priority: 9 }) });
    const { message } = await failureOf((await world.host()).read(id, next));
    expect(message).toContain("none of the fields that are declared");
  });

  test("is healed by the next run, with the contract corrected", async () => {
    const world = await open({ spoken });
    const corrected = await open();
    const { id, outs } = await (await world.host()).create({ definition: rule(1) });
    const changed = { definition: rule(1, { priority: 9 }) };
    const failure = await failureOf((await world.host()).update(id, outs, changed));
    const { MERCHANT_RULES_CONTRACT = "" } = corrected.environment;
    const host = await world.host("merchantRule", { MERCHANT_RULES_CONTRACT });
    await host.update(id, failure.partial?.properties ?? outs, changed);
    expect(world.service.rules()).toEqual([{ ruleId: id, rule: changed.definition }]);
  });
});

test("one answer that is not its rule fails the refresh of a set: it is no drift of all its fields", async () => {
  const world = await open({ contract: contractOf({ operations: { list: null } }) });
  const rules = { a: rule(1), b: rule(2), c: rule(3) };
  const { id, outs } = await (await world.host("merchantRuleSet")).create({ rules });
  world.service.faults.set({ kind: "other-shape", operations: ["get"], request: 2 });
  const { message } = await failureOf((await world.host("merchantRuleSet")).read(id, outs));
  expect(message).toMatch(/read rule \w failed: .*none of the fields that are declared.*RESPONSE_INVALID/s);
  expect((await (await world.host("merchantRuleSet")).read(id, outs)).props.rules).toEqual(rules);
});
