import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import {
  defineContract,
  definitionChecker,
  loadContract,
  loadPreset,
  parseContract,
  presetFile,
  presets,
} from "../../../sdk/contract/index.ts";
import { publishedSchema } from "../../../sdk/contract/schema.ts";
import { newFolder } from "../../support/folder.ts";

const folder = newFolder();

const listed = { path: "/rules", items: "/rules" };

describe("a contract that says nothing but its version", () => {
  const { operations, rule, auth, idempotency } = defineContract({ version: 1 });

  test("has what the specification documents", () => {
    expect(operations.create).toMatchObject({ method: "POST", path: "/api/v1/merchants/rules", success: [201] });
    expect(operations.get).toMatchObject({ method: "GET", path: "/api/v1/merchants/rules/{ruleId}", success: [200] });
    expect(operations.delete).toMatchObject({ method: "DELETE", path: "/api/v1/merchants/rules", success: [200] });
  });

  test("guesses none of the gaps", () => {
    expect(operations.delete.identifyBy).toBe(null);
    expect(operations.update).toBe(null);
    expect(operations.list).toBe(null);
    expect(rule).toEqual({
      id: ["/ruleId", "/id"],
      idScope: null,
      envelope: "",
      schema: null,
      naturalKey: null,
      owner: null,
      gone: [],
      transitions: [],
      undeclared: "report",
      foreign: [],
      readOnly: ["/createdAt", "/updatedAt"],
      changedBy: null,
      changedAt: null,
      writeOnly: [],
      immutable: [],
      unordered: [],
      forms: [],
      secret: [],
    });
    expect(auth.identity).toBe(null);
    expect(idempotency).toBe(null);
  });

  test("is what the seed's preset says", () => {
    expect({ ...loadPreset("seed"), description: undefined }).toEqual({
      ...defineContract({ version: 1 }),
      description: undefined,
    });
  });
});

describe("a contract of a service that nobody here runs", () => {
  test("may replace immutable rules, carry a dated version header and an account in every query", () => {
    const query = { account: "{accountId}" };
    const headers = { "Api-Version": "2026-03-01" };
    const contract = defineContract({
      version: 1,
      parameters: { accountId: { description: "The account" } },
      operations: {
        create: { path: "/v2/rules", query, headers, success: [200, 201] },
        get: { path: "/v2/rules/{ruleId}", query, headers },
        delete: { path: "/v2/rules/{ruleId}", query, headers, identifyBy: { in: "path" }, success: [204] },
        list: { ...listed, query, headers, pagination: { type: "offset", limit: "limit" } },
      },
      rule: { id: ["/data/uid"], envelope: "/data" },
    });
    expect(contract.operations.update).toBe(null);
    expect(contract.operations.delete.identifyBy).toEqual({ in: "path", name: "ruleId" });
  });

  test("may keep deleted rules, own some itself, take a mark and say whose the credentials are", () => {
    const { rule, auth, operations } = defineContract({
      version: 1,
      parameters: { accountId: {} },
      operations: { list: { ...listed, lagMs: 0 } },
      rule: {
        naturalKey: "/meta/name",
        immutable: ["/scope/*/by", "/meta/kind"],
        owner: { at: "/meta/by" },
        gone: [{ at: "/status", is: ["DELETED"] }],
        foreign: [{ at: "/meta/by", is: ["system", 0, true] }],
      },
      auth: { identity: { path: "/accounts/{accountId}/me", at: "/id" } },
    });
    expect(rule.owner).toEqual({ at: "/meta/by" });
    expect(rule.gone).toEqual([{ at: "/status", is: ["DELETED"] }]);
    expect(auth.identity).toMatchObject({ method: "GET", path: "/accounts/{accountId}/me", success: [200] });
    expect(operations.list?.lagMs).toBe(0);
  });

  test("may update in parts and ask for tokens by a form", () => {
    const contract = defineContract({
      version: 1,
      operations: { update: { method: "PATCH", path: "/rules/{ruleId}", body: "changes" } },
      auth: {
        token: {
          path: "/oauth/token",
          encoding: "form",
          fields: { grant_type: "client_credentials", client_id: "{clientId}", client_secret: "{clientSecret}" },
        },
      },
    });
    expect(contract.auth.token).toMatchObject({
      encoding: "form",
      accessToken: "/access_token",
      expiresIn: "/expires_in",
    });
  });
});

