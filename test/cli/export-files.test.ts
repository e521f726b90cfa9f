import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ExportedRule } from "../../cli/export/exported-rule.ts";
import { namesOf } from "../../cli/export/names.ts";
import { ruleProgram } from "../../cli/export/program.ts";
import { ruleFile } from "../../cli/export/rule-file.ts";
import { valueAtPath } from "../../cli/export/rules.ts";
import { secretPaths, secretsOf, withoutSecrets, withSecretsAs } from "../../cli/export/secrets.ts";
import { loadRules } from "../../provider/index.ts";
import { usableKey } from "../../provider/state/shape.ts";
import { asWritten, canonical, isJsonObject, type Json, type JsonObject } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";

/** Texts that YAML could take for something else, beside those that fast-check finds by itself. */
const tricky = fc.constantFrom(
  ..."null|~|true|no|on|1|1.0|1e3|0x1f|0o7|+1|.5|.inf|.nan|-|- a|a: b|#|a #b|!tag|&a|*a|%|@|`|<<|=|2026-01-01|12:30|---|...".split(
    "|",
  ),
  "",
  " ",
  "\n",
  "\r\n",
  " a",
  "a ",
  "a\n",
  "\n\na",
  "  a\n b",
  "a\n\n",
  "\ta",
  "a\tb",
  "\u0000",
  "\u0085",
  "\u2028",
  "\uFEFF",
  "\u{1F600}",
  "'\"\\",
  "123456789012345678901234567890",
  "long ".repeat(100),
  `${"x".repeat(300)}\n${"y ".repeat(200)}`,
);
const text = fc.oneof({ weight: 2, arbitrary: tricky }, fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }));
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(Number.MAX_SAFE_INTEGER, -0, 1e21, 1e22, 2 ** 53 + 2, 5e-324, 0.1),
);
const { json } = fc.letrec<{ json: Json; object: JsonObject }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false),
    number,
    text,
    fc.array(tie("json"), { maxLength: 4 }),
    tie("object"),
  ),
  object: fc
    .array(fc.tuple(fc.oneof(text, fc.constantFrom("__proto__", "constructor", "<<", "name")), tie("json")), {
      maxLength: 5,
    })
    .map((fields) => Object.fromEntries(fields)),
}));
const definition = json.filter(isJsonObject);

describe("a rule file", () => {
  test("is read back as the same JSON, whatever is in the rule", () => {
    const folder = newFolder();
    fc.assert(
      fc.property(fc.array(definition, { minLength: 1, maxLength: 20 }), fc.boolean(), (rules, hasSchema) => {
        const count = 20;
        for (let n = 0; n < count; n += 1) {
          const rule = rules[n % rules.length] ?? {};
          writeFileSync(join(folder, `r${n}.yaml`), ruleFile(rule, hasSchema ? "../rule.schema.json" : undefined));
        }
        const read = loadRules(folder);
        for (let n = 0; n < count; n += 1)
          expect(JSON.stringify(read[`r${n}`])).toBe(JSON.stringify(rules[n % rules.length]));
      }),
      { numRuns: 25 },
    );
  });

  test("looks as a person would write it, and tells editors where its schema is", () => {
    const rule = {
      name: "limit",
      isActive: true,
      code: "010",
      note: "one\ntwo\n",
      conditions: [{ field: "amount", value: 10 }],
      tags: [],
      more: {},
    };
    expect(ruleFile(rule, "../rule.schema.json")).toBe(`# yaml-language-server: $schema=../rule.schema.json
name: limit
isActive: true
code: "010"
note: |
  one
  two
conditions:
  - field: amount
    value: 10
tags: []
more: {}
`);
  });
});

