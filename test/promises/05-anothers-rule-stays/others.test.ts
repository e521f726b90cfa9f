import { describe, expect, test } from "vitest";
import { recoverId } from "../../../provider/merchant/words.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { marking as contract, contractOf } from "../../support/stack/contracts.ts";
import { openWorld, type World, writesOf } from "../../support/stack/hooks.ts";
import { failureOf, markBy, ownedBy, ownerIdOf, withoutBits } from "../../support/stack/hosts.ts";

const ours = "shop/test/limits";
const theirs = "bank/prod/caps";

/** The rule number k with the mark of a resource. */
const markedBy = (owner: string, key = "", k = 1, changes: JsonObject = {}): JsonObject =>
  rule(k, { metadata: { managedBy: markBy(owner, key) }, ...changes });

/** The rules as they are, but for the random bits of their marks. */
function liveIn({ service }: World) {
  return service.rules().map(({ ruleId, rule: { metadata, ...live } }) => {
    const managedBy = withoutBits(Object(metadata).managedBy);
    return { ruleId, rule: { ...live, metadata: { managedBy } } };
  });
}

describe("a rule with the mark of another stack", () => {
  test.each([
    ["no adopt", {}],
    ["adopt: true", { adopt: true }],
  ])("is refused by the name of its owner, with %s", async (_case, adopt) => {
    const world = await openWorld({ contract });
    const existing = world.service.put(undefined, markedBy(theirs));
    const host = await world.host("merchantRule", { MERCHANT_RULES_RECOVER: recoverId(ownerIdOf(ours)) });
    const { message } = await failureOf(host.create({ definition: rule(1), ...ownedBy(ours), ...adopt }));
    expect(message).toContain(`rule ${existing} has the same natural key (/name: "rule-1")`);
    expect(message).toContain(`is managed by "${theirs}"`);
    expect(message).toContain(`add adopt: "${existing}"`);
    expect(world.service.rules()).toEqual([{ ruleId: existing, rule: markedBy(theirs) }]);
    expect(writesOf(world)).toEqual([]);
  });

  test("is taken over by its id, which says from whom and rewrites the mark", async () => {
    const world = await openWorld({ contract });
    const existing = world.service.put(undefined, markedBy(theirs));
    const host = await world.host();
    const { id, outs } = await host.create({ definition: rule(1), adopt: existing, ...ownedBy(ours) });
    expect(id).toBe(existing);
    expect(host.stderr).toContain(`rule ${existing} is taken over from "${theirs}"`);
    expect(liveIn(world)).toEqual([{ ruleId: existing, rule: markedBy(ours) }]);
    // Of its own mark the state says the random bits alone.
    expect(outs.marks).toEqual({ "": world.markOf("rule-1").slice(50, 66) });
  });

  test("is taken over by a set by its id", async () => {
    const world = await openWorld({ contract });
    const existing = world.service.put(undefined, markedBy(theirs, "x", 1, { priority: 50 }));
    const host = await world.host("merchantRuleSet");
    await host.create({ rules: { a: rule(1), b: rule(2) }, adopt: { a: existing }, ...ownedBy(ours) });
    expect(host.stderr).toContain(`^ is taken over from "${theirs}": a (${existing})`);
    expect(liveIn(world)[0]).toEqual({ ruleId: existing, rule: markedBy(ours, "a") });
  });

  test("is not taken over where the contract has no update to write another mark: with theirs it could never be changed", async () => {
    const world = await openWorld({ contract: contractOf({ operations: { update: null }, rule: contract.rule }) });
    const existing = world.service.put(undefined, markedBy(theirs));
    for (const definition of [rule(1), rule(1, { priority: 9 })]) {
      const inputs = { definition, adopt: existing, ...ownedBy(ours) };
      const { message } = await failureOf((await world.host()).create(inputs));
      expect(message).toMatch(new RegExp(`rule ${existing} is managed by "${theirs}".*operations\\.update`, "s"));
      expect(message).toContain("remove adopt, and have the rule deleted");
    }
    expect(world.service.rules()).toEqual([{ ruleId: existing, rule: markedBy(theirs) }]);
    world.service.remove(existing);
    const { id, outs } = await (await world.host()).create({ definition: rule(1), ...ownedBy(ours) });
    expect(liveIn(world)).toEqual([{ ruleId: id, rule: markedBy(ours) }]);
    await (await world.host()).delete(id, outs);
    expect(world.service.rules()).toEqual([]);
  });
});

