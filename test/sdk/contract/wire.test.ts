import { expect, test } from "vitest";
import { parseContract } from "../../../sdk/contract/index.ts";

/** A contract that cannot work, the path in it that is wrong, what is found there, what is allowed. */
type Row = readonly [contract: string, path: string, found: string, allowed: string];

const answers: Row[] = [
  ["errors: { notFound: [{}] }", "errors.notFound.0", '{"status":null', "a status, a code, or both"],
  ["errors: { notFound: [{ status: 422 }] }", "errors.notFound.0.code", "null", "a code beside this status"],
  ["errors: { notFound: [{ status: 403, code: x }] }", "errors.notFound.0.status", "403", "not about credentials"],
  ["errors: { inUse: [{ status: 200 }] }", "errors.inUse.0.status", "200", "from 300 to 499"],
  ['errors: { failure: [{ at: "" }] }', "errors.failure.0.at", '""', "a pointer to one field"],
  ["errors: { failure: [{ at: status }] }", "errors.failure.0.at", '"status"', "a JSON Pointer"],
  ["errors: { failure: [{ at: /id }] }", "errors.failure.0.is", "null", "successes have something there, too"],
  [
    "errors: { failure: [{ at: /data }] }\nrule: { envelope: /data }",
    "errors.failure.0.is",
    "null",
    "successes have something there, too",
  ],
  [
    "errors: { exists: [{ status: 201 }] }",
    "errors.exists.0.status",
    "201",
    "a status that operations.create.success does not have",
  ],
];

const list = "path: /r, items: /rules";
const update = 'path: "/r/{ruleId}"';

const bodies: Row[] = [
  [
    `operations: { list: { ${list}, encoding: form } }`,
    "operations.list.encoding",
    '"form"',
    "a list by GET has no body",
  ],
  [`operations: { list: { ${list}, fields: { a: 1 } } }`, "operations.list.fields", '{"a":1}', "method: POST"],
  [
    `operations: { update: { ${update}, removal: "null" } }`,
    "operations.update.removal",
    '"null"',
    '"omit" | null | "none"',
  ],
  [
    `operations: { update: { ${update}, removal: null, encoding: form } }`,
    "operations.update.encoding",
    '"form"',
    "which a form cannot carry",
  ],
  ["operations: { delete: { encoding: form } }", "operations.delete.encoding", '"form"', "this delete has no body"],
  [
    "operations: { delete: { identifyBy: { in: body, name: id }, fields: { id: x } } }",
    "operations.delete.fields.id",
    '"x"',
    "operations.delete.identifyBy sends this one",
  ],
  [
    "operations: { create: { bodyAt: /a/b, fields: { a: x } } }",
    "operations.create.bodyAt",
    '"/a/b"',
    "apart from what operations.create.fields has at /a",
  ],
  ['operations: { create: { fields: { id: "{ruleId}" } } }', "operations.create.fields.id", "{ruleId}", "no {name}"],
  ['operations: { create: { fields: { a: ["{x}"] } } }', "operations.create.fields.a.0", "{x}", "no {name}"],
  [
    "operations: { get: { path: '/r/{ruleId}', headers: { content-type: a/b } } }",
    "operations.get.headers.content-type",
    "content-type",
    "this operation has no body",
  ],
  [
    "operations: { create: { headers: { Accept: json } } }",
    "operations.create.headers.Accept",
    '"json"',
    "a media type",
  ],
  [
    "operations: { create: { encoding: form, headers: { Content-Type: a/b } } }",
    "operations.create.headers.Content-Type",
    "Content-Type",
    "encoding: form, which sets it",
  ],
];

const lists: Row[] = [
  ["operations: { get: null }", "operations.list", "null", "because operations.get is null"],
  [`operations: { get: null, list: { ${list} } }`, "operations.list.lagMs", "null", "because operations.get is null"],
  [
    `operations: { get: null, list: { ${list}, lagMs: 0, summaries: true } }`,
    "operations.list.summaries",
    "true",
    "because operations.get is null",
  ],
  [
    `operations: { list: { ${list}, method: POST, pagination: { type: link } } }`,
    "operations.list.pagination.type",
    '"link"',
    "the URL of a next page is asked for by GET",
  ],
  [
    `operations: { list: { ${list}, pagination: { type: page, shortPage: true } } }`,
    "operations.list.pagination.limit",
    "null",
    "the parameter for the page size",
  ],
];

const basic: Row[] = [
  ['auth: { present: { format: "Basic" } }', "auth.present.format", '"Basic"', '"Basic {basic}"'],
  ['auth: { present: { format: "{token} {basic}" } }', "auth.present.format", '"{token} {basic}"', "{token}"],
  [
    'auth: { present: { format: "Basic {basic}" }, token: { path: /t, fields: {} } }',
    "auth.token",
    '{"method":"POST"',
    "null beside {basic}",
  ],
  [
    'auth: { present: { format: "Basic {basic}" }, identity: { claim: /sub } }',
    "auth.identity",
    '{"claim":"/sub"}',
    "there is no token",
  ],
  [
    'auth: { token: { path: /t, fields: {}, headers: { Authorization: "Basic abc" } } }',
    "auth.token.headers.Authorization",
    "Authorization",
    "credentials belong in settings",
  ],
];

test.each([...answers, ...bodies, ...lists, ...basic])("%s is refused at %s", (contract, path, found, allowed) => {
  const lines = (text: string): string => {
    try {
      parseContract(text, "contract.yaml");
      return "it is taken";
    } catch (error) {
      return String(error);
    }
  };
  const said = lines(`version: 1\n${contract}`);
  expect(said).toContain("contract.yaml cannot work");
  const line = said.split("\n").find((each) => each.includes(` ${path}: found `)) ?? said;
  expect(line).toMatch(/contract\.yaml:\d+: /);
  expect(line).toContain(`${path}: found ${found}`);
  expect(line).toContain(allowed);
});
