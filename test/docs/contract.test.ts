import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { evaluate, parseSemantics, readRules } from "../../meaning/index.ts";
import { testCasesIn } from "../../report/meaning/test-file.ts";
import { contractFields, defaultOf, semanticsFields } from "../../scripts/reference/contract-fields.ts";
import { contractPage, semanticsPage } from "../../scripts/reference/contract-page.ts";
import { defineContract, parseContract } from "../../sdk/contract/index.ts";
import { publishedSchema } from "../../sdk/contract/schema.ts";
import { isJsonArray, isJsonObject, type Json } from "../../sdk/json/json.ts";
import { blocksOf, codeIn, pageAt, rowsOf } from "./page.ts";

const page = pageAt("docs/reference/contract.md");

describe("docs/reference/semantics.md", () => {
  const own = pageAt("docs/reference/semantics.md");

  test("has the tables of the schema (node scripts/write-contract-reference.ts), with every field once", () => {
    expect(own).toBe(semanticsPage(own));
    const shown = new Set(rowsOf(own).map(([path]) => path));
    for (const { path } of semanticsFields()) expect(shown).toContain(`\`${path}\``);
  });

  test("says of every field what it is, with examples that the schema takes", () => {
    const ajv = addFormats.default(new Ajv2020({ strict: false }));
    for (const { path, description, examples, schema } of semanticsFields()) {
      expect(description, path).toMatch(/^[A-Z].*\.$/s);
      for (const example of examples) expect(ajv.compile(schema)(example), path).toBe(true);
    }
  });
});

describe("docs/simulation.md", () => {
  const guide = pageAt("docs/simulation.md");

  test("has semantics that can be used, and tests that are right by them", () => {
    const blocks = blocksOf(guide, "yaml");
    const [text = ""] = blocks.filter((block) => block.includes("applies:"));
    const semantics = parseSemantics(text, "merchant-rules.semantics.yaml");
    const [tests = ""] = blocks.filter((block) => block.includes("cases:"));
    const cases = testCasesIn(tests, "rules.test.yaml", semantics);
    expect(cases.map(({ outcomes }) => outcomes)).toEqual([["decline"], ["accept"], ["decline"]]);
    const [limit] = readRules(
      {
        name: "night-limit",
        action: "block",
        priority: 1,
        conditions: [{ field: "amount", operator: "over", value: 500 }],
      },
      semantics,
    );
    for (const { payment, outcomes } of cases)
      expect(evaluate(payment, limit === undefined ? [] : [limit], semantics).decision).toMatchObject({ outcomes });
    const [lists = ""] = blocks.filter((block) => block.includes("valueLists:"));
    expect(() => parseSemantics(`${text}\n${lists}`, "with lists")).not.toThrow();
  });
});

