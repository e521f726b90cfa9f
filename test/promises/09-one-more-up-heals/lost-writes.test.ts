import { describe, expect, test } from "vitest";
import { many, rule } from "../../support/rules.ts";
import { contractOf, identifyBy, owner, update } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { HookStack, openWorld } from "../../support/stack/hooks.ts";
import { failureOf, ownedBy } from "../../support/stack/hosts.ts";
import { openStack, type Place } from "../../support/stack/place.ts";

const [a, b] = [rule(1), rule(2)];

/** The next DELETE is carried out, but until `honest` is called reads show all that was there before it. */
function showDeletedFor({ shown, front }: Place): void {
  const before = shown();
  front.behave(({ method, path }, pass) => {
    if (method !== "GET") return pass();
    const [asked = ""] = path.split("?");
    const one = before.find(({ id }) => asked.endsWith(`/${id}`));
    return { status: 200, body: one ?? { rules: before } };
  });
}

onBothEngines((engine) => {
  test("a delete that was answered with success while a read still shows the rule leaves a doubt: declared again, the rule is there (readAfter)", async () => {
    const contract = contractOf({ operations: { delete: { identifyBy, readAfter: true } } });
    const { place, stack } = await openStack(engine, { contract });
    await stack.up({ all: { rules: { a, b } } });
    showDeletedFor(place);
    const says = /answered that the rule is deleted, but a read still finds it/;
    await stack.upFails({ all: { rules: { a } } }, {}, says);
    place.front.behave();
    expect(place.names()).toEqual([a.name]);
    await stack.up({ all: { rules: { a, b } } });
    await stack.isUnchanged();
    expect(place.names()).toEqual([a.name, b.name]);
  });

  test("a first delete after which a read still finds the rule leaves the rule in the state of its set", async () => {
    const { place, stack } = await openStack(engine);
    await stack.up({ all: { rules: { a, b } } });
    // The service says yes and does nothing.
    place.front.behave(({ method }, pass) => (method === "DELETE" ? { status: 200, body: {} } : pass()));
    await stack.upFails({ all: { rules: { a } } }, {}, /answered that the rule is deleted, but a read still finds it/);
    place.front.behave();
    // One more up heals: exactly what is declared.
    await stack.up({ all: { rules: { a } } });
    expect(place.names()).toEqual([a.name]);
  });

  test("a doubt under a contract without operations.update is no dead end: the next runs end well, or say what ends it", async () => {
    const contract = contractOf({ operations: { update: null }, limits: { maxAttempts: 1 } });
    const { place, stack } = await openStack(engine, { contract });
    const { front } = place;
    await stack.up({ all: { rules: { a, b } } });
    let isLost = false;
    front.behave(({ method }, pass) => {
      if (method === "DELETE") {
        isLost = true;
        return { status: 504, body: {} };
      }
      return isLost ? { status: 502, body: {} } : pass();
    });
    await stack.upFails({ all: { rules: { a } } }, {}, /the rule may be deleted/);
    front.behave();
    // Meanwhile somebody turns it off by hand; without the doubt, an `up` would not look at it.
    place.edit(b.name, { isActive: false });
    stack.declare({ all: { rules: { a, b } } });
    await stack.run("up");
    const { code, output } = await stack.run("up");
    // Today: "set operations.update in the contract, as the service documents it", for ever.
    expect(code === 0 || /--refresh/.test(output), output).toBe(true);
  });
});

describe("an update that sends only what changed", () => {
  test.each([
    ["PATCH", "a rule", "merchantRule", undefined],
    ["PUT", "a rule", "merchantRule", undefined],
    ["PATCH", "a set", "merchantRuleSet", undefined],
    ["PATCH", "a rule with a mark", "merchantRule", owner],
  ] as const)(
    "by %s and loses its answer is not sent again by the next run: %s",
    async (method, _what, hooks, mark) => {
      const operations = { update: { ...update, method, body: "changes" } } as const;
      const contract = contractOf({ operations, rule: { owner: mark ?? null } });
      const world = await openWorld({ contract });
      const stack = new HookStack(world, hooks);
      const inputs = (priority: number) => ({
        ...(hooks === "merchantRule" ? { definition: rule(1, { priority }) } : { rules: { a: rule(1, { priority }) } }),
        ...ownedBy("shop/test/a"),
      });
      expect(await stack.up({ a: inputs(1) })).toEqual([]);
      // All attempts of this run lose their answers.
      world.service.faults.set({ kind: "close", at: "after", operations: ["update"], times: "always" });
      const failures = await stack.up({ a: inputs(9) });
      expect(world.service.rules()[0]?.rule.priority).toBe(9);
      world.service.resetRequests();
      // An empty change would be refused.
      world.service.faults.set({ kind: "status", status: 422, operations: ["update"], times: "always" });
      expect(await stack.up({ a: inputs(9) })).toEqual([]);
      expect(world.service.requestCount("update")).toBe(0);
      expect(failures.length).toBeLessThanOrEqual(1);
      world.service.resetRequests();
      expect(await stack.up({ a: inputs(9) })).toEqual([]);
      expect(world.service.requests).toEqual([]);
    },
  );
});

test.each([
  ["a list", contractOf()],
  ["no list", contractOf({ operations: { list: null } })],
])(
  "a destroy of 12 rules that fails in part says what is so, and the second one is quiet and succeeds, under a contract with %s",
  async (_case, contract) => {
    const world = await openWorld({ contract });
    const rules = many(12);
    const { id, outs } = await (await world.host("merchantRuleSet")).create({ rules });
    world.service.faults.set({ kind: "status", status: 403, operations: ["delete"], request: 3, times: 5 });
    const { message } = await failureOf((await world.host("merchantRuleSet")).delete(id, outs));
    expect(message).toMatch(/5 of 12 rules failed; the others are deleted, but all of them are still in the state/);
    expect(message).toContain("run `pulumi destroy` again");
    expect(world.service.rules()).toHaveLength(5);
    world.service.resetRequests();
    const host = await world.host("merchantRuleSet");
    await host.delete(id, outs);
    expect(world.service.rules()).toEqual([]);
    expect(host.stderr).toBe("");
    expect(world.service.requestCount("delete")).toBe(5);
  },
);

test("an up --refresh after a destroy that failed in part makes again what was deleted", async () => {
  const world = await openWorld();
  const rules = many(12);
  const { id, outs } = await (await world.host("merchantRuleSet")).create({ rules });
  world.service.faults.set({ kind: "status", status: 403, operations: ["delete"], request: 3, times: 5 });
  const { message } = await failureOf((await world.host("merchantRuleSet")).delete(id, outs));
  expect(message).toContain("`pulumi up --refresh`");
  const host = await world.host("merchantRuleSet");
  const seen = await host.read(id, outs);
  await host.update(id, seen.props, { rules });
  expect(world.service.rules()).toHaveLength(12);
});
