import { describe, expect, test } from "vitest";
import { many, rule } from "../support/rules.ts";
import { contractOf, list } from "../support/stack/contracts.ts";
import { openWorld, writesOf } from "../support/stack/hooks.ts";
import { failureOf, resource, saidBy } from "../support/stack/hosts.ts";

const abc = { a: rule(1), b: rule(2), c: rule(3) };

/** A set that has made its rules, and a host as the next run has it. */
async function made(inputs: Parameters<typeof resource>[1] = {}) {
  const world = await openWorld();
  const first = await world.host("merchantRuleSet");
  const declared = resource("all", { rules: abc, ...inputs });
  const { id, outs } = await first.create(declared);
  world.asked();
  return { world, first, id, outs, host: await world.host("merchantRuleSet") };
}

describe("a set that would lose every rule", () => {
  test("is refused in the preview when it is empty, and allowed when the program says so", async () => {
    const { id, outs, host, world } = await made();
    const { failures } = await host.check({ rules: {} }, { rules: abc });
    expect(failures).toEqual([{ property: "rules", reason: expect.stringContaining("allowEmpty: true") }]);
    expect((await host.check({ rules: {}, allowEmpty: true }, { rules: abc })).failures).toEqual([]);
    expect((await host.check({ rules: {}, allowEmpty: "yes" })).failures).toEqual([
      { property: "allowEmpty", reason: "must be true or false" },
    ]);
    await host.update(id, outs, resource("all", { rules: {}, allowEmpty: true }));
    expect(world.service.rules()).toEqual([]);
  });

  test("is refused in the preview when it declares others alone, and allowed when the program says so", async () => {
    const { id, outs, host, world } = await made();
    const others = { x: rule(7), y: rule(8) };
    const { message } = await failureOf(host.diff(id, outs, resource("all", { rules: others })));
    expect(message).toContain("deletes every rule that the set has (3) and declares 2 others");
    expect(message).toContain("allowEmpty: true");
    const allowed = resource("all", { rules: others, allowEmpty: true });
    expect(await host.diff(id, outs, allowed)).toMatchObject({ changes: "unknown" });
    // One that stays, under another key or with another definition, is enough.
    for (const kept of [{ renamed: rule(1) }, { a: rule(1, { priority: 77 }) }]) {
      const next = await world.host("merchantRuleSet");
      const some = resource("all", { rules: { ...others, ...kept } });
      expect(await next.diff(id, outs, some)).toMatchObject({ changes: "unknown" });
    }
    expect(world.asked()).toEqual([]);
  });

  test("shows no change when allowEmpty is added or removed", async () => {
    const { id, outs, host } = await made();
    expect(await host.diff(id, outs, resource("all", { rules: abc, allowEmpty: true }))).toMatchObject({
      changes: "none",
    });
  });
});

describe("what a run does is said rule by rule", () => {
  test("by the preview: rules and paths, and no value", async () => {
    const { id, outs, host, world } = await made();
    const next = {
      a: rule(1, { priority: 77, conditions: [{ field: "card", operator: "eq", value: "hidden-value" }] }),
      b: rule(2),
      "new one": rule(9),
    };
    await host.diff(id, outs, resource("all", { rules: next }));
    const [sums, ...lines] = host.stderr.split("\n");
    expect(sums).toBe("all: 1 to delete, 1 to update, 1 to create, 1 unchanged");
    expect(lines).toEqual(expect.arrayContaining(["  ~ rules.a.priority", '  + rules["new one"]', "  - rules.c"]));
    expect(lines.filter((line) => !/^ {2}~ rules\.a\.conditions/.test(line))).toHaveLength(3);
    expect(host.stderr).not.toContain("hidden-value");
    expect(world.asked()).toEqual([]);
  });

  test("by the preview: of very many rules the first, and how many more there are", async () => {
    const world = await openWorld();
    const rules = many(60);
    const { id, outs } = await (await world.host("merchantRuleSet")).create(resource("all", { rules }));
    const host = await world.host("merchantRuleSet");
    const changed = Object.fromEntries(Object.keys(rules).map((key, k) => [key, rule(k, { priority: 500 + k })]));
    await host.diff(id, outs, resource("all", { rules: changed }));
    const lines = host.stderr.split("\n");
    expect(lines).toHaveLength(22);
    expect(lines[0]).toBe("all: 60 to update");
    expect(lines.at(-1)).toBe("  and 40 more rules");
  });

  test("nothing, by the preview of a set that stays as it is", async () => {
    const { id, outs, host } = await made();
    await host.diff(id, outs, resource("all", { rules: abc }));
    expect(host.stderr).toBe("");
  });

  test("by the run at its end: how many were created, updated, deleted and left as they are", async () => {
    const { first, id, outs, host } = await made();
    expect(saidBy(first)).toEqual(["all: 3 created and verified"]);
    const next = { a: rule(1), b: rule(2, { priority: 77 }), d: rule(4) };
    await host.update(id, outs, resource("all", { rules: next }));
    expect(host.stderr).toBe(
      "all: 1 created and verified, 1 updated and verified, 1 deleted and verified, 1 unchanged",
    );
  });

  test.each([
    [{ list: null }, "the contract has no operations.list"],
    [{ list: { ...list, summaries: true } }, "operations.list has summaries"],
  ])(
    "once by a run that wrote without a list of whole rules: that not all others were looked at (%o)",
    async (operations, why) => {
      const spoken = contractOf({ operations, rule: { naturalKey: null } });
      const world = await openWorld({ contract: contractOf(), spoken });
      const host = await world.host("merchantRuleSet");
      const { id, outs } = await host.create(resource("all", { rules: { a: rule(1) } }));
      await host.create(resource("more", { rules: { b: rule(2) } }));
      const few = ` (at most 5 other rules were looked at: ${why})`;
      expect(saidBy(host)).toEqual([`all: 1 created and verified${few}`, "more: 1 created and verified"]);
      const next = await world.host("merchantRuleSet");
      await next.update(id, outs, resource("all", { rules: { a: rule(1) } }));
      expect(saidBy(next)).toEqual(["all: 1 unchanged"]);
    },
  );

  test("by the run at its end: what was taken over, each by name, and what failed", async () => {
    const world = await openWorld();
    const ids = [1, 2].map((k) => world.service.put(undefined, rule(k)));
    const host = await world.host("merchantRuleSet");
    await host.create(resource("all", { rules: { a: rule(1), b: rule(2), c: rule(3) }, adopt: true }));
    expect(saidBy(host)).toEqual([
      "all: 1 created and verified, 2 taken over",
      `  ^ is as declared and is taken over: a (${ids[0]}), b (${ids[1]})`,
    ]);
    expect(writesOf(world)).toEqual(["create"]);
    const other = await world.host("merchantRuleSet");
    await failureOf(other.create(resource("other", { rules: { a: rule(1), z: rule(26) } })));
    expect(other.stderr).toContain("other: 1 created and verified, 1 failed");
  });
});