/** Name, text, line, path, found, allowed. */
type Row = [string, string, number, string, string, string];

describe("a contract that cannot work is refused", () => {
  test.each<Row>([
    ["another version", "version: 2", 1, "version", "2", "1"],
    ["no version", "rule: {}", 1, "version", "nothing", "1"],
    ["a misspelt field", "version: 1\noperatons: {}", 2, "operatons", "an unknown field", "operations"],
    [
      "a misspelt field further in",
      "version: 1\nrule:\n  naturalkey: /name",
      3,
      "rule.naturalkey",
      "an unknown field",
      "naturalKey",
    ],
    [
      "a place that a delete cannot name its rule by",
      "version: 1\noperations:\n  delete:\n    identifyBy: { in: cookie }",
      4,
      "operations.delete.identifyBy.in",
      '"cookie"',
      '"query" | "body" | "path" | "header"',
    ],
    [
      "a delete by path without the id in it",
      "version: 1\noperations:\n  delete:\n    identifyBy: { in: path }",
      3,
      "operations.delete.path",
      "/api/v1/merchants/rules",
      "a path that contains {ruleId}",
    ],
    [
      "an id in the path that nothing speaks of",
      "version: 1\noperations:\n  delete:\n    path: /rules/{ruleId}",
      3,
      "operations.delete.identifyBy.in",
      "nothing",
      "path",
    ],
    [
      "a get without the id",
      "version: 1\noperations:\n  get: { path: /rules }",
      3,
      "operations.get.path",
      "/rules",
      "{ruleId}",
    ],
    [
      "an update that names its rule by a field among those of the definition",
      "version: 1\noperations:\n  update:\n    path: /rules\n    identifyBy: { in: body, name: key }\nrule: { schema: { properties: { key: {} } } }",
      3,
      "operations.update.bodyAt",
      '""',
      "only where that field is the rule's own id (rule.id)",
    ],
    [
      "a field that is sent by its own name",
      "version: 1\noperations:\n  create: { sentAs: { a: a } }",
      3,
      "operations.create.sentAs.a",
      '"a"',
      "another name than that of a reading",
    ],
    [
      "two fields that are sent by one name",
      "version: 1\noperations:\n  create: { sentAs: { a: c, b: c } }",
      3,
      "operations.create.sentAs.a",
      '"c"',
      "a name for each field",
    ],
    [
      "a field that is sent in the place of the id",
      "version: 1\noperations:\n  update: { path: /r, identifyBy: { in: body, name: key }, sentAs: { a: key } }",
      3,
      "operations.update.sentAs.a",
      '"key"',
      "a name apart from identifyBy.name",
    ],
    [
      "an id in a header alone, beside a list",
      "version: 1\noperations:\n  list: { path: /r, items: /r }\nrule:\n  id: [{ header: Location }]",
      5,
      "rule.id",
      '[{"header":"Location","segment":null}]',
      "a pointer beside the header",
    ],
    [
      "what must be before a delete that there is not",
      'version: 1\nrule:\n  transitions:\n    - { at: /s, to: off, path: "/r/{ruleId}/off", beforeDelete: true }',
      4,
      "rule.transitions.0.beforeDelete",
      "true",
      "because the contract does not say how to delete",
    ],
    [
      "a version that the service does not set by itself",
      'version: 1\noperations:\n  update: { path: "/r/{ruleId}", version: { at: /version } }',
      3,
      "operations.update.version.at",
      "/version",
      "a field that rule.readOnly lists",
    ],
    [
      "ids that change, where the client chooses them",
      'version: 1\noperations:\n  create: { identifyBy: { in: body, name: id } }\n  update: { path: "/r/{ruleId}", id: new }',
      4,
      "operations.update.id",
      "new",
      "kept, because the client chooses ids (operations.create.identifyBy)",
    ],
    [
      "a transition of the whole rule",
      'version: 1\nrule:\n  transitions: [{ at: "", to: true, path: "/r/{ruleId}/on" }]',
      3,
      "rule.transitions.0.at",
      '""',
      "a pointer to one field, such as /status",
    ],
    [
      "a transition of the natural key",
      'version: 1\nrule:\n  transitions: [{ at: /name, to: x, path: "/r/{ruleId}/on" }]\n  naturalKey: /name',
      3,
      "rule.transitions.0.at",
      "/name",
      "a place apart from rule.naturalKey",
    ],
    [
      "a transition that names no rule",
      "version: 1\nrule:\n  transitions: [{ at: /status, to: on, path: /on }]",
      3,
      "rule.transitions.0.path",
      "/on",
      "{ruleId}",
    ],
    [
      "a transition to a value that counts as deleted",
      'version: 1\nrule:\n  transitions: [{ at: /status, to: off, path: "/r/{ruleId}/on" }]\n  gone: [{ at: /status, is: [off] }]',
      3,
      "rule.transitions.0.to",
      "off",
      "a value that does not count as deleted (rule.gone)",
    ],
    [
      "a transition from the value to which it leads",
      'version: 1\nrule:\n  transitions: [{ at: /status, to: on, from: [on], path: "/r/{ruleId}/on" }]',
      3,
      "rule.transitions.0.from",
      "on",
      "values other than to",
    ],
    [
      "two transitions for one value of one field",
      'version: 1\nrule:\n  transitions: [{ at: /s, to: 1, path: "/r/{ruleId}/a" }, { at: /s, to: 1, path: "/r/{ruleId}/b" }]',
      3,
      "rule.transitions.1",
      "/s",
      "one request for each field, value and value before",
    ],
    [
      "a create that has the rule's id among the fields of the definition",
      "version: 1\noperations:\n  create: { identifyBy: { in: body, name: key } }",
      3,
      "operations.create.bodyAt",
      '""',
      "only where that field is the rule's own id (rule.id)",
    ],
    [
      "a form of ids that no create uses",
      'version: 1\noperations:\n  create: { idFormat: "rule-{hex}" }',
      3,
      "operations.create.identifyBy",
      "null",
      "how the request gives the rule its id, as idFormat says",
    ],
    [
      "a form of ids without what tells them apart",
      "version: 1\noperations:\n  create: { identifyBy: { in: body, name: id }, idFormat: rule }",
      3,
      "operations.create.idFormat",
      '"rule"',
      "{uuid} or {hex}",
    ],
    [
      "fields that an update leaves out, where it sends none of the live rule",
      "version: 1\noperations:\n  update:\n    path: /r/{ruleId}\n    body: declared\n    omit: [/createdAt]",
      5,
      "operations.update.body",
      '"declared"',
      "changes or merged",
    ],
    [
      "an update that leaves out everything",
      'version: 1\noperations:\n  update: { path: "/r/{ruleId}", body: merged, omit: [""] }',
      3,
      "operations.update.omit.0",
      '""',
      "a pointer to one field, such as /createdAt",
    ],
    [
      "an update that leaves out the id by which it names its rule",
      "version: 1\noperations:\n  update: { path: /r, identifyBy: { in: body, name: id }, body: merged, omit: [/id] }",
      3,
      "operations.update.omit.0",
      "/id",
      "a place apart from operations.update.identifyBy.name",
    ],
    [
      "an update that leaves out the owner's mark",
      'version: 1\noperations:\n  update: { path: "/r/{ruleId}", body: merged, omit: [/metadata] }\nrule: { owner: { at: /metadata/by } }',
      3,
      "operations.update.omit.0",
      "/metadata",
      "a place apart from rule.owner",
    ],
    [
      "an update that names nothing",
      "version: 1\noperations:\n  update: { path: /rules }",
      3,
      "operations.update.path",
      "/rules",
      "{ruleId}",
    ],
    [
      "an update without a path",
      "version: 1\noperations:\n  update: {}",
      3,
      "operations.update.path",
      "nothing",
      "string",
    ],
    [
      "a parameter that is not declared",
      "version: 1\noperations:\n  get: { path: '/m/{merchantId}/{ruleId}' }",
      3,
      "operations.get.path",
      "{merchantId}",
      "declare it under parameters",
    ],
    [
      "a parameter named as something else",
      "version: 1\nparameters:\n  token: {}",
      3,
      "parameters.token",
      "token",
      "another name",
    ],
    [
      "a path that climbs",
      "version: 1\noperations:\n  create: { path: /a/../b }",
      3,
      "operations.create.path",
      '"/a/../b"',
      "without . and ..",
    ],
    [
      "a status that is no success",
      "version: 1\noperations:\n  create: { success: [404] }",
      3,
      "operations.create.success.0",
      "404",
      "at most 299",
    ],
    [
      "a pagination of no known type",
      `version: 1\noperations:\n  list: { path: /r, items: /r, pagination: { type: token } }`,
      3,
      "operations.list.pagination.type",
      '"token"',
      "'cursor'",
    ],
    [
      "a pointer that is none",
      "version: 1\nrule: { naturalKey: name }",
      2,
      "rule.naturalKey",
      '"name"',
      "a JSON Pointer",
    ],
    [
      "a JSON Schema that does not compile",
      "version: 1\nrule: { schema: { type: text } }",
      2,
      "rule.schema",
      "schema is invalid",
      "a JSON Schema that compiles",
    ],
    [
      "credentials in a committed file",
      "version: 1\noperations:\n  create: { headers: { Authorization: Bearer abc } }",
      3,
      "operations.create.headers.Authorization",
      "Authorization",
      "credentials belong in settings",
    ],
    [
      "a header that would break the request apart",
      'version: 1\noperations:\n  create: { headers: { x: "a\\r\\nb: c" } }',
      3,
      "operations.create.headers.x",
      "a\\r\\nb",
      "printable ASCII",
    ],
    [
      "a token that is obtained and not presented",
      "version: 1\nauth: { present: null, token: { path: /t, fields: {} } }",
      2,
      "auth.present",
      "null",
      "how the token",
    ],
    [
      "a presentation without the token",
      "version: 1\nauth: { present: { format: Bearer } }",
      2,
      "auth.present.format",
      '"Bearer"',
      "{token}",
    ],
    ["a limit of nothing", "version: 1\nlimits: { concurrency: 0 }", 2, "limits.concurrency", "0", "at least 1"],
    [
      "one attempt longer than all of them",
      "version: 1\nlimits: { attemptTimeoutMs: 10, totalTimeoutMs: 5 }",
      2,
      "limits.attemptTimeoutMs",
      "10",
      "at most totalTimeoutMs, 5",
    ],
    ...["get", "delete", "update"].map(
      (name): Row => [
        `a path that names the rule twice, of ${name}`,
        `version: 1\noperations:\n  ${name}: { path: "/r/{ruleId}/{ruleId}"${name === "get" ? "" : ", identifyBy: { in: path }"} }`,
        3,
        `operations.${name}.path`,
        "/r/{ruleId}/{ruleId}",
        "{ruleId} once",
      ],
    ),
    ...[
      ["cursor", "next: /n"],
      ["page", "page: page"],
      ["offset", "offset: offset"],
    ].flatMap(([type = "", more = ""]) =>
      [type, "limit"].map(
        (part): Row => [
          `a fixed query that pagination by ${type} sends as ${part}`,
          `version: 1\noperations:\n  list:\n    path: /r\n    items: /r\n    pagination: { type: ${type}, ${more}, limit: limit }\n    query: { ${part}: "1" }`,
          7,
          `operations.list.query.${part}`,
          part,
          `sent as operations.list.pagination.${part}`,
        ],
      ),
    ),
    ...["authorization", "Content-Type", "user-agent"].map(
      (header): Row => [
        `an idempotency key in the header ${header}`,
        `version: 1\nidempotency: { header: ${header} }`,
        2,
        "idempotency.header",
        header,
        "another header",
      ],
    ),
    [
      "an idempotency key in the header of the token",
      "version: 1\nauth: { present: { name: X-Token } }\nidempotency: { header: x-token }",
      3,
      "idempotency.header",
      "x-token",
      "another header",
    ],
    ...["delete", "update"].flatMap((name) =>
      ["x-token", "Host", "idempotency-key"].map(
        (header): Row => [
          `a rule that ${name} names in the header ${header}, which is taken`,
          `version: 1\nauth: { present: { name: X-Token } }\nidempotency: {}\noperations:\n  ${name}: { path: /r, identifyBy: { in: header, name: ${header} } }`,
          5,
          `operations.${name}.identifyBy.name`,
          header,
          "another header",
        ],
      ),
    ),
    [
      "a JSON Schema that answers later",
      "version: 1\nrule:\n  schema: { $async: true, type: object }",
      3,
      "rule.schema.$async",
      "true",
      "no $async",
    ],
    [
      "who changed a rule in a secret place, which reports would show",
      "version: 1\nrule: { changedBy: /people/0/name, secret: ['/people/*'] }",
      2,
      "rule.changedBy",
      '"/people/0/name"',
      "a place apart from rule.secret",
    ],
    [
      "an owner's mark in place of the rule",
      "version: 1\nrule: { owner: { at: '' } }",
      2,
      "rule.owner.at",
      '""',
      "a pointer",
    ],
    ...[
      ["naturalKey", "/meta/by", "naturalKey: /meta/by"],
      ["naturalKey", "/meta", "naturalKey: /meta/by"],
      ["id", "/meta/by", "id: [/ruleId, /meta]"],
      ["immutable", "/meta/by", "immutable: [/meta/by]"],
      ["immutable", "/meta/by", "immutable: [/meta]"],
      ["immutable", "/meta/by", "immutable: [/*/by]"],
      ["immutable", "/meta", "immutable: [/meta/by/*]"],
    ].map(
      ([field = "", at = "", text = ""]): Row => [
        `an owner's mark at ${at} beside ${text}`,
        `version: 1\nrule:\n  ${text}\n  owner: { at: ${at} }`,
        4,
        "rule.owner.at",
        at,
        `a place apart from rule.${field}`,
      ],
    ),
    ...[
      ["readOnly", "/updatedAt", "readOnly: [/updatedAt]"],
      ["naturalKey", "/name", "naturalKey: /name"],
      ["owner", "/meta", "owner: { at: /meta/by }"],
      ["owner", "/*/by", "owner: { at: /meta/by }"],
      ["id", "/id", "id: [/id]"],
      ["gone", "/status", "gone: [{ at: /status, is: [0] }]"],
    ].map(
      ([field = "", at = "", text = ""]): Row => [
        `a write-only field at ${at} beside ${text}`,
        `version: 1\nrule:\n  ${text}\n  writeOnly: ["${at}"]`,
        4,
        "rule.writeOnly.0",
        at,
        `a place apart from rule.${field}`,
      ],
    ),
    ...["gone", "foreign"].map(
      (field): Row => [
        `${field} rules that are told by the whole rule`,
        `version: 1\nrule:\n  ${field}:\n    - { at: /status, is: [DELETED] }\n    - { at: "", is: [1] }`,
        5,
        `rule.${field}.1.at`,
        '""',
        "a pointer to one field",
      ],
    ),
    [
      "rules that are gone by no value",
      "version: 1\nrule: { gone: [{ at: /status, is: [] }] }",
      2,
      "rule.gone.0.is",
      "[]",
      "at least 1",
    ],
    [
      "a misspelt field in a list",
      "version: 1\nrule: { gone: [{ at: /status, in: [x] }] }",
      2,
      "rule.gone.0.in",
      "an unknown field",
      "at, is",
    ],
    [
      "an identity of a rule",
      "version: 1\nauth: { identity: { path: '/me/{ruleId}', at: /id } }",
      2,
      "auth.identity.path",
      "/me/{ruleId}",
      "a path without {ruleId}",
    ],
    [
      "an identity with a parameter that is not declared",
      "version: 1\nauth:\n  identity:\n    path: /me\n    at: /id\n    query: { account: '{accountId}' }",
      6,
      "auth.identity.query.account",
      "{accountId}",
      "no {name}: the contract declares no parameters",
    ],
    [
      "credentials in the headers of the identity",
      "version: 1\nauth:\n  identity:\n    path: /me\n    at: /id\n    headers: { authorization: x }",
      6,
      "auth.identity.headers.authorization",
      "authorization",
      "credentials belong in settings",
    ],
    [
      "a list that lags by less than nothing",
      "version: 1\noperations:\n  list: { path: /r, items: /r, lagMs: -1 }",
      3,
      "operations.list.lagMs",
      "-1",
      "at least 0",
    ],
    ...[
      ["at: '', is: lower", "at", '""', "a pointer to a field"],
      ["at: /amount", "", '{"at":"/amount"}', "is, default or both"],
      ["at: /ruleId, is: lower", "at", "/ruleId", "a place apart from rule.id"],
      ["at: /meta/*, is: lower", "at", "/meta/*", "a place apart from rule.owner"],
      ["at: /v, is: decimal", "at", "/v", "a place apart from operations.update.version"],
      ["at: /tags/*, default: a", "at", "/tags/*", "ends with the name of a field"],
      ["at: /tags/0, default: a", "at", "/tags/0", "ends with the name of a field"],
      ["at: /key, default: {}", "default", "{}", "no default: by rule.naturalKey"],
      ["at: /amount, is: decimal, default: ten", "default", '"ten"', "a value of the form decimal"],
      ["at: /on, is: dateTime, default: 2026-02-30T00:00:00Z", "default", "2026-02-30", "a value of the form dateTime"],
      ["at: /tags, is: distinct, default: a", "default", '"a"', "a value of the form distinct"],
      ["at: /set, is: lower", "is", '"lower"', "distinct, because rule.unordered"],
      ["at: /first, is: upper", "", "upper", "goes together with rule.forms.0"],
      ["at: /*/x, is: decimal", "", "decimal", "goes together with rule.forms.1"],
      ["at: /first, is: lower", "", "lower", "goes together with rule.forms.0"],
      ["at: /on, default: false", "", "false", "goes together with rule.forms.2"],
      ["at: /first, is: rounded", "is", '"rounded"', "trimmed"],
    ].map(
      ([entry = "", part = "", found = "", allowed = ""]): Row => [
        `a normal form that says ${entry}`,
        `version: 1
operations: { update: { path: "/r/{ruleId}", version: { at: /v } } }
rule:
  naturalKey: /key/name
  owner: { at: /meta/by }
  unordered: [/set]
  forms:
    - { at: /first, is: lower }
    - { at: /y/x, is: trimmed }
    - { at: /on, default: true }
    - { at: /first, is: trimmed }
    - { at: /first, default: a }
    - { at: /set, is: distinct }
    - { ${entry} }`,
        14,
        `rule.forms.6${part === "" ? "" : `.${part}`}`,
        found,
        allowed,
      ],
    ),
    ["nothing at all", "", 1, "the contract", "null", "object"],
    ["a list", "[]", 1, "the contract", "[]", "object"],
  ])("%s: with file, line, path, what was found and what is allowed", (_name, text, line, path, found, allowed) => {
    const error = refusal(() => parseContract(text, "my.yaml"));
    const sentence =
      error.split("\n").find((each) => each.trim().startsWith(`my.yaml:${line}: ${path}: found `)) ?? error;
    expect(sentence).toContain(`my.yaml:${line}: ${path}: found `);
    const [, foundText, allowedText] = /: found (.*); allowed: (.*)$/.exec(sentence) ?? [];
    expect(foundText).toContain(found);
    expect(allowedText).toContain(allowed);
    expect(error).toContain("CONTRACT_INVALID");
  });

  test.each([
    ["YAML that does not parse", "a: [", "my.yaml:1: "],
    ["a field given twice", "version: 1\nversion: 1", "my.yaml:2: declares a field a second time"],
    [
      "aliases that explode",
      `a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]`,
      "Excessive alias count",
    ],
    ["a tag that is unknown", "version: !!js/function 1", "my.yaml:1: "],
    ["a merge key", "a: &x { b: 1 }\n<<: *x\nversion: 1", "my.yaml:2: has a merge key (<<)"],
    ["an anchor within itself", "version: 1\ndescription: &x\n  a: *x", "my.yaml:3: description.a: found a reference"],
    [
      "a date",
      "version: 1\nrule: { schema: { const: !!timestamp 2026-01-01 } }",
      "my.yaml:2: rule.schema.const: found a Date",
    ],
    ["endless nesting", `version: 1\nrule: { schema: { a: ${"[".repeat(2000)}`, "my.yaml:2: nests too deeply"],
    [
      "a name that would be dropped",
      "version: 1\nparameters:\n  __proto__: {}",
      "my.yaml:3: parameters.__proto__: found",
    ],
    ["a name that terminals obey", 'version: 1\n"\\e[31m": 1', "my.yaml:2: \\u{1b}[31m: found an unknown field"],
  ])("%s", (_name, text, message) => {
    expect(refusal(() => parseContract(text, "my.yaml"))).toContain(message);
  });

  test("all its faults at once", () => {
    const error = refusal(() =>
      parseContract('{"version": 3, "rule": {"id": []}, "limits": {"pageSize": "many"}}', "my.json"),
    );
    expect(error.match(/my\.json:1: /g)).toHaveLength(3);
  });

  test("a file that cannot be read, by its name", () => {
    const missing = join(folder, "missing.yaml");
    expect(refusal(() => loadContract(missing))).toContain(missing);
    expect(refusal(() => loadContract(folder))).toContain(folder);
    const large = join(folder, "large.yaml");
    writeFileSync(large, `version: 1 # ${"x".repeat(1_100_000)}`);
    expect(refusal(() => loadContract(large))).toContain("larger than");
    const noText = join(folder, "no-text.yaml");
    writeFileSync(noText, Buffer.from("version: 1 # \xff", "latin1"));
    expect(refusal(() => loadContract(noText))).toMatch(/no-text\.yaml failed: it is not UTF-8/);
  });

  test("twenty of its faults, in a time that grows with its length alone", () => {
    const many = `{"version":1,${Array.from({ length: 20_000 }, (_, n) => `"k${n}":1`)}}`;
    const started = performance.now();
    const message = refusal(() => parseContract(many, "my.json"));
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(message).toContain("and 19980 more");
    expect(message.length).toBeLessThan(5000);
  });

  test("what a program holds that is part of itself", () => {
    const schema: Record<string, null> = {};
    Object.assign(schema, { self: schema });
    expect(refusal(() => defineContract({ version: 1, rule: { schema } }))).toContain(
      "rule.schema: found nesting without end",
    );
  });
});

