import { describe, expect, test } from "vitest";
import { rule } from "../support/connections.ts";
import { contractOf, failureOf, open, ownedBy, writesOf } from "../worlds/world.ts";

const contract = contractOf({ rule: { owner: { at: "/metadata/managedBy" } } });
const ours = "shop/test/limits";
const theirs = "bank/prod/caps";
const markedBy = (mark: string, k = 1, changes = {}) => rule(k, { metadata: { managedBy: mark }, ...changes });

describe("a rule with the mark of another stack", () => {
  test.each([
    ["no adopt", {}],
    ["adopt: true", { adopt: true }],
  ])("is refused by the name of its owner, with %s", async (_case, adopt) => {
    const world = await open({ contract });
    const existing = world.service.put(undefined, markedBy(theirs));
    const host = await world.host("merchantRule", { MERCHANT_RULES_RECOVER: "true" });
    const { message } = await failureOf(host.create({ definition: rule(1), ...ownedBy(ours), ...adopt }));
    expect(message).toContain(`rule ${existing} has the same natural key (/name: "rule-1")`);
    expect(message).toContain(`is managed by "${theirs}"`);
    expect(message).toContain(`add adopt: "${existing}"`);
    expect(world.service.rules()).toEqual([{ ruleId: existing, rule: markedBy(theirs) }]);
    expect(writesOf(world)).toEqual([]);
  });

  test("is taken over by its id, which says from whom and rewrites the mark", async () => {
    const world = await open({ contract });
    const existing = world.service.put(undefined, markedBy(theirs));
    const host = await world.host();
    const { id, outs } = await host.create({ definition: rule(1), adopt: existing, ...ownedBy(ours) });
    expect(id).toBe(existing);
    expect(host.stderr).toContain(`rule ${existing} is taken over from "${theirs}"`);
    expect(world.service.rules()).toEqual([{ ruleId: existing, rule: markedBy(ours) }]);
    expect(outs).not.toHaveProperty("markedAs");
  });

  test("is taken over by a set by its id", async () => {
    const world = await open({ contract });
    const existing = world.service.put(undefined, markedBy(`${theirs}#x`, 1, { priority: 50 }));
    const host = await world.host("merchantRuleSet");
    await host.create({ rules: { a: rule(1), b: rule(2) }, adopt: { a: existing }, ...ownedBy(ours) });
    expect(host.stderr).toContain(`rule a (${existing}) is taken over from "${theirs}"`);
    expect(world.service.rules()[0]).toEqual({ ruleId: existing, rule: markedBy(`${ours}#a`) });
  });

  test("cannot be marked where the contract has no update, and is taken over without", async () => {
    const world = await open({
      contract: contractOf({ operations: { update: null }, rule: { owner: { at: "/metadata/managedBy" } } }),
    });
    const existing = world.service.put(undefined, markedBy(theirs));
    const { id, outs } = await (await world.host()).create({ definition: rule(1), adopt: existing, ...ownedBy(ours) });
    expect(id).toBe(existing);
    await (await world.host()).delete(id, outs);
    expect(world.service.rules()).toEqual([]);
  });
});

describe("the former owner of a rule that was taken over", () => {
  async function takenOver(hooks: "merchantRule" | "merchantRuleSet" = "merchantRule") {
    const world = await open({ contract });
    const former = await world.host(hooks);
    const inputs = hooks === "merchantRule" ? { definition: rule(1) } : { rules: { a: rule(1), b: rule(2) } };
    const { id, outs } = await former.create({ ...inputs, ...ownedBy(theirs) });
    const [first] = world.service.rules();
    const ruleId = first?.ruleId ?? "";
    await (await world.host()).create({ definition: rule(1), adopt: ruleId, ...ownedBy(ours) });
    world.service.resetRequests();
    return { world, id, outs, ruleId };
  }

  test("does not change it any more", async () => {
    const { world, id, outs, ruleId } = await takenOver();
    const changed = { definition: rule(1, { priority: 9 }), ...ownedBy(theirs) };
    const { message } = await failureOf((await world.host()).update(id, outs, changed));
    expect(message).toContain(ruleId);
    expect(message).toContain(`"${ours}"`);
    expect(writesOf(world)).toEqual([]);
  });

  test("leaves it alone when it is destroyed, and says so", async () => {
    const { world, id, outs, ruleId } = await takenOver();
    const host = await world.host();
    await host.delete(id, outs);
    expect(host.stderr).toContain(`rule ${ruleId} is managed by "${ours}" now, as its mark says, and is not deleted`);
    expect(world.service.rules()).toHaveLength(1);
    expect(writesOf(world)).toEqual([]);
  });

  test("changes and deletes the others of its set, and leaves that one alone", async () => {
    const { world, id, outs, ruleId } = await takenOver("merchantRuleSet");
    const changed = { a: rule(1, { priority: 9 }), b: rule(2, { priority: 9 }) };
    const failure = await failureOf(
      (await world.host("merchantRuleSet")).update(id, outs, { rules: changed, ...ownedBy(theirs) }),
    );
    expect(failure.message).toMatch(new RegExp(`1 of 2 rules failed.*a: .*"${ours}"`, "s"));
    expect(writesOf(world)).toEqual(["update"]);
    const host = await world.host("merchantRuleSet");
    await host.delete(id, failure.partial?.properties ?? {});
    expect(host.stderr).toContain(`rule a (${ruleId}) is managed by "${ours}"`);
    expect(world.service.rules()).toEqual([{ ruleId, rule: markedBy(ours) }]);
  });

  test("is told by a refresh whose the rule is", async () => {
    const { world, id, outs, ruleId } = await takenOver();
    const host = await world.host();
    const seen = await host.read(id, outs);
    expect(seen.inputs.definition).toEqual(rule(1));
    expect(host.stderr).toContain(`rule ${ruleId} is managed by "${ours}" now`);
  });
});

test.each(["warn", "fail"])("onUnmanaged: %s says whose each rule is", async (onUnmanaged) => {
  const world = await open({ contract });
  const other = world.service.put(undefined, markedBy(`${theirs}#x`, 7));
  const nobodys = world.service.put(undefined, rule(8));
  const host = await world.host("merchantRuleSet");
  const made = host.create({ rules: { a: rule(1) }, onUnmanaged, ...ownedBy(ours) });
  const report = `2 rules at the service are not in the set: "rule-7" (${other}, of "${theirs}"), "rule-8" (${nobodys})`;
  if (onUnmanaged === "warn") {
    await made;
    expect(host.stderr).toContain(report);
  } else {
    expect((await failureOf(made)).message).toContain(report);
    expect(writesOf(world)).toEqual([]);
  }
});