describe("the former owner of a rule that was taken over", () => {
  /** Two rules of theirs, of which the first is ours by now. The mark of the other shows that it is the right place. */
  async function takenOver() {
    const world = await openWorld({ contract });
    const former = await world.host();
    const { id, outs } = await former.create({ definition: rule(1), ...ownedBy(theirs) });
    await former.create({ definition: rule(2), ...ownedBy("bank/prod/others") });
    await (await world.host()).create({ definition: rule(1), adopt: id, ...ownedBy(ours) });
    world.service.resetRequests();
    return { world, id, outs };
  }

  test("does not change it any more", async () => {
    const { world, id, outs } = await takenOver();
    const changed = { definition: rule(1, { priority: 9 }), ...ownedBy(theirs) };
    const { message } = await failureOf((await world.host()).update(id, outs, changed));
    expect(message).toContain(`rule ${id} is managed by "${ours}" now, as its mark says`);
    expect(message).toContain(`add adopt: "${id}"`);
    expect(writesOf(world)).toEqual([]);
  });

  test("leaves it alone when it is destroyed, and says so", async () => {
    const { world, id, outs } = await takenOver();
    const host = await world.host();
    await host.delete(id, outs);
    expect(host.stderr).toContain(`rule ${id} is managed by "${ours}" now, as its mark says, and is not deleted`);
    expect(world.service.rules()).toHaveLength(2);
    expect(writesOf(world)).toEqual([]);
  });

  test("changes and deletes the others of its set, and leaves that one alone", async () => {
    const world = await openWorld({ contract });
    const former = await world.host("merchantRuleSet");
    const { id, outs } = await former.create({ rules: { a: rule(1), b: rule(2) }, ...ownedBy(theirs) });
    const ruleId = String(Object(outs.ruleIds).a);
    await (await world.host()).create({ definition: rule(1), adopt: ruleId, ...ownedBy(ours) });
    world.service.resetRequests();
    const changed = { a: rule(1, { priority: 9 }), b: rule(2, { priority: 9 }) };
    const failure = await failureOf(
      (await world.host("merchantRuleSet")).update(id, outs, { rules: changed, ...ownedBy(theirs) }),
    );
    expect(failure.message).toMatch(new RegExp(`1 of 2 rules failed.*a: .*"${ours}"`, "s"));
    expect(writesOf(world)).toEqual(["update"]);
    const host = await world.host("merchantRuleSet");
    await host.delete(id, failure.partial?.properties ?? {});
    expect(host.stderr).toContain(`rule a (${ruleId}) is managed by "${ours}"`);
    expect(liveIn(world)).toEqual([{ ruleId, rule: markedBy(ours) }]);
  });

  test("is told by a refresh whose the rule is, and keeps its row as it was", async () => {
    const { world, id, outs } = await takenOver();
    world.service.put(id, markedBy(ours, "", 1, { priority: 50 }));
    const host = await world.host();
    const seen = await host.read(id, outs);
    expect(seen.inputs.definition).toEqual(rule(1));
    expect(seen.props).toMatchObject({ notOurs: [""] });
    expect(host.stderr).toContain(`rule ${id} is managed by "${ours}" now`);
    const { message } = await failureOf((await world.host()).update(id, seen.props, seen.inputs));
    expect(message).toContain("remove the resource's row, `pulumi state delete` with its URN");
    expect(writesOf(world)).toEqual([]);
  });
});

test.each(["warn", "fail"])("onUnmanaged: %s says whose each rule is", async (onUnmanaged) => {
  const world = await openWorld({ contract });
  const other = world.service.put(undefined, markedBy(theirs, "x", 7));
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
