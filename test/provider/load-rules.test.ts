import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RunError } from "@pulumi/pulumi/errors.js";
import { beforeEach, describe, expect, expectTypeOf, test } from "vitest";
import { type JsonObject, type LoadRulesOptions, loadRules, MerchantRuleSet, ruleTexts } from "../../provider/index.ts";
import { isMerchantRulesError, type MerchantRulesError } from "../../sdk/errors.ts";
import { newFolder } from "../support/folder.ts";

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

function write(files: Record<string, string | Buffer>): void {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
}

function refusal(from = folder, options?: LoadRulesOptions): MerchantRulesError {
  try {
    loadRules(from, options);
  } catch (error) {
    if (isMerchantRulesError(error)) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a folder of rules", () => {
  test("gives one rule a file, by the file's name, whatever the format", () => {
    write({
      "limit.yaml": "name: limit\nconditions:\n  - { field: amount, value: 10 }\n",
      "country.yml": "name: country # as YAML 1.2 has it\nisActive: yes\nsince: 2026-01-01\n",
      "card.json": '\uFEFF{\n\t"name": "card", "note": null\n}\n',
      "eu.large amounts.yaml": "name: &n eu\nagain: *n\n",
      "large.YAML": "name: large\n",
    });
    expect(loadRules(folder)).toEqual({
      limit: { name: "limit", conditions: [{ field: "amount", value: 10 }] },
      country: { name: "country", isActive: "yes", since: "2026-01-01" },
      card: { name: "card", note: null },
      "eu.large amounts": { name: "eu", again: "eu" },
      large: { name: "large" },
    });
  });

  test("has the definitions that the program says it has, and a set takes them", () => {
    interface Limit {
      name: string;
      conditions?: { field: string; value: number }[];
    }
    expectTypeOf(loadRules<Limit>(folder)).toEqualTypeOf<Record<string, Limit>>();
    expectTypeOf(loadRules(folder)).toEqualTypeOf<Record<string, JsonObject>>();
    const typed = () => new MerchantRuleSet<Limit>("all", { rules: loadRules<Limit>(folder) });
    const plain = () => new MerchantRuleSet("all", { rules: loadRules(folder) });
    // @ts-expect-error: these files hold other definitions
    const other = () => new MerchantRuleSet<Limit>("all", { rules: loadRules<{ title: string }>(folder) });
    expectTypeOf(typed).returns.toEqualTypeOf<MerchantRuleSet<Limit>>();
    expectTypeOf(plain).returns.toEqualTypeOf<MerchantRuleSet>();
    expectTypeOf(other).toBeFunction();
  });

  test("is read in the order of its keys", () => {
    write({ "b.json": "{}", "a.yaml": "{}", "Z.yaml": "{}", "a-b.yml": "{}" });
    expect(Object.keys(loadRules(folder))).toEqual(["Z", "a", "a-b", "b"]);
  });

  test("may be empty, or hold what are no rules", () => {
    expect(loadRules(folder)).toEqual({});
    write({ "README.md": "# rules", ".hidden.yaml": "a: [", "old.yaml~": "a: [", noExtension: "" });
    mkdirSync(join(folder, ".git"));
    expect(loadRules(folder)).toEqual({});
  });

  test("may have files of tests beside the rules, which are no rules; such a name alone makes no test of a rule", () => {
    write({
      "a.yaml": "name: a",
      "a.test.yaml": "version: 1\ncases: []\n",
      "b.test.yaml": "name: b\ncases: 3\n",
      "c.test.json": '{ "version": 1, "cases": [] }',
    });
    expect(Object.keys(loadRules(folder))).toEqual(["a", "b.test", "c.test"]);
    write({ "d.test.yml": "version: 1\ncases: [\n" });
    expect(refusal().message).toContain("d.test.yml");
  });

  test("is found from the working directory", () => {
    mkdirSync(join(folder, "rules"));
    write({ "rules/a.yaml": "name: a", "rules/b.yaml": "a: [" });
    const before = process.cwd();
    process.chdir(folder);
    try {
      expect(refusal("rules").message).toContain(`${join("rules", "b.yaml")}:1: `);
    } finally {
      process.chdir(before);
    }
  });

  test("keeps __proto__ a field and a key like any other", () => {
    write({ "__proto__.yaml": "__proto__: { x: 1 }", "b.json": '{"__proto__": 2}' });
    const rules = loadRules(folder);
    expect(JSON.stringify(rules)).toBe('{"__proto__":{"__proto__":{"x":1}},"b":{"__proto__":2}}');
    expect(Object.getPrototypeOf(rules)).toBe(Object.prototype);
  });

  test("gives a key with accents the same, however the file system writes it", () => {
    write({ "re\u0301gion.yaml": "{}" });
    expect(Object.keys(loadRules(folder))).toEqual(["r\u00e9gion"]);
  });

  test.each([
    ["a.json", "a.yaml"],
    ["a.yaml", "a.yml"],
    ["A.yaml", "a.json"],
  ])("refuses %s beside %s, naming both", (first, second) => {
    write({ [first]: "{}", [second]: "{}" });
    expect(refusal()).toMatchObject({ code: "RULE_INVALID" });
    expect(refusal().message).toContain(`${join(folder, second)}: has the same key as ${join(folder, first)}`);
  });

  test("refuses a folder inside, a link that leads nowhere, and to be none itself", () => {
    mkdirSync(join(folder, "more"));
    expect(refusal().message).toContain(`${join(folder, "more")}: is a folder`);
    symlinkSync("nowhere", join(folder, "a.yaml"));
    expect(refusal().message).toMatch(/a\.yaml: cannot be read: ENOENT/);
    expect(refusal(join(folder, "missing")).message).toMatch(
      /^load rules from .*missing failed: the folder cannot be read: ENOENT.* What to do: name a folder that exists/,
    );
    expect(refusal(join(folder, "missing")).code).toBe("RULE_INVALID");
  });

  test("keeps a field that is called << where it is written as a text, and integers that all readers hold", () => {
    write({ "a.yaml": '"<<": { x: 1 }\nn: 9007199254740991\nbig: 10000000000000000000000\nhex: 0xff' });
    expect(loadRules(folder)).toEqual({ a: { "<<": { x: 1 }, n: Number.MAX_SAFE_INTEGER, big: 1e22, hex: 255 } });
  });

  test("takes no longer than its length, however many fields a file has", () => {
    write({ "a.json": `{${Array.from({ length: 40_000 }, (_, n) => `"k${n}":1`)}}` });
    const started = performance.now();
    expect(Object.keys(loadRules(folder).a ?? {})).toHaveLength(40_000);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test("ends a Pulumi program with the message alone", () => {
    write({ "a.yaml": "[]" });
    expect(RunError.isInstance(refusal())).toBe(true);
  });

  test("is refused with the first fault of every file at once", () => {
    write({ "a.yaml": "x: 1\nx: 2", "b.yaml": "name: fine", "c.json": "[]" });
    expect(refusal().message).toMatch(/a\.yaml:2: declares a field a second time\n.*c\.json:1: must hold one object/);
  });
});

describe("a file that is no rule", () => {
  const bomb = Array.from(
    { length: 8 },
    (_, n) => `a${n}: &a${n} [${Array(10).fill(n === 0 ? "x" : `*a${n - 1}`)}]\n`,
  ).join("");
  const manyAliases = Array.from({ length: 101 }, (_, n) => `a${n}: *x\n`).join("");
  test.each<[string, string, string | Buffer, string]>([
    ["a field twice", "r.yaml", "a: 1\nb: 1\na: 2", ":3: declares a field a second time"],
    ["a field twice, further in", "r.json", '{"x": {"a": 1,\n"a": 2}}', ":2: declares a field a second time"],
    ["one name as number and as text", "r.yaml", '1: x\n"1": y', ":2: declares a field a second time"],
    ["several documents", "r.yaml", "a: 1\n---\nb: 2", ":2: begins a second document"],
    ["anchors that explode", "r.yaml", bomb, ":2: Excessive alias count"],
    ["an alias without its anchor", "r.yaml", "a: &x 1\nb: *x\nc: *y", ":3: Unresolved alias"],
    [
      "an anchor within itself",
      "r.yaml",
      "n: 1\na: &x\n  b: *x",
      ":3: a.b holds a reference to an object that contains it",
    ],
    ["an array", "r.yaml", "- a: 1", ":1: must hold one object"],
    ["nothing", "r.yaml", "", ":1: must hold one object"],
    ["nothing, as JSON", "r.json", "", ":1: is not JSON: Unexpected end of JSON input"],
    ["a date", "r.yaml", "a:\n  - 1\n  - !!timestamp 2026-01-01", ":3: a[1] holds a Date, which is not JSON"],
    ["bytes", "r.yaml", "a: !!binary aGk=", ":1: a holds a Buffer"],
    ["a set", "r.yaml", "b: 1\na: !!set { x }", ":2: a holds a Set"],
    ["a tag of its own", "r.yaml", "b: 1\na: !secret x", ":2: Unresolved tag: !secret"],
    ["NaN", "r.yaml", "b: 1\nodd key: .nan", ':2: ["odd key"] holds NaN'],
    ["an infinity", "r.yaml", "a: { b: [-.inf] }", ":1: a.b[0] holds -Infinity"],
    ["a merge key", "r.yaml", "a: &x { b: 1 }\n<<: *x", ":2: has a merge key (<<), which YAML 1.2 does not know"],
    ["more aliases than anybody writes", "r.yaml", `a: &x 1\n${manyAliases}`, ":102: holds more than 100 aliases"],
    ["an alias as a name", "r.yaml", "a: &x b\n*x : 1", ":2: has a field whose name is not a text"],
    ["an integer that would be rounded", "r.json", '{\n"a": 9007199254740993}', ":2: holds a number that JSON readers"],
    [
      "a decimal that would be rounded",
      "r.yaml",
      "b: 1\na: +12345678901234.567",
      ":2: holds a number that JSON readers",
    ],
    ["half a surrogate pair", "r.json", '{\n"a": "\\ud800"}', ":2: a holds half a surrogate pair"],
    ["lists in lists in lists", "r.yaml", "- ".repeat(2000), ":1: nests too deeply"],
    ["a number beyond all", "r.json", '{\n"a": 1e400}', ":2: a holds Infinity"],
    ["a name that is no text", "r.yaml", "a: 1\n? [x]\n: 2", ":2: has a field whose name is not a text"],
    ["endless nesting", "r.yaml", `a: ${"[".repeat(150)}${"]".repeat(150)}`, "more than 100 levels of nesting"],
    ["nesting that no parser takes", "r.yaml", `a: ${"[".repeat(50_000)}`, ":1: nests too deeply"],
    ["broken YAML", "r.yaml", 'a: 1\nb: "x', ":2: Missing closing"],
    ["YAML called JSON", "r.json", "{\n// why\n}", ":2: is not JSON: Expected property name"],
    ["a broken word", "r.json", '{\n"secret": "s3",\n"a": tru\n}', ":3: is not JSON: Unexpected token"],
    ["a second value", "r.json", "{}\n\n{}\n", ":3: is not JSON: Unexpected non-whitespace character after JSON"],
    ["half a file", "r.json", '{\n"a": [\n1,\n', ":3: is not JSON: Unexpected end of JSON input"],
    ["bytes that are no text", "r.yaml", Buffer.from([97, 58, 49, 10, 98, 58, 32, 0xff]), ":2: is not UTF-8"],
    ["more than a mebibyte", "r.yaml", `a: ${"x".repeat(1_048_576)}`, ": is larger than 1048576 bytes"],
  ])("is refused for %s, with its line", (_what, name, content, message) => {
    write({ [name]: content });
    const error = refusal();
    expect(error.code).toBe("RULE_INVALID");
    expect(error.message).toContain(join(folder, name));
    expect(error.message).toContain(message);
    expect(error.message.replaceAll(folder, "")).not.toContain("s3");
    expect(error.cause instanceof SyntaxError).toBe(false);
  });
});

describe("an overlay", () => {
  test("gives each environment its own rules from one folder", () => {
    write({
      "limit.yaml": "name: limit\npriority: 10\nnote: try\nactions: [{ type: review }, { type: log }]\n",
      "country.json": '{"name": "country", "in": {"allow": ["DE"], "mode": "soft"}}',
      "trial.yaml": "name: trial",
    });
    const production = newFolder({
      "limit.yml": "priority: 100\nnote: null\nactions: [{ type: decline }]",
      "country.yaml": "in: { mode: strict, since: { year: 2026, month: null } }",
      "trial.yaml": "# not there yet\nnull\n",
      "night.yaml": "name: night\nnote: null",
    });
    expect(loadRules(folder, { overlay: newFolder({}) })).toEqual(loadRules(folder));
    const rules = loadRules(folder, { overlay: production });
    expect(rules).toEqual({
      country: { name: "country", in: { allow: ["DE"], mode: "strict", since: { year: 2026 } } },
      limit: { name: "limit", priority: 100, actions: [{ type: "decline" }] },
      night: { name: "night" },
    });
    expect(Object.keys(rules)).toEqual(["country", "limit", "night"]);
  });

  test("is a merge patch as RFC 7396 has it, whatever the fields are called", () => {
    const cases: [string, string, string][] = [
      ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
      ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
      ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
      ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
      ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
      ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
      ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
      ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
      ["{}", '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
      ['{"__proto__":{"x":1}}', '{"__proto__":{"y":2}}', '{"__proto__":{"x":1,"y":2}}'],
    ];
    for (const [under, over, merged] of cases) {
      write({ "r.json": under });
      const rules = loadRules(folder, { overlay: newFolder({ "r.json": over }) });
      expect(JSON.stringify(rules), `${under} ${over}`).toBe(`{"r":${merged}}`);
    }
  });

  test("is merged before the rules become texts", () => {
    write({ "a.yaml": "name: a\npriority: 1", "b.json": '{"tags": ["x"], "name": "b"}' });
    const over = newFolder({ "a.yaml": "priority: 2", "c.yaml": "name: c" });
    const texts = loadRules(folder, { as: "texts", overlay: over });
    expectTypeOf(texts).toEqualTypeOf<Record<string, string>>();
    expect(texts).toEqual({ a: '{"name":"a","priority":2}', b: '{"name":"b","tags":["x"]}', c: '{"name":"c"}' });
    expect(texts).toEqual(ruleTexts(loadRules(folder, { overlay: over })));
  });

  test("is refused with its own files and lines", () => {
    write({ "a.yaml": "name: a", "B.yaml": "name: b", "c.yaml": "x: 1\nx: 2" });
    const over = newFolder({
      "a.yaml": "# all that was here is gone\n---\n",
      "b.yaml": "priority: 1",
      "d.yaml": "null",
      "e.yaml": "x: 1\ny: [",
      "f.yaml": "- null",
    });
    const { message, code } = refusal(folder, { overlay: over });
    expect(code).toBe("RULE_INVALID");
    expect(message).toContain(`${join(folder, "c.yaml")}:2: declares a field a second time`);
    expect(message).toContain(
      `${join(over, "a.yaml")}:1: must hold one object with what differs from the rule, or null`,
    );
    expect(message).toContain(
      `${join(over, "b.yaml")}: differs from ${join(folder, "B.yaml")} only in upper and lower case`,
    );
    expect(message).toContain(`${join(over, "d.yaml")}:1: leaves out a rule that is not there`);
    expect(message).toContain(`${join(over, "e.yaml")}:2: `);
    expect(message).toContain(`${join(over, "f.yaml")}:1: must hold one object`);
    const missing = join(folder, "production");
    expect(refusal(folder, { overlay: missing }).message).toContain(
      `load rules from ${missing} failed: the folder cannot be read: ENOENT`,
    );
  });

  test.each([
    [{ overlays: "production" }, 'there is no option "overlays"; the options are overlay and as'],
    ["production", "the second argument must be an object of options"],
    [null, "the second argument must be an object of options"],
    [{ overlay: 5 }, "the option overlay must be the path of a folder"],
    [{ overlay: "" }, "the option overlay must be the path of a folder"],
    [{ as: "text" }, 'the option as must be "objects" or "texts"'],
  ])("is never left out in silence: as %j it is refused", (options, said) => {
    // As a program does that was written in JavaScript, or whose types nobody checked.
    const untyped = JSON.parse(JSON.stringify(options));
    expect(refusal(folder, untyped).message).toContain(
      `load rules from ${folder} failed: ${said}. What to do: write loadRules("<folder>", { overlay: "<folder>", as: "texts" })`,
    );
  });
});
