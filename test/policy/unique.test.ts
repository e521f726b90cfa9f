import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { uniqueNaturalKeys, uniqueValues } from "../../policy/values.ts";
import { asWritten, canonical, type Json } from "../../sdk/json/index.ts";
import { evaluate, rule, ruleSet, unknown } from "./evaluate.ts";

describe("unique-natural-keys", () => {
  const config = { naturalKey: "/name" };

  test("passes rules with natural keys of their own, with none, and with null", async () => {
    const declared = [
      rule("large", { name: "large" }),
      rule("late", {}),
      rule("later", {}),
      ruleSet("all", { a: { name: "a" }, b: { name: null }, c: { name: null } }),
    ];
    expect(await evaluate(uniqueNaturalKeys, declared, config)).toEqual({
      violations: [],
      notes: [],
      notApplicable: [],
    });
  });

  test("names each later rule, and the one that has the key already", async () => {
    const declared = [
      rule("copy", { name: "large" }),
      rule("large", { name: "large" }),
      ruleSet("all", { a: { name: "large" }, b: { name: "b" }, c: { name: "b" } }),
    ];
    expect((await evaluate(uniqueNaturalKeys, declared, config)).violations).toEqual([
      'large: large: /name: found "large", which rule "copy" has too, allowed a value of its own',
      'all: a: /name: found "large", which rule "copy" has too, allowed a value of its own',
      'all: c: /name: found "b", which rule "b" of "all" has too, allowed a value of its own',
    ]);
  });

  test("says the same whatever order the engine has the resources in", async () => {
    const declared = [rule("b", { name: "same" }), rule("a", { name: "same" }), rule("c", { name: "other" })];
    const { violations } = await evaluate(uniqueNaturalKeys, declared, config);
    expect(violations).toEqual(['b: b: /name: found "same", which rule "a" has too, allowed a value of its own']);
    expect((await evaluate(uniqueNaturalKeys, declared.toReversed(), config)).violations).toEqual(violations);
  });

  test("lets two connections have rules of the same natural key", async () => {
    const declared = [
      rule("here", { name: "same" }),
      rule("there", { name: "same" }, { props: { connection: "sandbox" } }),
      rule("again", { name: "same" }, { props: { connection: "default" } }),
    ];
    expect((await evaluate(uniqueNaturalKeys, declared, config)).violations).toEqual([
      'here: here: /name: found "same", which rule "again" has too, allowed a value of its own',
    ]);
  });

  test("does not compare what is not known yet, and says so", async () => {
    const declared = [
      rule("a", { name: unknown }),
      rule("b", { name: unknown }),
      rule("c", unknown),
      ruleSet("all", {
        d: { name: { of: unknown } },
        e: { name: { of: unknown } },
        f: { name: "f" },
        g: { name: "f" },
      }),
    ];
    expect(await evaluate(uniqueNaturalKeys, declared, config)).toMatchObject({
      violations: ['all: g: /name: found "f", which rule "f" of "all" has too, allowed a value of its own'],
      notes: ["not known before the run, so not checked: a: /name, b: /name, c, d: /name/of, e: /name/of"],
    });
  });

  test("takes a connection that is not known yet for nobody else's", async () => {
    const elsewhere = { props: { connection: unknown } };
    const declared = [
      rule("a", { name: "same" }),
      rule("b", { name: "same" }, elsewhere),
      ruleSet("all", { c: { name: "same" }, d: { name: "same" } }, elsewhere),
    ];
    expect(await evaluate(uniqueNaturalKeys, declared, config)).toMatchObject({
      violations: ['all: d: /name: found "same", which rule "c" of "all" has too, allowed a value of its own'],
      notes: ["not known before the run, so not checked: b: connection, c: connection, d: connection"],
    });
  });

  test("keeps a secret natural key out of its message", async () => {
    const declared = [rule("a", { name: { token: "hush", of: "a" } }), rule("b", { name: { token: "hush", of: "a" } })];
    const messages = async (secret: string) =>
      (await evaluate(uniqueNaturalKeys, declared, { ...config, secret: [secret] })).violations;
    expect(await messages("/name")).toEqual([
      'b: b: /name: found [secret], which rule "a" has too, allowed a value of its own',
    ]);
    expect(await messages("/name/token")).toEqual([
      'b: b: /name: found {"token":"[secret]","of":"a"}, which rule "a" has too, allowed a value of its own',
    ]);
  });

  test("has nothing to say without a natural key", async () => {
    expect((await evaluate(uniqueNaturalKeys, [rule("a", {})])).notApplicable).toEqual([
      "no natural key is configured",
    ]);
  });

  test("refuses a wrong configuration", async () => {
    const wrong = (naturalKey: unknown) => evaluate(uniqueNaturalKeys, [rule("a", {})], { naturalKey });
    await expect(wrong("name")).rejects.toThrow(/naturalKey must match pattern/);
    await expect(wrong("/names/*")).rejects.toThrow(
      "the configuration of unique-natural-keys is wrong.\n✖ allowed: a JSON Pointer (RFC 6901) without *, because a rule has one natural key\n  → at naturalKey\nWhat to do: correct it in the file that --policy-pack-config names.",
    );
  });
});

