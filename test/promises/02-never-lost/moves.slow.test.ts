import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { openWorld, writesOf } from "../../support/stack/hooks.ts";
import { TestProject } from "../../support/stack/project.ts";

const marking = contractOf({ rule: { owner: { at: "/metadata/managedBy" } } });
const single = (k: number): JsonObject => ({ definition: rule(k) });
const set = (...ks: number[]): JsonObject => ({ rules: Object.fromEntries(ks.map((k) => [`r${k}`, rule(k)])) });

test.each<[string, Record<string, JsonObject>[], true?]>([
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
    true,
  ],
])("a rule that moves within one stack %s is never lost", async (_case, programs, changes) => {
  const world = await openWorld({ contract: marking });
  const project = new TestProject(world.environment);
  onTestFinished(() => project.remove());
  const [first = {}, ...others] = programs;
  project.declare(first);
  expect(await project.run("local", "up")).toMatchObject({ code: 0 });
  const names = world.names();
  for (const program of others) {
    project.declare(program);
    let moved = await project.run("local", "up");
    if (changes === true) {
      // One that differs is not taken over without a word. It is deleted where it was, and made anew.
      expect(moved.code).not.toBe(0);
      expect(moved.output).toMatch(/add adopt: .*run again/s);
      moved = await project.run("local", "up");
    }
    expect(moved.code, moved.output).toBe(0);
    // One whose delete was on its way already is made again.
    expect(world.names()).toEqual(names);
    world.asked();
    const again = await project.run("local", "up");
    expect(again.code, again.output).toBe(0);
    expect(writesOf(world)).toEqual([]);
  }
  const destroyed = await project.run("local", "destroy");
  expect(destroyed.code, destroyed.output).toBe(0);
  expect(world.service.rules()).toEqual([]);
});

const program = (name: string, alias: string | undefined, definition: object): string => `
import { MerchantRule } from "pulumi-merchant-rules";
new MerchantRule("${name}", { definition: ${JSON.stringify(definition)} }, ${alias === undefined ? "{}" : `{ aliases: [{ name: "${alias}" }] }`});
`;

test.each([
  ["no mark", contractOf()],
  ["a mark", contractOf({ rule: { owner: { at: "/metadata/managedBy" } } })],
])(
  "a resource that was renamed keeps its rule by the alias that the refusal advises, under a contract with %s",
  async (_case, contract) => {
    const world = await openWorld({ contract });
    const project = new TestProject(world.environment);
    onTestFinished(() => project.remove());
    project.write("index.js", program("old", undefined, rule(1)));
    expect(await project.run("local", "up")).toMatchObject({ code: 0 });
    const [before] = world.service.rules();
    if (contract.rule?.owner === undefined) {
      project.write("index.js", program("new", undefined, rule(1)));
      const refused = await project.run("local", "up");
      expect(refused.code).not.toBe(0);
      expect(refused.output).toContain("If this resource was only renamed or moved, give it an alias");
    }
    project.write("index.js", program("new", "old", rule(1)));
    world.asked();
    const renamed = await project.run("local", "up");
    expect(renamed.code, renamed.output).toBe(0);
    expect(world.asked().filter((operation) => operation !== "list" && operation !== "get")).toEqual([]);
    expect(world.service.rules().map(({ ruleId }) => ruleId)).toEqual([before?.ruleId]);
    const gone = await project.run("local", "destroy");
    expect(gone.code, gone.output).toBe(0);
    expect(world.service.rules()).toEqual([]);
  },
);

test("a service that keeps another natural key than was declared does not get more rules by runs that replace it, and one by the advice", async () => {
  const world = await openWorld({ contract: contractOf({ operations: { update: null } }), allowDuplicates: true });
  world.service.faults.set({ kind: "normalise" });
  const project = new TestProject(world.environment);
  onTestFinished(() => project.remove());
  project.declare({ a: { definition: rule(1, { name: "padded " }) } });
  for (let run = 1; run <= 3; run += 1) {
    const { code, output } = await project.run("local", "up");
    expect(code).not.toBe(0);
    expect(output).toMatch(/differs at name\b/);
    // The old one stays until the next run deletes it.
    expect(world.service.rules().length).toBeLessThanOrEqual(2);
  }
  project.declare({ a: { definition: rule(1, { name: "padded" }) } });
  const healed = await project.run("local", "up");
  expect(healed.code, healed.output).toBe(0);
  expect(world.service.rules()).toMatchObject([{ rule: rule(1, { name: "padded" }) }]);
});
