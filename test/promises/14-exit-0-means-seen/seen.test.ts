import { expect, test, vi } from "vitest";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, lagging, list, owner, update, withoutList } from "../../support/stack/contracts.ts";
import { openWorld, type World } from "../../support/stack/hooks.ts";
import { good, ModelStack, refused } from "../../support/stack/model-stack.ts";
import type { ServeOptions } from "../../support/stack/service.ts";

const limits = { maxAttempts: 1 } as const;
const all = (more = 0): Record<string, JsonObject> => ({
  all: { rules: Object.fromEntries([1, 2, 3, 4].map((k) => [`r${k}`, rule(k, { priority: k + more })])) },
});
const single = (more = 0): Record<string, JsonObject> =>
  Object.fromEntries([1, 2, 3, 4].map((k) => [`r${k}`, { definition: rule(k, { priority: k + more }) }]));
const off = (program: Record<string, JsonObject>): Record<string, JsonObject> =>
  JSON.parse(JSON.stringify(program).replaceAll('"isActive":true', '"isActive":false'));
const shapes = [
  ["a set", all],
  ["rules", single],
] as const;

async function open(options: Parameters<typeof openWorld>[0] & ServeOptions): Promise<[World, ModelStack]> {
  const world = await openWorld(options);
  for (const k of [91, 92]) world.service.put(undefined, rule(k));
  return [world, new ModelStack(world)];
}

/** What the four rules are at the service. */
const priorities = ({ definitions }: World) =>
  definitions().flatMap(({ name, priority }) => (String(name).startsWith("rule-9") ? [] : [priority]));

const declaring = { update: { ...update, body: "declared" } } as const;

test.each([
  ["a list", contractOf({ limits }), ["r1"]],
  // What cannot be read is not sent back.
  ["no list", { ...withoutList, limits }, ["r1"]],
  // Without a look nothing shows what the others would do: each is the first, and what is before it cannot be read.
  [
    "no list, whose update sends what is declared",
    { ...withoutList, limits, operations: { ...withoutList.operations, ...declaring } },
    ["r1", "r2", "r3", "r4"],
  ],
])(
  "what cannot be read after it was written is not called done, under a contract with %s: the next run looks",
  async (_, contract, doubtful) => {
    let isFailing = true;
    const onRequest = ({ operation }: { operation: unknown }): void => {
      if (isFailing && operation === "update")
        world.service.faults.set({ kind: "status", status: 500, operations: ["list", "get"], times: "always" });
    };
    const [world, stack] = await open({ contract, onRequest });
    await good(stack.up(all()));
    await refused(stack.up(all(50)), /r1.*written, not verified/);
    expect(Object.keys(Object(stack.outputsOf("all").doubtful)).sort()).toEqual(doubtful);
    world.service.faults.clear();
    isFailing = false;
    await good(stack.up(all(50)));
    expect(priorities(world)).toEqual([51, 52, 53, 54]);
    world.counted();
    await good(stack.up(all(50)));
    expect(world.counted()).toEqual({});
  },
);

test.each(shapes)(
  "an update of %s that was carried out and not answered stays its own error, and the state has the rule as it is seen",
  async (_, program) => {
    const [world, stack] = await open({ contract: contractOf({ limits }) });
    await good(stack.up(program()));
    world.service.faults.set({ kind: "status", status: 500, at: "after", operations: ["update"], request: 2 });
    const ended = await refused(stack.up(program(50)), /500/);
    expect(ended.failures).toHaveLength(1);
    world.counted();
    await good(stack.up(program(50)));
    expect(world.counted()).not.toHaveProperty("update");
    expect(priorities(world)).toEqual([51, 52, 53, 54]);
  },
);

test.each(shapes)(
  "a list that is behind for one reading longer than the contract says makes no write of %s a failure",
  async (_, program) => {
    for (const request of [2, 3]) {
      const [world, stack] = await open({ contract: contractOf() });
      const stale = { kind: "stale-list", request, times: 1 } as const;
      world.service.faults.set(stale);
      await good(stack.up(program()));
      world.service.faults.set(stale);
      await good(stack.up(off(program())));
      world.service.faults.set(stale);
      await good(stack.up({}));
      expect(world.names()).toEqual(["rule-91", "rule-92"]);
    }
  },
);

test.each([
  ["create-twice", 0],
  ["write-others", 50],
] as const)(
  "a list that does not show what was written says nothing of others: %s is seen by the next reading",
  async (kind, more) => {
    const [world, stack] = await open({ contract: contractOf(), spoken: contractOf(lagging(20)) });
    await good(stack.up(more === 0 ? {} : single()));
    world.service.faults.set([
      { kind, request: 1 },
      { kind: "stale-list", request: 2, times: 1 },
    ]);
    await refused(
      stack.up(single(more)),
      kind === "create-twice" ? /(is|are) new and like/ : /(has|have) by now what was sent/,
    );
    expect(world.service.requestCount(more === 0 ? "create" : "update")).toBe(1);
  },
);

