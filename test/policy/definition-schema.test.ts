import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { definitionSchema } from "../../policy/definition-schema.ts";
import { newFolder } from "../support/folder.ts";
import { evaluate, rule, ruleSet, unknown } from "./evaluate.ts";

const schema = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string" },
    priority: { type: "integer", minimum: 1 },
    mail: { type: "string", format: "email" },
    conditions: { type: "array", items: { type: "object", required: ["field"] } },
  },
  additionalProperties: false,
};

describe("definition-schema", () => {
  test("passes definitions that are as the schema says", async () => {
    const declared = [
      rule("a", { name: "a", priority: 1 }),
      ruleSet("all", { b: { name: "b", mail: "x@example.com" } }),
    ];
    expect(await evaluate(definitionSchema, declared, { schema })).toEqual({
      violations: [],
      notes: [],
      notApplicable: [],
    });
  });

  test("names the place, what is there and what the schema wants", async () => {
    const declared = [
      rule("a", { priority: 0, extra: 1 }),
      ruleSet("all", { b: { name: 5, mail: "x", conditions: [{ field: "amount" }, { value: 1 }] } }),
    ];
    expect((await evaluate(definitionSchema, declared, { schema })).violations).toEqual([
      'a: a: found {"priority":0,"extra":1}, allowed by the schema: must have required property \'name\'',
      'a: a: found {"priority":0,"extra":1}, allowed by the schema: must NOT have additional properties: "extra"',
      "a: a: /priority: found 0, allowed by the schema: must be >= 1",
      "all: b: /name: found 5, allowed by the schema: must be string",
      'all: b: /mail: found "x", allowed by the schema: must match format "email"',
      "all: b: /conditions/1: found {\"value\":1}, allowed by the schema: must have required property 'field'",
    ]);
  });

  test("keeps secret values out of its messages", async () => {
    const declared = [rule("a", { mail: "hush", priority: 0 })];
    expect((await evaluate(definitionSchema, declared, { schema, secret: ["/mail"] })).violations).toEqual([
      'a: a: found {"mail":"[secret]","priority":0}, allowed by the schema: must have required property \'name\'',
      "a: a: /priority: found 0, allowed by the schema: must be >= 1",
      'a: a: /mail: found [secret], allowed by the schema: must match format "email"',
    ]);
  });

  test("does not judge what depends on a value that is not known yet, and says so", async () => {
    const declared = [
      rule("a", { name: unknown, priority: 0, conditions: [unknown, { field: unknown }, {}] }),
      rule("b", unknown),
    ];
    expect(await evaluate(definitionSchema, declared, { schema })).toMatchObject({
      violations: [
        "a: a: /priority: found 0, allowed by the schema: must be >= 1",
        "a: a: /conditions/2: found {}, allowed by the schema: must have required property 'field'",
      ],
      notes: [
        "not known before the run, so not checked: a: /name, a: /conditions/0, a: /conditions/1/field",
        "not known before the run, so not checked: b",
      ],
    });
  });

  test("does not judge a branch that an unknown value may rule out", async () => {
    const branched = {
      if: { properties: { type: { const: "decline" } } },
      else: { properties: { score: { maximum: 10 } } },
    };
    const late = [rule("a", { type: unknown, score: 99 })];
    expect((await evaluate(definitionSchema, late, { schema: branched })).violations).toEqual([]);
    const early = [rule("a", { type: "route", score: 99 })];
    expect((await evaluate(definitionSchema, early, { schema: branched })).violations).toEqual([
      "a: a: /score: found 99, allowed by the schema: must be <= 10",
    ]);
  });

  test("knows draft 2020-12, and draft-07 by its name", async () => {
    const tuple = {
      a: { properties: { pair: { prefixItems: [{ type: "string" }] } } },
      b: { properties: { pair: { items: [{ type: "string" }] } } },
    };
    const declared = [rule("a", { pair: [5] })];
    const messages = ["a: a: /pair/0: found 5, allowed by the schema: must be string"];
    expect((await evaluate(definitionSchema, declared, { schema: tuple.a })).violations).toEqual(messages);
    const draft07 = { $schema: "http://json-schema.org/draft-07/schema#", ...tuple.b };
    expect((await evaluate(definitionSchema, declared, { schema: draft07 })).violations).toEqual(messages);
  });

  test.each([
    ["that is broken", { type: "text" }, "schema is invalid: data/type must be equal to one of the allowed values"],
    ["that points nowhere", { $ref: "#/$defs/none" }, "can't resolve reference #/$defs/none from id #"],
    [
      "of another draft",
      { $schema: "http://json-schema.org/draft-04/schema#" },
      'no schema with key or ref "http://json-schema.org/draft-04/schema#"; allowed: a JSON Schema, draft 2020-12, or draft-07 by its $schema',
    ],
    ["that answers later", { $async: true }, "it has $async; allowed: a schema without it"],
  ])("refuses a schema %s", async (_, broken, reason) => {
    const refused = evaluate(definitionSchema, [rule("a", {})], { schema: broken });
    await expect(refused).rejects.toThrow("the configuration of definition-schema is wrong.");
    await expect(refused).rejects.toThrow(reason);
    await expect(refused).rejects.toThrow(
      "→ at schema\nWhat to do: correct it in the file that --policy-pack-config names.",
    );
  });

  test("has nothing to say without a schema, and refuses two", async () => {
    expect((await evaluate(definitionSchema, [rule("a", {})])).notApplicable).toEqual(["no schema is configured"]);
    await expect(evaluate(definitionSchema, [rule("a", {})], { schema: "x" })).rejects.toThrow(/schema must be object/);
  });

  describe("in a file", () => {
    let folder = "";
    beforeEach(() => {
      folder = newFolder();
      // Where pulumi was started, as the shell says it.
      vi.stubEnv("PWD", folder);
    });

    test("is found from the folder in which pulumi was started", async () => {
      writeFileSync(join(folder, "rule.schema.json"), JSON.stringify(schema));
      for (const schemaFile of ["rule.schema.json", "./rule.schema.json", join(folder, "rule.schema.json")]) {
        expect((await evaluate(definitionSchema, [rule("a", {})], { schemaFile })).violations).toEqual([
          "a: a: found {}, allowed by the schema: must have required property 'name'",
        ]);
      }
    });

    test("is read once, however many resources there are", async () => {
      const file = join(folder, "rule.schema.json");
      writeFileSync(file, JSON.stringify(schema));
      const config = { schemaFile: file };
      await evaluate(definitionSchema, [rule("a", {})], config);
      rmSync(file);
      expect((await evaluate(definitionSchema, [rule("b", {})], config)).violations).toHaveLength(1);
    });

    test.each([
      ["is not there", undefined, "it cannot be read (ENOENT"],
      ["is not JSON", "type: object", "it is not JSON (Unexpected token"],
      ["is no object", "[]", "it is no object; allowed: a JSON Schema"],
      ["is no schema", '{ "type": "text" }', "schema is invalid: data/type must be"],
    ])("is refused with its full path where it %s", async (_, text, reason) => {
      if (text !== undefined) writeFileSync(join(folder, "my.json"), text);
      const refused = evaluate(definitionSchema, [rule("a", {})], { schemaFile: "my.json" });
      await expect(refused).rejects.toThrow(`✖ ${join(folder, "my.json")}: ${reason}`);
      await expect(refused).rejects.toThrow("→ at schemaFile");
    });

    test("excludes one in the configuration", async () => {
      writeFileSync(join(folder, "my.json"), "{}");
      await expect(evaluate(definitionSchema, [rule("a", {})], { schema, schemaFile: "my.json" })).rejects.toThrow(
        "✖ found schema and schemaFile, allowed: one of them",
      );
    });
  });
});
