import { describe, expect, test } from "vitest";
import { ownerOf } from "../../../provider/merchant/mark.ts";
import { isJsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { marking as contract, contractOf, lagging, marking, owner, update } from "../../support/stack/contracts.ts";
import { onBothEngines, type Stack } from "../../support/stack/engines.ts";
import { openWorld, writesOf } from "../../support/stack/hooks.ts";
import { failureOf, markBy, ownedBy, ownerIdOf, saidBy, withoutBits } from "../../support/stack/hosts.ts";
import { openPlace, openStack, othersMark, type Place } from "../../support/stack/place.ts";
import { marksOf } from "../../support/stack/service.ts";

const limits = "shop/test/limits";
const mark = markBy(limits);

describe("the mark of a rule's owner", () => {
  test("is written by create, and is left out of drift and diff", async () => {
    const world = await openWorld({ contract });
    const host = await world.host();
    const inputs = { definition: rule(1), ...ownedBy(limits) };
    const { id, outs } = await host.create(inputs);
    expect(outs.definition).toEqual(rule(1));
    // What decides comes first, in hexadecimal digits; the names are for people.
    expect(mark).toMatch(new RegExp(`^${ownerIdOf(limits)}\\.[0-9a-f]{16}\\.[0-9a-f]{16} shop/test/limits$`));
    const live = world.named("rule-1");
    expect(live).toEqual({ ruleId: id, rule: rule(1, { metadata: { managedBy: world.markOf("rule-1") } }) });
    expect(withoutBits(world.markOf("rule-1"))).toBe(mark);
    expect(await host.diff(id, outs, inputs)).toMatchObject({ changes: "none" });
    const seen = await (await world.host()).read(id, outs);
    expect(seen.inputs.definition).toEqual(rule(1));
  });

  test("is mended by the next write where somebody took it away, beside a rule that shows whose the place is", async () => {
    const world = await openWorld({ contract });
    const first = await world.host();
    const inputs = { definition: rule(1), ...ownedBy(limits) };
    const { id, outs } = await first.create(inputs);
    const others = { definition: rule(2), ...ownedBy("shop/test/others") };
    const other = await first.create(others);
    const before = world.markOf("rule-1");
    world.service.put(id, rule(1));
    const host = await world.host();
    await host.diff(other.id, other.outs, others);
    await host.update(id, outs, { ...inputs, definition: rule(1, { priority: 9 }) });
    // Mended with the rule's own bits, which it has for life.
    expect(world.markOf("rule-1")).toBe(before);
  });

  test.each(["declared", "changes", "merged"] as const)("stays with an update whose body is %s", async (body) => {
    const world = await openWorld({
      contract: contractOf({ operations: { update: { ...update, body } }, rule: { owner } }),
    });
    const host = await world.host("merchantRuleSet");
    const { id, outs } = await host.create({ rules: { a: rule(1) }, ...ownedBy(limits) });
    const before = marksOf(world);
    expect(before.map(withoutBits)).toEqual([markBy(limits, "a")]);
    const next = await host.update(id, outs, { rules: { a: rule(1, { priority: 9 }) }, ...ownedBy(limits) });
    expect(next.rules).toEqual({ a: rule(1, { priority: 9 }) });
    expect(marksOf(world)).toEqual(before);
    expect(world.service.rules()[0]?.rule.priority).toBe(9);
  });

  test("stands beside what is declared around it, which is managed as any field", async () => {
    const world = await openWorld({ contract });
    const host = await world.host();
    const inputs = { definition: rule(1, { metadata: { x: 1 } }), ...ownedBy(limits) };
    const { id, outs } = await host.create(inputs);
    const managedBy = world.markOf("rule-1");
    expect(world.service.rules()[0]?.rule.metadata).toEqual({ x: 1, managedBy });
    expect(await host.diff(id, outs, inputs)).toMatchObject({ changes: "none" });
    expect((await (await world.host()).read(id, outs)).inputs.definition).toEqual(inputs.definition);
    const changed = { definition: rule(1, { metadata: { x: 2 } }), ...ownedBy(limits) };
    await host.update(id, outs, changed);
    expect(world.service.rules()[0]?.rule.metadata).toEqual({ x: 2, managedBy });
    world.service.put(id, rule(1, { metadata: { x: 3, managedBy } }));
    const drifted = await (await world.host()).read(id, outs);
    expect(drifted.inputs.definition).toEqual(rule(1, { metadata: { x: 3 } }));
  });

  test("declared by a program itself is refused by check, with its path", async () => {
    const world = await openWorld({ contract });
    const host = await world.host();
    const { failures } = await host.check({ definition: rule(1, { metadata: { managedBy: "me" } }) });
    expect(failures).toEqual([{ property: "definition", reason: expect.stringContaining("/metadata/managedBy") }]);
    const set = await host.as("merchantRuleSet").check({ rules: { a: rule(1, { metadata: { managedBy: null } }) } });
    expect(set.failures).toMatchObject([{ property: "rules.a" }]);
  });

  test.each([
    ["long", "project-".repeat(20), "stack-".repeat(40), "resource-".repeat(40), "k".repeat(200)],
    ["not ASCII", "Zahlungsregeln-für-Händler", "prüfung", "規則の一覧".repeat(20), "ключ ".repeat(39).trim()],
    ["with the characters that part them", "a/b", "c#d", "e#f/g", "h#i".replace("#", "-")],
  ])("is at most 200 bytes of ASCII for names that are %s", async (_case, project, stack, resource, key) => {
    const world = await openWorld({ contract });
    const host = await world.host("merchantRuleSet");
    const inputs = { rules: { [key]: rule(1), other: rule(2) }, ...ownedBy(ownerOf(project, stack, resource)) };
    const { id, outs } = await host.create(inputs);
    const marks = marksOf(world).map(String);
    expect(new Set(marks).size).toBe(2);
    for (const mark of marks) {
      expect(Buffer.byteLength(mark)).toBeLessThanOrEqual(200);
      expect(mark).toMatch(/^[\x20-\x7e]+$/);
    }
    const again = await world.host("merchantRuleSet");
    await again.update(id, outs, { ...inputs, rules: { [key]: rule(1, { priority: 9 }), other: rule(2) } });
    expect(marksOf(world)).toEqual(marks);
    await again.delete(id, outs);
    expect(world.service.rules()).toEqual([]);
  });

  test("of two long names that begin alike differs", () => {
    const long = "r".repeat(150);
    expect(markBy(ownerOf("p", "s", `${long}1`))).not.toBe(markBy(ownerOf("p", "s", `${long}2`)));
  });

  test("is not asked for where a contract has no place for it", async () => {
    const world = await openWorld();
    await (await world.host()).create({ definition: rule(1), ...ownedBy(limits) });
    expect(world.service.rules()[0]?.rule).toEqual(rule(1));
    expect(writesOf(world)).toEqual(["create"]);
  });

  test("of this resource lets a run after a killed one go on without a word from the user", async () => {
    const world = await openWorld({ contract });
    const marked = (key: string) => ({ metadata: { managedBy: markBy(limits, key) } });
    const left = world.service.put(undefined, rule(1, marked("a")));
    const old = world.service.put(undefined, rule(2, { priority: 50, ...marked("b") }));
    const inputs = { rules: { a: rule(1), b: rule(2) }, ...ownedBy(limits) };
    const host = await world.host("merchantRuleSet");
    const failure = await failureOf(host.create(inputs));
    // What differs is not overwritten blindly: the state has it as it is, and the next run makes it as declared.
    expect(failure.message).toMatch(/b: .*differs at priority.*run `pulumi up` again/s);
    expect(failure.partial?.properties).toMatchObject({
      ruleIds: { a: left, b: old },
      rules: { a: rule(1), b: rule(2, { priority: 50 }) },
    });
    expect(writesOf(world)).toEqual([]);
    const { id, properties } = failure.partial ?? { id: "", properties: {} };
    const next = await world.host("merchantRuleSet");
    await next.update(id, properties, inputs);
    expect(writesOf(world)).toEqual(["update"]);
    expect(world.service.rules().map(({ rule: { priority } }) => priority)).toEqual([1, 2]);
    expect(saidBy(next)).toEqual(["limits: 1 updated and verified, 1 unchanged"]);
  });
});

const two = { Alpha: { definition: rule(1) }, Beta: { definition: rule(2) } };

/** A service that keeps another mark than it is sent. */
async function keeping(mark: (sent: string) => string): Promise<{ place: Place; stack: Stack }> {
  const { place, stack } = await openStack("local", { contract: marking });
  place.front.behave(({ method, body }, pass) => {
    if (method === "GET" || method === "DELETE" || !isJsonObject(body)) return pass();
    const { managedBy } = Object(body.metadata);
    return pass({ body: { ...body, metadata: { managedBy: mark(String(managedBy)) } } });
  });
  return { place, stack };
}

test.each<[string, (sent: string) => string]>([
  ["keeps the first ten characters of a mark", (sent) => sent.slice(0, 10)],
  ["keeps the first thirty characters of a mark", (sent) => sent.slice(0, 30)],
])(
  "a service that %s shows it in the first run, which fails and says where; a destroy leaves nothing in force",
  async (_case, mark) => {
    const { place, stack } = await keeping(mark);
    await stack.upFails(two, {}, /rule\.owner/);
    await stack.succeeds("destroy");
    expect(place.service.rules()).toEqual([]);
  },
);

test("a service that writes marks in small letters is refused in the first run, or is no hindrance at all", async () => {
  const { place, stack } = await keeping((sent) => sent.toLowerCase());
  stack.declare(two);
  const first = await stack.run("up");
  if (first.code !== 0) expect(first.output).toMatch(/rule\.owner/);
  else {
    await stack.up({ ...two, Alpha: { definition: rule(1, { priority: 50 }) } });
    expect(place.definitions().map(({ priority }) => priority)).toEqual([50, 2]);
  }
  await stack.succeeds("destroy");
  expect(place.service.rules()).toEqual([]);
});

onBothEngines((engine) => {
  test("an owner and a connection are in the state, rules refer to both, and their marks begin with the owner id; another stack has another", async () => {
    const place = await openPlace({ contract: marking });
    const long = { [`resource-${"x".repeat(80)}`]: { definition: rule(1) }, grün: { definition: rule(2) } };
    const stack = await place.stack(engine);
    const { output } = await stack.up(long);
    expect(output).toMatch(/Connection/);
    const [connection, ...others] = stack.resources("Connection");
    expect(others).toEqual([]);
    expect(connection?.urn).toMatch(/::default$/);
    expect(stack.resources("Owner")).toMatchObject([{ id: expect.stringMatching(/^[0-9a-f]{32}$/) }]);
    const id = String(stack.resources("Owner")[0]?.id);
    expect(connection).toMatchObject({ id: "default", outputs: { link: expect.stringMatching(`^${id} `) } });
    for (const { inputs } of stack.resources("MerchantRule"))
      expect(inputs).toMatchObject({ __connection: connection?.outputs.link });
    const marks = place.service.rules().map(({ rule: { metadata } }) => String(Object(metadata).managedBy));
    for (const mark of marks) {
      expect(mark).toMatch(new RegExp(`^${id}\\.[0-9a-f]{16}\\.[0-9a-f]{16} lifecycle/test/[ -~]+$`));
      expect(mark.length).toBeLessThanOrEqual(200);
    }
    expect(new Set(marks.map((mark) => mark.slice(33, 49))).size).toBe(2);

    const second = await place.stack(engine);
    await second.up({ c: { definition: rule(3) } });
    expect(second.resources("Owner")).toMatchObject([{ id: expect.not.stringMatching(id) }]);
    await stack.succeeds("destroy");
    expect(place.service.rules().map(({ rule: { name } }) => name)).toEqual(["rule-3"]);
  });
});

const [a, b, c] = [rule(1), rule(2), rule(3)];

test.each([
  ["DELETE", 0],
  ["PUT", 0],
  ["DELETE", 20],
  ["PUT", 20],
  ["DELETE", null],
  ["PUT", null],
])(
  "a rule that another stack marked while this run's first %s was under way is left alone, as the list read after that shows (lag %s)",
  async (verb, lagMs) => {
    const { place, stack } = await openStack("local", { contract: contractOf({ ...lagging(lagMs), rule: { owner } }) });
    await stack.up({ all: { rules: { a, b, c } } });
    let other = "";
    place.front.behave(({ method }, pass) => {
      if (method === verb && other === "") {
        // Another stack adopts the rule that is not written first.
        other = place.idOf(b.name);
        place.service.put(other, { ...b, priority: 77, metadata: { managedBy: othersMark } });
      }
      return pass();
    });
    stack.declare({
      all: { rules: verb === "DELETE" ? { c } : { a: { ...a, isActive: false }, b: { ...b, isActive: false }, c } },
    });
    const { output } = await stack.run("up");
    const now = place.service.rules().find((each) => each.ruleId === other)?.rule;
    expect({ priority: now?.priority, isActive: now?.isActive }, output).toEqual({ priority: 77, isActive: true });
  },
);
