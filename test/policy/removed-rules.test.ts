import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { removedRules } from "../../policy/removed-rules.ts";
import { newFolder } from "../support/folder.ts";
import { type Declared, evaluate, rule, ruleSet, unknown } from "./evaluate.ts";
import { ciphertext, deploymentOf, plaintext, stackExport } from "./stack-export.ts";

/** Rules k1, k2, … */
function keyed(count: number, from = 1): Record<string, object> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`k${from + index}`, { name: `n${from + index}` }]),
  );
}

const twenty = [ruleSet("set", keyed(19)), rule("large", {})];

describe("removed-rules", () => {
  test("passes where no more than the share is removed, and whatever is added", async () => {
    const baseline = stackExport(twenty);
    const declared = [ruleSet("set", { ...keyed(18), more: {} })];
    expect(await evaluate(removedRules, declared, { baseline })).toEqual({
      violations: [],
      notes: [],
      notApplicable: [],
    });
    expect((await evaluate(removedRules, [], { baseline, maximumShare: 1 })).violations).toEqual([]);
    expect((await evaluate(removedRules, [], { baseline: stackExport([]) })).violations).toEqual([]);
  });

  test("refuses a baseline without rules, which hides what is removed, until the configuration says that all may be", async () => {
    const baseline = stackExport([]);
    const one = [ruleSet("set", keyed(1))];
    expect((await evaluate(removedRules, one, { baseline, maximumShare: 0 })).violations).toEqual([
      "stack: the stack: found a baseline without rules, allowed the stack's state before this run (`pulumi stack export --file`), or, in the first run of a stack, allowed: true",
    ]);
    expect((await evaluate(removedRules, one, { baseline, allowed: true })).violations).toEqual([]);
    expect((await evaluate(removedRules, one, { baseline: stackExport(one) })).violations).toEqual([]);
  });

  test("says how many of how many are removed, and which, at the stack", async () => {
    const baseline = stackExport(twenty);
    const three = [ruleSet("set", keyed(17))];
    expect((await evaluate(removedRules, three, { baseline })).violations).toEqual([
      "stack: the stack: found 3 of 20 deployed rules removed (k18, k19, large), allowed at most 10 %, or their names in allowed",
    ]);
    expect((await evaluate(removedRules, [], { baseline, maximumShare: 0.125 })).violations).toEqual([
      "stack: the stack: found 20 of 20 deployed rules removed (k1, k2, k3, k4, k5, k6, k7, k8, k9, k10 and 10 more), allowed at most 12.5 %, or their names in allowed",
    ]);
  });

  test("counts no rule that may be removed", async () => {
    const baseline = stackExport(twenty);
    const left = [ruleSet("set", keyed(17))];
    const violations = async (allowed: unknown) =>
      (await evaluate(removedRules, left, { baseline, allowed, maximumShare: 0 })).violations.length;
    expect(await violations(["k18", "set/k19", "large"])).toBe(0);
    expect(await violations(["set", "large"])).toBe(0);
    expect(await violations(["k18", "other/k19", "large"])).toBe(1);
    expect((await evaluate(removedRules, [], { baseline, allowed: true })).notApplicable).toEqual([
      "all rules may be deleted",
    ]);
  });

  test("counts no rule that moves to another resource, or to another key with the same natural key", async () => {
    const baseline = stackExport(twenty);
    const moved = [ruleSet("other", { ...keyed(18), large: {}, renamed: { name: "n19", priority: 1 } })];
    const config = { baseline, maximumShare: 0 };
    expect((await evaluate(removedRules, moved, config)).violations).toHaveLength(1);
    expect((await evaluate(removedRules, moved, { ...config, naturalKey: "/name" })).violations).toEqual([]);
    const renamed = [ruleSet("set", { ...keyed(18), renamed: { name: "n19" } }), rule("large", {})];
    expect((await evaluate(removedRules, renamed, config)).violations).toEqual([]);
  });

  test("knows rules that are deployed as JSON texts, also as secret ones", async () => {
    const config = { maximumShare: 0, naturalKey: "/name" };
    const text = JSON.stringify({ name: "n1" });
    for (const deployed of [text, plaintext(text)]) {
      const baseline = stackExport([ruleSet("set", { a: deployed })]);
      const moved = [ruleSet("other", { b: text })];
      expect((await evaluate(removedRules, moved, { ...config, baseline })).violations).toEqual([]);
      expect((await evaluate(removedRules, [], { ...config, baseline })).violations).toHaveLength(1);
    }
  });

  test("counts each connection by itself, and a key that two sets have twice", async () => {
    const both = [
      ruleSet("a", { k: {} }),
      ruleSet("b", { k: {} }),
      ruleSet("c", { k: {} }, { props: { connection: "eu" } }),
    ];
    const config = { baseline: stackExport(both), maximumShare: 0 };
    expect((await evaluate(removedRules, both, config)).violations).toEqual([]);
    const twoOfThree = [
      "stack: the stack: found 2 of 3 deployed rules removed (k, k), allowed at most 0 %, or their names in allowed",
    ];
    for (const left of ["a", "d"])
      expect((await evaluate(removedRules, [ruleSet(left, { k: {} })], config)).violations).toEqual(twoOfThree);
  });

  test("does not count the rules of a set that are not known yet, and says so", async () => {
    const baseline = stackExport([...twenty, rule("small", {})]);
    const declared = [ruleSet("set", unknown), rule("small", { late: unknown })];
    expect(await evaluate(removedRules, declared, { baseline, maximumShare: 0 })).toMatchObject({
      violations: [
        "stack: the stack: found 1 of 21 deployed rules removed (large), allowed at most 0 %, or their names in allowed",
      ],
      notes: ["not known before the run, so not checked: the rules of set"],
    });
  });

  test("knows the keys of rules that are secret, and leaves out what earlier runs could not delete", async () => {
    const sealed = ruleSet("set", ciphertext, { props: { ruleIds: { a: "r-1", "b (to be deleted)": "r-2" } } });
    const shown = ruleSet("shown", plaintext({ c: {} }), { props: { ruleIds: {} } });
    const file = join(newFolder(), "state.json");
    const { resources } = Object(deploymentOf([]));
    const written = [sealed, shown].map(({ type, name, props }) => ({
      urn: `urn:pulumi:dev::shop::shop:index:Rules$${type}::${name}`,
      type,
      outputs: props,
    }));
    const replaced = { ...written[0], delete: true };
    const latest = { resources: [...resources, ...written, replaced] };
    writeFileSync(file, JSON.stringify({ version: 3, checkpoint: { stack: "dev", latest } }));
    expect((await evaluate(removedRules, [], { baseline: file })).violations).toEqual([
      "stack: the stack: found 2 of 2 deployed rules removed (a, c), allowed at most 10 %, or their names in allowed",
    ]);
  });

  test("refuses by the share exactly, however many rules there are", async () => {
    const counts = fc
      .integer({ min: 1, max: 60 })
      .chain((total) => fc.tuple(fc.constant(total), fc.nat({ max: total })));
    await fc.assert(
      fc.asyncProperty(counts, fc.integer({ min: 0, max: 100 }), async ([total, kept], percent) => {
        const baseline = stackExportOnce(total);
        const declared = [ruleSet("elsewhere", keyed(kept, total - kept + 1))];
        const { violations } = await evaluate(removedRules, declared, { baseline, maximumShare: percent / 100 });
        expect(violations.length).toBe((total - kept) * 100 > percent * total ? 1 : 0);
      }),
    );
  });

  const exports = new Map<number, string>();
  function stackExportOnce(total: number): string {
    const known = exports.get(total) ?? stackExport([ruleSet("set", keyed(total))]);
    exports.set(total, known);
    return known;
  }
});