describe("unique-values", () => {
  const config = { pointers: ["/priority", "/actions/*/id"] };

  test("passes rules with values of their own, and one that repeats its own", async () => {
    const declared = [
      rule("a", { priority: 1, actions: [{ id: "x" }, { id: "x" }] }),
      rule("b", { priority: "1", actions: [{ id: "y" }, {}] }),
      rule("c", { priority: null }),
      rule("d", { priority: null }),
    ];
    expect((await evaluate(uniqueValues, declared, config)).violations).toEqual([]);
  });

  test("names the place of each value that another rule has, too", async () => {
    const declared = [
      rule("a", { priority: 100, actions: [{ id: "x" }] }),
      ruleSet("rest", { b: { priority: 100.0, actions: [{ id: "y" }, { id: "x" }] }, c: { priority: 7 } }),
    ];
    expect((await evaluate(uniqueValues, declared, config)).violations).toEqual([
      'rest: b: /priority: found 100, which rule "a" has too, allowed a value of its own',
      'rest: b: /actions/1/id: found "x", which rule "a" has too, allowed a value of its own',
    ]);
  });

  test("does not compare elements that are not known yet", async () => {
    const declared = [rule("a", { tags: [unknown, "x"] }), rule("b", { tags: [unknown, "x"] })];
    expect(await evaluate(uniqueValues, declared, { pointers: ["/tags/*"] })).toMatchObject({
      violations: ['b: b: /tags/1: found "x", which rule "a" has too, allowed a value of its own'],
      notes: ["not known before the run, so not checked: a: /tags/0, b: /tags/0"],
    });
  });

  test("has nothing to say without a pointer, and refuses what is none", async () => {
    expect((await evaluate(uniqueValues, [rule("a", {})])).notApplicable).toEqual(["no pointer is configured"]);
    await expect(evaluate(uniqueValues, [rule("a", {})], { pointers: ["priority"] })).rejects.toThrow(
      /pointers\/0 must match pattern/,
    );
    await expect(evaluate(uniqueValues, [rule("a", {})], { pointer: "/priority" })).rejects.toThrow(
      /found pointer, allowed: pointers, secret/,
    );
  });

  test("reports as many rules as there are more than different values, in each connection", async () => {
    const value = fc.oneof(
      fc.constantFrom<Json>(0, -0, 1, "1", "", true, [], {}),
      fc
        .record({ a: fc.integer({ min: 0, max: 1 }), b: fc.boolean() })
        .map(({ a, b }): Json => (b ? { a, b } : { b, a })),
    );
    const declared = fc.array(fc.record({ value, connection: fc.constantFrom("default", "sandbox") }), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(declared, async (rules) => {
        const resources = rules.map(({ value, connection }, k) => rule(`r${k}`, { value }, { props: { connection } }));
        const different = new Set(rules.map(({ value, connection }) => `${connection} ${canonical(value, asWritten)}`));
        const { violations } = await evaluate(uniqueValues, resources, { pointers: ["/value"] });
        expect(violations).toHaveLength(rules.length - different.size);
      }),
    );
  });
});