describe("the contracts that ship", () => {
  test.each(presets)("%s is accepted, and by the published schema too", (preset) => {
    expect(loadPreset(preset).version).toBe(1);
    const validate = addFormats.default(new Ajv2020({ strict: false })).compile(JSON.parse(publishedSchema()));
    expect(validate(parse(readFileSync(presetFile(preset), "utf8"))), JSON.stringify(validate.errors)).toBe(true);
  });

  test("the full one says that it is illustrative, and has all that the bare one lacks", () => {
    const { operations, auth, idempotency, description } = loadPreset("illustrative");
    expect(description).toMatch(/^Illustrative/);
    expect(operations.list?.pagination.type).toBe("cursor");
    expect(operations.update).not.toBe(null);
    expect(operations.delete.identifyBy).not.toBe(null);
    expect(auth.token).not.toBe(null);
    expect(idempotency).not.toBe(null);
  });

  test("the schema for editors is that of the code (node scripts/write-contract-schema.ts)", () => {
    const published = readFileSync(new URL("../../../sdk/contract/contract.schema.json", import.meta.url), "utf8");
    expect(JSON.parse(published)).toEqual(JSON.parse(publishedSchema()));
  });

  test("YAML and JSON say the same", () => {
    const value = { version: 1, operations: { list: { ...listed, pagination: { type: "cursor", next: "/next" } } } };
    expect(parseContract(JSON.stringify(value), "a.json")).toEqual(
      parseContract(
        "version: 1\noperations: {list: {path: /rules, items: /rules, pagination: {type: cursor, next: /next}}}",
        "a.yaml",
      ),
    );
  });
});