test("where a list never shows what was written, nothing tells of other rules: the run names the setting, and the state has what GETs show", async () => {
  const [world, stack] = await open({ contract: contractOf() });
  const rules = (isActive: boolean): Record<string, JsonObject> => ({
    few: { rules: { a: rule(1, { isActive }) } },
    all: { rules: Object.fromEntries([2, 3, 4, 5, 6, 7, 8].map((k) => [`r${k}`, rule(k, { isActive })])) },
  });
  await good(stack.up(rules(true)));
  world.service.faults.set({ kind: "stale-list" });
  const ended = await refused(
    stack.up(rules(false)),
    /written, not verified.*operations\.list\.lagMs/s,
    /nobody can tell whether other rules were changed.*operations\.list\.lagMs/s,
  );
  expect(ended.failures).toHaveLength(2);
  expect(stack.outputsOf("few").rules).toEqual({ a: rule(1, { isActive: false }) });
  expect(stack.outputsOf("few").doubtful ?? {}).toEqual({});
  world.service.faults.clear();
  await good(stack.up(rules(false)));
  expect(world.definitions().filter(({ isActive }) => isActive === false)).toHaveLength(8);
});

test("under a contract with a list of summaries a set is changed, and a lie about one of its rules is seen", async () => {
  const spoken = contractOf({ operations: { list: { ...list, summaries: true } } });
  const [world, stack] = await open({ contract: contractOf(), spoken });
  await good(stack.up(all()));
  await good(stack.up(all(50)));
  world.service.faults.set({
    kind: "store-otherwise",
    at: "/priority",
    value: 999,
    operations: ["update"],
    request: 3,
  });
  await refused(stack.up(all(70)), /priority/);
});

test.each(["remove", "insert"] as const)(
  "pages that shift while they are read (%s) are no harm to others, and hide none",
  async (change) => {
    const pagination = { type: "offset", offset: "skip", limit: "limit" } as const;
    const contract = contractOf({
      operations: { list: { ...list, pagination } },
      rule: { owner },
      limits: { pageSize: 2 },
    });
    const [world, stack] = await open({ contract });
    const shifting = { kind: "shifting-list", change } as const;
    world.service.faults.set(shifting);
    await good(stack.up(all()));
    await good(stack.up(all(50)));
    expect(priorities(world)).toEqual([51, 52, 53, 54]);
    world.service.faults.set([{ kind: "write-others", others: "all", operations: ["update"], request: 1 }, shifting]);
    await refused(stack.up(all(70)), /(has|have) by now what was sent/);
  },
);

test("harm to a rule of another resource is said by the resource whose request did it, also by its next run, until a refresh has seen it", async () => {
  const [world, stack] = await open({ contract: contractOf() });
  const program = (more: number) => ({ ...all(more), other: { definition: rule(5) }, last: { rules: { a: rule(6) } } });
  await good(stack.up(program(0)));
  const harmed = world.idOf("rule-5");
  world.service.faults.set({ kind: "write-others", others: "all", operations: ["update"], request: 1 });
  const ended = await refused(stack.up(program(50)), new RegExp(`rules .*${harmed}.* have by now what was sent`));
  expect(ended.text).toMatch(/operations\.update/);
  expect(world.service.requestCount("update")).toBe(1);
  world.service.faults.clear();
  // The other resource's state has what is declared, so that nothing else would look at its rule.
  for (let run = 1; run <= 2; run += 1)
    await refused(stack.up(program(50)), new RegExp(`others of this stack: .*${harmed}`), /`pulumi up --refresh`/);
  await good(stack.refreshedUp(program(50)));
  expect(priorities(world)).toEqual([51, 52, 53, 54, 5, 6]);
  await good(stack.up(program(50)));
});

test("harm that is seen later than the first is remembered beside it, and named", async () => {
  let [updates, atSecond] = [0, (): void => {}];
  const onRequest = ({ operation }: { operation: unknown }): void => {
    if (operation === "update") updates += 1;
    if (updates === 2) atSecond();
  };
  const [world, stack] = await open({ contract: contractOf({ operations: declaring }), onRequest });
  const others = { y: { definition: rule(5) }, z: { definition: rule(6) } };
  await good(stack.up({ ...single(), ...others }));
  const [y, z] = [world.idOf("rule-5"), world.idOf("rule-6")];
  const harm = (ruleId: string, k: number): void => {
    const { actions: _, ...less } = rule(k);
    world.service.put(ruleId, less);
  };
  atSecond = () => harm(y, 5);
  world.service.faults.set({ kind: "hold", operations: ["update"], request: 3 });
  const looks = world.service.requestCount("get");
  const { r4: _, ...three } = single(50);
  const run = stack.up({ ...single(), ...three, ...others });
  await world.service.faults.nextHeld();
  await vi.waitFor(() => expect(world.service.requestCount("get")).toBeGreaterThan(looks));
  harm(z, 6);
  world.service.faults.release();
  await refused(run, `rule ${y} has lost fields`, `rule ${z} has lost fields`);
  const harmed = Object.keys(three).flatMap((name) => stack.outputsOf(name).harmed ?? []);
  expect(harmed.sort()).toEqual([y, z].sort());
});

test("a rule that somebody deletes before its delete is sent is no harm", async () => {
  const [world, stack] = await open({ contract: contractOf() });
  await good(stack.up(all()));
  world.service.faults.set({ kind: "hold", operations: ["delete"], request: 2 });
  const run = stack.up({});
  await world.service.faults.nextHeld();
  for (const {
    ruleId,
    rule: { name },
  } of world.service.rules())
    if (!String(name).startsWith("rule-9")) world.service.remove(ruleId);
  world.service.faults.release();
  await good(run);
  expect(world.names()).toEqual(["rule-91", "rule-92"]);
});
