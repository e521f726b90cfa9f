import { existsSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { draftContract } from "../../contract-tools/draft.ts";
import { openGaps } from "../../contract-tools/gaps.ts";
import { openapiFacts } from "../../contract-tools/openapi/facts.ts";
import { readWritten } from "../../contract-tools/written.ts";
import { definitionChecker, loadContract, loadPreset } from "../../sdk/contract/index.ts";
import { isMerchantRulesError } from "../../sdk/errors.ts";
import { isJsonObject, type Json, type JsonObject, pointerOf, withValueAt } from "../../sdk/json/index.ts";
import { command } from "../cli/command.ts";
import { jar } from "../real/wiremock.ts";
import { newFolder } from "../support/folder.ts";
import { textInZip } from "../support/zip.ts";

/** Runs `contract init --openapi` on a description, in a folder of its own. */
async function from(description: string, ...words: string[]) {
  const folder = newFolder({ openapi: description });
  const [input, output] = [join(folder, "openapi"), join(folder, "c.yaml")];
  const ran = await command("contract", "init", "--openapi", input, "--output", output, ...words);
  return { ...ran, folder, input, output };
}

const answer = (schema: JsonObject): JsonObject => ({
  description: "",
  content: { "application/json; charset=utf-8": { schema } },
});

const rule = { $ref: "#/components/schemas/Rule" };
const one = "/v2/{merchant_id}/rules/{rule-id}";
const all = "/v2/{merchant_id}/rules";

/** A whole service. */
const described: JsonObject = {
  openapi: "3.1.0",
  info: { title: "Rules", version: "1" },
  security: [{ machine: [] }],
  paths: {
    "/v2/{merchant_id}/payments": { post: {}, get: {} },
    [all]: {
      post: {
        parameters: [
          { name: "Idempotency-Key", in: "header", schema: { type: "string" } },
          { name: "Api-Version", in: "header", required: true, schema: { type: "string", enum: ["2026-01-01"] } },
        ],
        requestBody: { content: { "application/json": { schema: rule } } },
        responses: {
          201: answer({ type: "object", properties: { data: rule } }),
          422: answer({ properties: { error: { properties: { code: {}, message: {} } } } }),
        },
      },
      get: {
        parameters: [{ $ref: "#/components/parameters/cursor" }, { name: "limit", in: "query" }],
        responses: {
          200: answer({
            allOf: [
              { properties: { data: { type: "object", properties: { rules: { type: "array", items: rule } } } } },
              { properties: { nextCursor: { type: "string" }, hasMore: { type: "boolean" } } },
            ],
          }),
        },
      },
      delete: { parameters: [{ name: "ruleId", in: "query", required: true }], responses: { 204: {} } },
    },
    [one]: {
      get: { responses: { 200: answer({ properties: { data: rule } }) } },
      patch: { responses: { 200: answer(rule), 202: {} } },
    },
  },
  components: {
    parameters: { cursor: { name: "after", in: "query" } },
    securitySchemes: {
      machine: { type: "oauth2", flows: { clientCredentials: { tokenUrl: "https://login.example.com/token" } } },
    },
    schemas: {
      Rule: {
        type: "object",
        required: ["id", "name"],
        properties: {
          id: { type: "string", readOnly: true },
          name: { type: "string", example: "x" },
          limit: { type: "integer", format: "int64", minimum: 0, exclusiveMinimum: true },
          note: { type: "string", nullable: true },
          all: { type: "array", items: rule },
        },
      },
    },
  },
};

const expected = {
  parameters: { merchantId: {} },
  operations: {
    create: { path: "/v2/{merchantId}/rules", headers: { "Api-Version": "2026-01-01" }, success: [201] },
    get: { path: "/v2/{merchantId}/rules/{ruleId}" },
    delete: { path: "/v2/{merchantId}/rules", identifyBy: { in: "query", name: "ruleId" }, success: [204] },
    update: { method: "PATCH", path: "/v2/{merchantId}/rules/{ruleId}", success: [200, 202] },
    list: {
      items: "/data/rules",
      pagination: { type: "cursor", limit: "limit", cursor: "after", next: "/nextCursor", more: "/hasMore" },
    },
  },
  rule: { id: ["/id"], envelope: "/data" },
  auth: { token: { baseUrl: "https://login.example.com", path: "/token", encoding: "form" } },
  errors: { code: "/error/code", message: "/error/message" },
  idempotency: { header: "Idempotency-Key" },
};

describe("contract init --openapi", () => {
  test.each([
    ["3.1 in JSON", JSON.stringify(described)],
    ["3.0 in YAML", stringify({ ...described, openapi: "3.0.3" })],
  ])("takes what a description by %s states, and names the rest as open", async (_form, text) => {
    const { code, output, stderr } = await from(text);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(loadContract(output)).toMatchObject(expected);
    const open = openGaps(readWritten(output).written).map(({ field }) => field);
    expect(open).toEqual(expect.arrayContaining(["operations.list.lagMs", "rule.naturalKey", "rule.owner"]));
    expect(open).not.toContain("operations.delete.identifyBy");
  });

  test("takes the schema of a rule as JSON Schema, also one that refers to itself", async () => {
    const { output } = await from(JSON.stringify(described));
    const schema = loadContract(output).rule.schema ?? {};
    const faults = (definition: Json) => definitionChecker(schema)(definition).map(({ path }) => path.join("."));
    expect(faults({ name: "a", note: null, limit: 1, all: [{ name: "b" }] })).toEqual([]);
    expect(faults({ name: 1, limit: 0, all: [{ name: "b", all: [{}] }] }).sort()).toEqual([
      "all.0.all.0",
      "limit",
      "name",
    ]);
  });

  test("makes a contract or says what is wrong, whatever stands in a description", () => {
    const file = join(newFolder(), "openapi.json");
    const places = placesIn(described).filter((path) => path.length > 0 && path[0] !== "openapi");
    const refs = fc.constantFrom("#", "#/paths", "#/components/schemas/Rule", "x", "#/%", "#/~2");
    const piece = fc.oneof(
      fc.json({ maxDepth: 3 }).map((text): Json => JSON.parse(text)),
      refs.map((ref) => ({ $ref: ref })),
      refs.map((ref) => ({ allOf: [{ $ref: ref }, { $ref: ref }], properties: { id: { $ref: ref } } })),
    );
    let made = 0;
    fc.assert(
      fc.property(fc.constantFrom(...places), piece, (path, value) => {
        writeFileSync(file, JSON.stringify(withValueAt(described, pointerOf(path), value)));
        try {
          draftContract(openapiFacts(file, all), []);
          made += 1;
        } catch (error) {
          expect(isMerchantRulesError(error), String(error)).toBe(true);
        }
      }),
      { numRuns: 40 },
    );
    expect(made).toBeGreaterThan(10);
  });

  test("lets an answer overrule the description", async () => {
    const { output } = await from(JSON.stringify(described), "--delete-by", "/v2/rules/{ruleId}", "--list-lag", "50");
    expect(loadContract(output).operations).toMatchObject({
      delete: { path: "/v2/rules/{ruleId}", identifyBy: { in: "path" } },
      list: { lagMs: 50, items: "/data/rules" },
    });
  });

  test("never takes a delete of the whole collection for that of a rule", async () => {
    const deletes = (parameters: Json): JsonObject => ({
      openapi: "3.0.0",
      paths: { "/rules": { post: {}, delete: { parameters } }, "/rules/{id}": { get: {} } },
    });
    for (const parameters of [
      [],
      [{ name: "id", in: "query" }],
      [{ name: "merchantId", in: "query", required: true }],
      [{ name: "confirm", in: "query", required: true }],
    ]) {
      const { output, code } = await from(JSON.stringify(deletes(parameters)));
      expect(code).toBe(0);
      expect(loadContract(output).operations.delete.identifyBy).toBeNull();
    }
  });

  test("takes WireMock's own description: the contract is that of the preset, as far as it is described", async () => {
    const { output, code } = await from(wiremock("json"), "--collection", "/__admin/mappings");
    expect(code).toBe(0);
    const [found, preset] = [loadContract(output), loadPreset("wiremock")];
    expect(found.operations.delete).toEqual(preset.operations.delete);
    expect(found.operations.update).toEqual(preset.operations.update);
    expect(found.operations.get).toEqual(preset.operations.get);
    expect(found.operations.list).toEqual({ ...preset.operations.list, lagMs: null });
    expect(found.rule.id).toEqual(preset.rule.id);
    const stub = { name: "a", request: { method: "GET", url: "/a" }, response: { status: 200 } };
    expect(definitionChecker(found.rule.schema ?? {})(stub)).toEqual([]);
    expect(definitionChecker(found.rule.schema ?? {})({ ...stub, priority: 0 })).toHaveLength(1);
  });
});

describe("contract init --openapi with what it cannot take", () => {
  const paths = { "/rules": { post: { requestBody: { $ref: "#/x" } } }, "/rules/{id}": {} };
  const circle = { openapi: "3.0.0", paths, x: { $ref: "#/y" }, y: { $ref: "#/x" } };
  const several = { openapi: "3.0.0", paths: { ...paths, "/a": { post: {} }, "/a/{id}": {} } };
  test.each<readonly [string, string, RegExp]>([
    ["is a page", "<html><body>", /is no OpenAPI description: it has no field openapi/],
    ["is empty", "", /is no OpenAPI description/],
    ["is another JSON", "[1]", /is no OpenAPI description/],
    ["is neither JSON nor YAML", '{"openapi": "3.0.0", ', /is neither JSON nor YAML: line 1 /],
    ["is Swagger 2.0", '{"swagger":"2.0"}', /it has swagger "2\.0", and 3\.0 and 3\.1 are read.*convert it/],
    ["is of a later version", '{"openapi":"4.0.0"}', /it has openapi "4\.0\.0"/],
    ["has a circle", JSON.stringify(circle), /references at "#\/[xy]" lead in a circle/],
    ["refers to nothing", JSON.stringify({ ...circle, x: undefined }), /reference "#\/x" leads nowhere/],
    [
      "refers to a file",
      JSON.stringify({ ...circle, x: { $ref: "rules.yaml" } }),
      /refers to another file or address, "rules\.yaml"/,
    ],
    ["has no rules", '{"openapi":"3.0.0"}', /no path that makes something/],
    ["may mean several paths", JSON.stringify(several), /several paths that could be.*--collection: \/rules, \/a/],
    [
      "has a path that cannot be one",
      '{"openapi":"3.0.0","paths":{"/a b":{"post":{}},"/a b/{id}":{}}}',
      /operations\.create\.path: found/,
    ],
  ])("says so where it %s, ends with 1, and writes nothing", async (_what, text, why) => {
    const { stderr, code, folder } = await from(text);
    expect(stderr).toMatch(why);
    expect(stderr).toContain("What to do: ");
    expect(code).toBe(1);
    expect(readdirSync(folder)).toEqual(["openapi"]);
  });

  test("names the paths that there are where it has not the one that is named", async () => {
    const { stderr, code } = await from(JSON.stringify(circle), "--collection", "/b");
    expect(stderr).toMatch(/it has no path \/b\. What to do: name one of its paths with --collection: \/rules/);
    expect(code).toBe(1);
  });

  test("says so of 50 MB at once, and of a file that is not there", async () => {
    const { input, output } = await from("");
    truncateSync(input, 52_428_800);
    const large = await command("contract", "init", "--openapi", input, "--output", output);
    expect(large.stderr).toMatch(/is larger than 10485760 bytes.*What to do: name a file.*at most 10 MiB/);
    const missing = await command("contract", "init", "--openapi", `${input}-no`, "--output", output);
    expect(missing.stderr).toMatch(/cannot be read: ENOENT/);
    expect([large.code, missing.code, existsSync(output)]).toEqual([1, 1, false]);
  });

  test("says of WireMock's description in several files that it has to be one", async () => {
    const { stderr, code } = await from(wiremock("yaml"), "--collection", "/__admin/mappings");
    expect(stderr).toMatch(/it refers to another file or address.*What to do: bundle the description into one file/);
    expect(code).toBe(1);
  });
});

/** The paths of all objects in a value. */
function placesIn(value: Json, path: readonly string[] = []): string[][] {
  if (!isJsonObject(value)) return [];
  return [[...path], ...Object.entries(value).flatMap(([name, below]) => placesIn(below, [...path, name]))];
}

/** WireMock's description of its own API, as its package has it. */
function wiremock(form: "json" | "yaml"): string {
  return textInZip(jar(), `swagger/wiremock-admin-api.${form}`);
}