describe("a baseline", () => {
  const ask = (baseline: string, declared: readonly Declared[] = []) => evaluate(removedRules, declared, { baseline });

  test("has to be named, and the reason says how it is written", async () => {
    expect((await evaluate(removedRules, [])).notApplicable).toEqual([
      "no baseline is configured: write one with `pulumi stack export --file baseline.json` before the run, and name it",
    ]);
    await expect(evaluate(removedRules, [], { baseline: "" })).rejects.toThrow(/fewer than 1 characters/);
    await expect(evaluate(removedRules, [], { baseline: "a", allowed: false })).rejects.toThrow(
      /must be equal to constant/,
    );
  });

  test("is found from the folder in which pulumi was started", async () => {
    const file = stackExport(twenty);
    vi.stubEnv("PWD", join(file, ".."));
    expect((await ask("baseline.json")).violations).toHaveLength(1);
  });

  test("that is not there is named with its full path and with the command that writes it", async () => {
    const here = newFolder();
    vi.stubEnv("PWD", here);
    const file = join(here, "base.json");
    await expect(ask("base.json")).rejects.toThrow(
      `read baseline ${file} failed: there is no such file. What to do: write it with \`pulumi stack export --file ${file}\` before the run`,
    );
    await expect(ask("base.json")).rejects.toHaveProperty("stack", expect.not.stringContaining("\n    at "));
  });

  test("that is no state is refused, without a word of what is in it", async () => {
    const file = join(newFolder(), "base.json");
    const refused = async (text: string): Promise<string> => {
      writeFileSync(file, text);
      return await ask(file).then(String, ({ message }) => message);
    };
    expect(await refused("hunter2")).toMatch(/it is not JSON/);
    expect(await refused("hunter2")).not.toContain("hunter2");
    expect(await refused("[]")).toMatch(/it is not the state of a stack/);
    expect(await refused('{"deployment":{"resources":{}}}')).toMatch(/its resources are not a list/);
    const broken = rule("large", { ...plaintext(null), plaintext: "hunter2" });
    expect(await refused(JSON.stringify({ deployment: deploymentOf([broken]) }))).toMatch(/a secret in it is not JSON/);
    const closed = ruleSet("set", ciphertext, { props: { ruleIds: ciphertext } });
    const { type, name, props } = closed;
    const urn = `urn:pulumi:dev::shop::${type}::${name}`;
    expect(await refused(JSON.stringify({ deployment: { resources: [{ urn, type, outputs: props }] } }))).toMatch(
      /the rules of set set are secret in it as a whole. What to do: write it with `pulumi stack export --show-secrets --file/,
    );
  });

  test("of another stack is refused by name", async () => {
    const file = stackExport(twenty);
    vi.stubEnv("PULUMI_NODEJS_PROJECT", "shop");
    vi.stubEnv("PULUMI_NODEJS_STACK", "prod");
    await expect(ask(file)).rejects.toThrow(
      "it is of stack dev of project shop, and this is stack prod of project shop",
    );
    vi.stubEnv("PULUMI_NODEJS_STACK", "dev");
    expect((await ask(file)).violations).toHaveLength(1);
  });

  test("is read once, however many policies and resources ask", async () => {
    const file = stackExport(twenty);
    expect((await ask(file)).violations).toHaveLength(1);
    writeFileSync(file, "changed since");
    expect((await ask(file)).violations).toHaveLength(1);
  });
});
