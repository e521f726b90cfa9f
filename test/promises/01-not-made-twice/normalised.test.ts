import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, update } from "../../support/stack/contracts.ts";
import { HookStack, openWorld, writesOf } from "../../support/stack/hooks.ts";
import { failureOf } from "../../support/stack/hosts.ts";

const padded = rule(1, { name: "padded " });
const kept = rule(1, { name: "padded" });

describe("a service that keeps another natural key than was declared", () => {
  test.each([
    ["create", undefined],
    ["update", rule(1)],
  ])("is said with its path after %s, and the state has what the service keeps", async (_case, before) => {
    const world = await openWorld({ allowDuplicates: true });
    const host = await world.host();
    const made = before === undefined ? undefined : await host.create({ definition: before });
    world.service.faults.set({ kind: "normalise" });
    const failure = await failureOf(
      made === undefined
        ? host.create({ definition: padded })
        : host.update(made.id, made.outs, { definition: padded }),
    );
    expect(failure.message).toMatch(/RULE_DIFFERS/);
    expect(failure.message).toMatch(/it differs at name\b/);
    expect(failure.partial?.properties).toMatchObject({ definition: kept });
    expect(world.service.rules()).toEqual([{ ruleId: failure.partial?.id, rule: kept }]);
  });

  test.each([
    ["a rule, changed in place", "merchantRule", update],
    ["a set, changed in place", "merchantRuleSet", update],
    ["a set, replaced", "merchantRuleSet", null],
  ] as const)("does not get a second rule by the next runs: %s", async (_case, hooks, updating) => {
    const world = await openWorld({
      contract: contractOf({ operations: { update: updating } }),
      allowDuplicates: true,
    });
    world.service.faults.set({ kind: "normalise" });
    const stack = new HookStack(world, hooks);
    const inputs = (definition: typeof padded) =>
      hooks === "merchantRule" ? { definition } : { rules: { a: definition } };
    for (let run = 1; run <= 3; run += 1) {
      const [message] = await stack.up({ a: inputs(padded) });
      expect(message).toMatch(/(differs at|still shows) (.*\.)?name\b/);
      expect(world.service.rules()).toMatchObject([{ rule: kept }]);
    }
    // The advice: declared as the service keeps it.
    expect(await stack.up({ a: inputs(kept) })).toEqual([]);
    expect(world.service.rules()).toMatchObject([{ rule: kept }]);
    world.service.resetRequests();
    expect(await stack.up({ a: inputs(kept) })).toEqual([]);
    expect(world.service.requests).toEqual([]);
  });

  test("ends the run of a set after the first such rule, and the next run, without it, makes the others", async () => {
    const world = await openWorld();
    world.service.faults.set({ kind: "normalise" });
    const stack = new HookStack(world, "merchantRuleSet");
    const [message] = await stack.up({ all: { rules: { a: padded, b: rule(2) } } });
    expect(message).toMatch(/1 of 2 rules failed.*it differs at name\b.*1 more were not tried/s);
    expect(stack.state[0]?.outputs.rules).toEqual({ a: kept });
    expect(await stack.up({ all: { rules: { a: kept, b: rule(2) } } })).toEqual([]);
    expect(world.service.rules()).toHaveLength(2);
  });
});

describe("a service that keeps another form than was declared, and does not show it in its answers", () => {
  const unshown = [
    ["the id alone", contractOf(), "id"],
    ["nothing to an update", contractOf({ operations: { update: { ...update, success: [204] } } }), "id"],
  ] as const;

  test.each(unshown)("is read after each write, where it answers %s", async (_case, contract, answers) => {
    const world = await openWorld({ contract, answers });
    const stack = new HookStack(world, "merchantRuleSet");
    const set = (last: JsonObject) => ({ all: { rules: { a: rule(2), b: rule(3), c: last } } });
    world.service.faults.set({ kind: "normalise" });
    // The first rules of the run come back as they were sent: that says nothing of the next.
    const [made] = await stack.up(set(padded));
    expect(made).toMatch(/1 of 3 rules failed.*RULE_DIFFERS/s);
    expect(made).toMatch(/it differs at name\b/);
    expect(Object(stack.state[0]?.outputs.rules).c).toEqual(kept);
    // The advice: declared as the service keeps it. Then nothing is ever written again.
    expect(await stack.up(set(kept))).toEqual([]);
    world.service.resetRequests();
    expect(await stack.refresh()).toEqual([]);
    expect(await stack.up(set(kept))).toEqual([]);
    expect(writesOf(world)).toEqual([]);
    const [changed] = await stack.up(set({ ...kept, name: "other " }));
    expect(changed).toMatch(/it differs at name\b/);
    expect(Object(stack.state[0]?.outputs.rules).c).toEqual({ ...kept, name: "other" });
  });

  test("of which a read still shows what was before is not done, and the next run, which sees it done, sends nothing", async () => {
    const world = await openWorld({
      answers: "id",
      onRequest: ({ operation }) => {
        if (operation === "update") world.service.put("1", rule(1));
      },
      ruleIds: "sequential",
    });
    const host = await world.host();
    const { id, outs } = await host.create({ definition: rule(1) });
    const changed = rule(1, { priority: 9 });
    const { message, partial } = await failureOf(host.update(id, outs, { definition: changed }));
    expect(message).toMatch(/still shows priority as before/);
    const behind = partial?.properties ?? outs;
    expect(behind).toMatchObject({ definition: rule(1) });
    world.service.put("1", changed);
    world.service.resetRequests();
    const next = await world.host();
    const seen = await next.update(id, (await next.read(id, behind)).props, { definition: changed });
    expect(seen).toMatchObject({ definition: changed });
    expect(writesOf(world)).toEqual([]);
    expect(await next.diff(id, seen, { definition: changed })).toMatchObject({ changes: "none" });
  });
});