describe("docs/reference/contract.md", () => {
  test("has the tables of the schema (node scripts/write-contract-reference.ts)", () => {
    expect(page).toBe(contractPage(page));
  });

  test("names every path of the JSON Schema with its default, and no other", () => {
    const shown = rowsOf(page)
      .filter((cells) => cells.length === 5)
      .map(([path, , value]) => `${path} ${value}`);
    const paths = pathsIn(JSON.parse(publishedSchema()), "");
    expect(paths.size).toBeGreaterThan(80);
    expect(new Set(shown)).toEqual(paths);
  });

  test("says of every field what it is, with an example of each that is no object of fields", () => {
    for (const { path, description, examples, type, schema } of contractFields()) {
      expect(description, path).toMatch(/^[A-Z].*\.$/s);
      const hasFields = /^object(?: or `null`)?$/.test(type) && JSON.stringify(schema).includes('"properties"');
      if (!hasFields) expect(examples.length, path).toBeGreaterThan(0);
    }
  });

  test("has examples that the schema takes", () => {
    const { $defs } = JSON.parse(publishedSchema());
    const ajv = addFormats.default(new Ajv2020({ strict: false }));
    for (const { path, examples, schema } of contractFields())
      for (const example of examples) {
        const validate = ajv.compile({ ...schema, $defs });
        expect(validate(example), `${path}: ${JSON.stringify(example)} ${JSON.stringify(validate.errors)}`).toBe(true);
      }
  });

  test("names in its text no path that there is not", () => {
    const paths = contractFields().map(({ path }) => path);
    const named = codeIn(page).filter((text) =>
      /^(?:operations|rule|auth|errors|limits|idempotency)\.[\w.[\]]+$/.test(text),
    );
    expect(named.length).toBeGreaterThan(50);
    for (const path of named) expect(paths).toContain(path);
  });

  test("has only YAML that a contract can hold", () => {
    const blocks = blocksOf(page, "yaml");
    expect(blocks.length).toBeGreaterThan(15);
    for (const block of blocks) {
      const part: unknown = parse(block);
      expect(part, block).toBeTypeOf("object");
      const whole = /^version:/m.test(block) ? block : `version: 1\n${block}`;
      expect(() => parseContract(whole, "contract.yaml"), block).not.toThrow();
    }
  });

  test("so has the guide", () => {
    const blocks = blocksOf(pageAt("docs/contract.md"), "yaml").filter((block) => block.includes("operations:"));
    expect(blocks.length).toBe(1);
    for (const block of blocks) expect(() => parseContract(block, "docs/contract.md")).not.toThrow();
  });

  test("has one file with every field, but for those of other paginations and of other ways to tell an identity or a version", () => {
    const complete: Json = parse(blocksOf(page, "yaml").at(-1) ?? "");
    const there = new Set(placesIn(complete, ""));
    const missing = contractFields().filter(
      ({ path }) =>
        !there.has(path) &&
        !/pagination\.(?:page|first|offset|total|shortPage|header|url|complete)$|identity\.(?:claim|clientId)$|version\.etag$/.test(
          path,
        ),
    );
    expect(missing.map(({ path }) => path)).toEqual([]);
  });

  test("gives the defaults that a contract gets", () => {
    const contract: Json = JSON.parse(JSON.stringify(defineContract({ version: 1 })));
    for (const field of contractFields()) {
      if (field.default === undefined || field.default === null || isObjectOfFields(field.default)) continue;
      const value = field.path
        .split(".")
        .reduce<Json | undefined>((at, name) => (isJsonObject(at) ? at[name] : undefined), contract);
      if (value !== undefined && value !== null) expect(value, field.path).toEqual(field.default);
    }
  });
});

/** `path` default of every property of a schema, read apart from the page's own reader. */
function pathsIn(schema: Json, at: string): Set<string> {
  if (!isJsonObject(schema)) return new Set();
  const required = isJsonArray(schema.required) ? schema.required : [];
  const own = Object.entries(isJsonObject(schema.properties) ? schema.properties : {}).flatMap(([name, inner]) => {
    const path = at === "" ? name : `${at}.${name}`;
    const said = isJsonObject(inner) ? inner.default : undefined;
    return [
      `\`${path}\` ${defaultOf({ default: said, isRequired: required.includes(name) })}`,
      ...pathsIn(inner, path),
    ];
  });
  const forms = [schema.anyOf, schema.oneOf].flatMap((list) => (isJsonArray(list) ? list : []));
  return new Set([
    ...own,
    ...forms.flatMap((form) => [...pathsIn(form, at)]),
    ...pathsIn(schema.items ?? null, `${at}[]`),
    ...pathsIn(schema.additionalProperties ?? null, `${at}.<name>`),
  ]);
}

/** Every place of a value, in the form of the page's paths. */
function placesIn(value: Json, at: string): string[] {
  if (isJsonArray(value)) return value.flatMap((item) => placesIn(item, `${at}[]`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = at === "parameters" ? `${at}.<name>` : at === "" ? name : `${at}.${name}`;
    return [path, ...placesIn(inner, path)];
  });
}

function isObjectOfFields(value: Json): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}