describe("names", () => {
  const named = (...titles: (string | undefined)[]) => namesOf(titles.map((title, n) => ({ ruleId: `id${n}`, title })));

  test("are natural keys, else ids; what is no file name is made one, and said", () => {
    const { names, renamed } = named(
      "large amounts",
      "eu/limit: 10 %",
      undefined,
      "  -",
      "con",
      "\u00e9t\u00e9",
      "a".repeat(300),
      "x.",
    );
    expect([...names].sort().map(([, key]) => key)).toEqual([
      "large amounts",
      "eu-limit- 10",
      "id2",
      "id3",
      "rule-con",
      "\u00e9t\u00e9",
      "a".repeat(180),
      "x",
    ]);
    expect(renamed.map(({ ruleId }) => ruleId).sort()).toEqual(["id1", "id3", "id4", "id6", "id7"]);
  });

  test("that collide are told apart, upper and lower case being the same", () => {
    const { names, renamed } = named("Limit", "limit", "limit-2", "limit/2", "limit");
    expect(Object.fromEntries(names)).toEqual({
      id0: "Limit",
      id1: "limit-3",
      id2: "limit-2",
      id3: "limit-2-2",
      id4: "limit-4",
    });
    expect(renamed.map(({ why }) => why)).toEqual(Array(3).fill("another rule has it"));
  });

  test("are usable, different, and the same whatever the order of the list", () => {
    const title = fc.option(fc.oneof(text, fc.constantFrom("a", "A", "a/", "a-2")), { nil: undefined });
    fc.assert(
      fc.property(fc.array(title, { maxLength: 12 }), (titles) => {
        const rules = titles.map((each, n) => ({ ruleId: `id-${n}`, title: each }));
        const { names } = namesOf(rules);
        expect(new Map([...namesOf(rules.toReversed()).names].sort())).toEqual(new Map([...names].sort()));
        expect(new Set([...names.values()].map((key) => key.toLowerCase())).size).toBe(rules.length);
        for (const key of names.values()) expect(key).toMatch(usableKey);
      }),
    );
  });
});

describe("secrets", () => {
  const rule: JsonObject = {
    name: "r",
    webhook: { token: "s3cret", url: "https://x" },
    headers: [
      { name: "a", value: "s3cret-2" },
      { name: "b", value: null },
    ],
    codes: ["s3cret-3", "s3cret-4"],
    key: { a: 1 },
  };
  const patterns = ["/webhook/token", "/headers/*/value", "/codes/*", "/key", "/key/a", "/none"];

  test("leave a definition, which keeps its form, and can be put back", () => {
    const paths = secretPaths(rule, patterns);
    expect(paths).toEqual([["webhook", "token"], ["headers", 0, "value"], ["codes", 0], ["codes", 1], ["key"]]);
    expect(withoutSecrets(rule, paths)).toEqual({
      name: "r",
      webhook: { url: "https://x" },
      headers: [{ name: "a" }, { name: "b", value: null }],
      codes: [null, null],
    });
    expect(withSecretsAs(rule, paths, (secret) => ({ hidden: secret }))).toMatchObject({
      codes: [{ hidden: "s3cret-3" }, { hidden: "s3cret-4" }],
      key: { hidden: { a: 1 } },
    });
  });

  test("are, in a program, expressions in their places, and every other value is what it was", async () => {
    const odd = JSON.parse('{"__proto__": {"x": 1}, "odd key": [[], {}, "</script>"], "n": -1.5e-7}');
    const exported = [
      { key: "r", ruleId: "1", definition: rule, secrets: secretPaths(rule, patterns) },
      { key: "odd", ruleId: "2", definition: odd, secrets: [] },
    ] satisfies ExportedRule[];
    const secrets = secretsOf(exported, ({ definition }, path) => valueAtPath(definition, path));
    const program = ruleProgram({ rules: exported, secrets, connection: "sandbox" }, ({ key }) => key === "odd");
    expect(program).not.toContain("s3cret");
    const made: Record<string, { definition: Json; connection: string; adopt?: string }> = {};
    const values = Object.fromEntries(secrets.map(({ configKey, value }) => [configKey, value]));
    const body = program.replace(/^import .*$/gm, "").replaceAll("<Json>", "");
    const get = (key: string): Json | undefined => values[key];
    class Config {
      requireSecret = get;
      requireSecretObject = get;
    }
    class MerchantRule {
      constructor(name: string, args: { definition: Json; connection: string }) {
        made[name] = args;
      }
    }
    new Function("pulumi", "MerchantRule", body)({ Config }, MerchantRule);
    expect(canonical(made.r?.definition ?? null, asWritten)).toBe(canonical(rule, asWritten));
    expect(canonical(made.odd?.definition ?? null, asWritten)).toBe(canonical(odd, asWritten));
    expect(made).toMatchObject({ r: { connection: "sandbox" }, odd: { adopt: "2" } });
    expect(made.r).not.toHaveProperty("adopt");
  });
});