describe("the JSON Schema of a definition", () => {
  const check = definitionChecker({
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string" },
      conditions: {
        type: "array",
        items: { type: "object", required: ["field"], properties: { field: { enum: ["amount"] } } },
      },
    },
    additionalProperties: false,
  });

  test("names the property path of each fault", () => {
    expect(check({ conditions: [{ field: "amount" }, { field: "x" }], extra: 1 })).toEqual([
      { path: [], reason: "must have required property 'name'" },
      { path: [], reason: 'must NOT have additional properties: "extra"' },
      { path: ["conditions", 1, "field"], reason: 'must be equal to one of the allowed values: "amount"' },
    ]);
    expect(check({ name: "x" })).toEqual([]);
  });

  test("does not judge what depends on values that are not known yet", () => {
    const isOpen = (value: unknown): boolean => value === "?";
    expect(check({ name: "x", conditions: "?" }, isOpen)).toEqual([]);
    expect(check({ name: "x", conditions: [{ field: "?" }] }, isOpen)).toEqual([]);
    expect(check({ name: 1, conditions: "?" }, isOpen)).toEqual([{ path: ["name"], reason: "must be string" }]);
  });

  test("does not judge a branch that a value not known yet may rule out", () => {
    const isOpen = (value: unknown): boolean => value === "?";
    const decline = { properties: { type: { const: "decline" } }, required: ["type"] };
    const score = { properties: { score: { maximum: 10 } } };
    const schemas = [
      { if: decline, else: score },
      { anyOf: [decline, score] },
      { oneOf: [decline, score] },
      { $ref: "#/$defs/branch", $defs: { branch: { if: decline, else: score } } },
    ];
    for (const schema of schemas) {
      const branched = definitionChecker({ ...schema, properties: { name: { type: "string" } } });
      expect(branched({ type: "?", score: 99 }, isOpen)).toEqual([]);
      expect(branched({ type: "?", score: 99, name: 1 }, isOpen)).toEqual([]);
      expect(branched({ type: "route", score: 99 }, isOpen)).toContainEqual({
        path: ["score"],
        reason: "must be <= 10",
      });
    }
  });
});

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error("it was accepted");
}
