import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../sdk/rules/index.ts";
import { rule } from "../support/connections.ts";
import { TestProject } from "../support/project.ts";
import { contractOf, namesOf, open, ownedBy, type World, writesOf } from "../worlds/world.ts";

const contract = contractOf({ rule: { owner: { at: "/metadata/managedBy" } } });
const marksOf = ({ service }: World) => service.rules().map((row) => Object(row.rule.metadata).managedBy);

describe("a resource that is renamed (another owner, the same state)", () => {
  test("keeps its rule, and the next write rewrites the mark", async () => {
    const world = await open({ contract });
    const old = { definition: rule(1), ...ownedBy("shop/test/old") };
    const { id, outs } = await (await world.host()).create(old);
    const renamed = { definition: rule(1), ...ownedBy("shop/test/new") };
    const host = await world.host();
    expect(await host.diff(id, outs, renamed)).toMatchObject({ changes: "none" });
    expect(marksOf(world)).toEqual(["shop/test/old"]);
    const next = await host.update(id, outs, { ...renamed, definition: rule(1, { priority: 9 }) });
    expect(marksOf(world)).toEqual(["shop/test/new"]);
    const later = await world.host();
    expect((await later.read(id, next)).id).toBe(id);
    expect(later.stderr).toBe("");
    await later.delete(id, next);
    expect(world.service.rules()).toEqual([]);
  });

  test("deletes its rules, which still have the old mark", async () => {
    const world = await open({ contract });
    const { id, outs } = await (await world.host("merchantRuleSet")).create({
      rules: { a: rule(1), b: rule(2), c: rule(3) },
      ...ownedBy("shop/test/old"),
    });
    const host = await world.host("merchantRuleSet");
    const next = await host.update(id, outs, {
      rules: { a: rule(1), c: rule(3, { priority: 9 }) },
      ...ownedBy("shop/test/new"),
    });
    expect(marksOf(world)).toEqual(["shop/test/old#a", "shop/test/new#c"]);
    await (await world.host("merchantRuleSet")).delete(id, next);
    expect(world.service.rules()).toEqual([]);
  });

  test("sees its rules as its own in a refresh before the next write", async () => {
    const world = await open({ contract });
    const { id, outs } = await (await world.host("merchantRuleSet")).create({
      rules: { a: rule(1), b: rule(2) },
      ...ownedBy("shop/test/old"),
    });
    const renamed = { rules: { a: rule(1), b: rule(2, { priority: 9 }) }, ...ownedBy("shop/test/new") };
    const next = await (await world.host("merchantRuleSet")).update(id, outs, renamed);
    const host = await world.host("merchantRuleSet");
    const seen = await host.read(id, next);
    expect(seen.inputs.rules).toEqual(renamed.rules);
    expect(host.stderr).toBe("");
  });
});

describe("a rule that moves within one stack is never refused, and never lost", () => {
  const single = (k: number): JsonObject => ({ definition: rule(k) });
  const set = (...ks: number[]): JsonObject => ({ rules: Object.fromEntries(ks.map((k) => [`r${k}`, rule(k)])) });

  test.each<[string, Record<string, JsonObject>[]]>([
    [
      "from a resource of its own to a set and back",
      [{ alone: single(1), other: single(8) }, { s: set(1, 8) }, { alone: single(1), other: single(8) }],
    ],
    [
      "from one set to another and back",
      [
        { from: set(1, 2, 3), to: set(9) },
        { from: set(1), to: set(2, 3, 9) },
        { from: set(1, 2, 3), to: set(9) },
      ],
    ],
    ["from a set to a new set", [{ from: set(1, 2, 3) }, { to: set(1, 2, 3) }]],
    [
      "from one resource to another of another name",
      [
        { old: single(1), stays: single(2) },
        { new: single(1), stays: single(2) },
      ],
    ],
    [
      "and changes on its way",
      [
        { from: set(1, 2), to: set(9) },
        { from: set(1), to: { rules: { r9: rule(9), moved: rule(2, { priority: 50 }) } } },
      ],
    ],
  ])("%s", async (_case, programs) => {
    const world = await open({ contract });
    const project = new TestProject(world.environment);
    onTestFinished(() => project.remove());
    const [first = {}, ...others] = programs;
    project.declare(first);
    expect(await project.run("local", "up")).toMatchObject({ code: 0 });
    const names = namesOf(world.service.rules());
    for (const program of others) {
      project.declare(program);
      const moved = await project.run("local", "up");
      expect(moved.code, moved.output).toBe(0);
      // One whose delete was on its way already is made again.
      expect(namesOf(world.service.rules())).toEqual(names);
      world.asked();
      const again = await project.run("local", "up");
      expect(again.code, again.output).toBe(0);
      expect(writesOf(world)).toEqual([]);
    }
    const destroyed = await project.run("local", "destroy");
    expect(destroyed.code, destroyed.output).toBe(0);
    expect(world.service.rules()).toEqual([]);
  });

  test("by a run that is killed before the old resource is deleted", async () => {
    const world = await open({ contract });
    const host = await world.host();
    const old = await host.create({ definition: rule(1), ...ownedBy("shop/test/old") });
    const moved = await (await world.host("merchantRuleSet")).create({
      rules: { a: rule(1) },
      ...ownedBy("shop/test/set"),
    });
    await (await world.host()).delete(old.id, old.outs);
    expect(world.service.rules()).toMatchObject([{ ruleId: old.id }]);
    await (await world.host("merchantRuleSet")).delete(moved.id, moved.outs);
    expect(world.service.rules()).toEqual([]);
  });

  test("and two resources that declare one rule at the same time are one rule and one error", async () => {
    const world = await open({ contract });
    const host = await world.host();
    const results = await Promise.allSettled(
      ["a", "b"].map((name) => host.create({ definition: rule(1), ...ownedBy(`shop/test/${name}`) })),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(world.service.rules()).toHaveLength(1);
  });
});
