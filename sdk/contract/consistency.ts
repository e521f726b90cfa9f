import type { Contract } from "./schema.ts";
import { namesIn } from "./template.ts";

/** One thing that is wrong with a contract: where, what stands there, what may stand there. */
export interface ContractIssue {
  /** Path of field names, outermost first. */
  readonly path: readonly (string | number)[];
  readonly found: string;
  readonly allowed: string;
}

/** What each field is right about on its own and yet cannot work together; empty when the contract can work. */
export function inconsistencies(contract: Contract): ContractIssue[] {
  return [
    ...ruleIdPlaces(contract),
    ...unknownNames(contract),
    ...headerClashes(contract),
    ...queryClashes(contract),
    ...asyncSchema(contract),
    ...ownerPlace(contract),
    ...timeouts(contract),
  ];
}

function* ruleIdPlaces({ operations }: Contract): Generator<ContractIssue> {
  const { create, get, update, list } = operations;
  const named = (path: string): boolean => namesIn(path).includes("ruleId");
  if (!named(get.path)) yield issue(["operations", "get", "path"], get.path, "a path that contains {ruleId}");
  if (named(create.path))
    yield issue(["operations", "create", "path"], create.path, "a path without {ruleId}, which only the service knows");
  if (list !== null && named(list.path))
    yield issue(["operations", "list", "path"], list.path, "a path without {ruleId}");
  for (const name of ["get", "delete", "update"] as const) {
    const operation = operations[name];
    if (operation === null || namesIn(operation.path).filter((each) => each === "ruleId").length < 2) continue;
    yield issue(["operations", name, "path"], operation.path, "a path that contains {ruleId} once");
  }
  for (const [name, operation] of [
    ["delete", operations.delete],
    ["update", update],
  ] as const) {
    if (operation === null) continue;
    const place = operation.identifyBy;
    const at = ["operations", name, "identifyBy"];
    if (place?.in === "path" && !named(operation.path)) {
      yield issue(
        ["operations", name, "path"],
        operation.path,
        "a path that contains {ruleId}, because identifyBy.in is path",
      );
    }
    if (place?.in !== "path" && named(operation.path)) {
      yield issue([...at, "in"], place === null ? "nothing" : place.in, `path, because ${name}.path contains {ruleId}`);
    }
    if (place?.in === "header" && !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(place.name)) {
      yield issue([...at, "name"], place.name, "the name of an HTTP header");
    }
    if (place?.in === "query" && Object.hasOwn(operation.query, place.name)) {
      yield issue([...at, "name"], place.name, "a query parameter that the operation does not fix already");
    }
  }
  if (update?.identifyBy.in === "body" && update.bodyAt === "") {
    const { name } = update.identifyBy;
    yield issue(
      ["operations", "update", "bodyAt"],
      '""',
      `a pointer such as /rule, so that the field ${name} stands beside the definition`,
    );
  }
}

/** The mark is not the definition's: nothing else may be there that the definition or the service decides about. */
function* ownerPlace({ rule }: Contract): Generator<ContractIssue> {
  const { owner, naturalKey, id, immutable } = rule;
  if (owner === null) return;
  const at = ["rule", "owner", "at"];
  const overlaps = (pointer: string | null): boolean =>
    pointer !== null && (`${owner.at}/`.startsWith(`${pointer}/`) || `${pointer}/`.startsWith(`${owner.at}/`));
  if (owner.at === "") yield issue(at, '""', "a pointer to one field, such as /metadata/managedBy");
  else if (overlaps(naturalKey)) yield issue(at, owner.at, "a place apart from rule.naturalKey");
  else if (id.some(overlaps)) yield issue(at, owner.at, "a place apart from rule.id");
  else if (immutable.some((pattern) => pattern === owner.at))
    yield issue(at, owner.at, "a place that is not immutable: the mark changes when a resource is renamed");
}

function* unknownNames({ operations, auth, parameters }: Contract): Generator<ContractIssue> {
  const known = new Set(Object.keys(parameters));
  for (const reserved of ["ruleId", "token", "clientId", "clientSecret"]) {
    if (known.has(reserved))
      yield issue(["parameters", reserved], reserved, `another name: ${reserved} has a meaning of its own`);
  }
  const check = function* (at: readonly string[], text: string, own: readonly string[]): Generator<ContractIssue> {
    for (const name of namesIn(text)) {
      if (known.has(name) || own.includes(name)) continue;
      const allowed = [...own, ...known].map((each) => `{${each}}`).join(", ");
      yield issue(
        at,
        `{${name}}`,
        allowed === ""
          ? "no {name}: the contract declares no parameters"
          : `${allowed}, or declare it under parameters`,
      );
    }
  };
  for (const [at, operation] of requestsOf({ operations, auth })) {
    const namesRule = ["get", "delete", "update"].includes(at.at(-1) ?? "");
    yield* check([...at, "path"], operation.path, namesRule ? ["ruleId"] : []);
    for (const part of ["headers", "query"] as const) {
      for (const [key, text] of Object.entries(operation[part])) yield* check([...at, part, key], text, []);
    }
  }
  if (auth.present !== null) yield* check(["auth", "present", "format"], auth.present.format, ["token"]);
  if (auth.token === null) return;
  for (const [key, text] of Object.entries(auth.token.fields)) {
    yield* check(["auth", "token", "fields", key], text, ["clientId", "clientSecret"]);
  }
}

/** Headers that the transport owns, or that would carry a credential out of a file that is committed. */
const ownedHeaders = [
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "content-type",
  "accept",
  "user-agent",
  "cookie",
  "proxy-authorization",
];

function* headerClashes({ operations, auth, idempotency }: Contract): Generator<ContractIssue> {
  const credential = auth.present?.name.toLowerCase() ?? "authorization";
  const owned = [...ownedHeaders, "authorization", credential];
  const taken = idempotency === null ? owned : [...owned, idempotency.header.toLowerCase()];
  const another = "another header: this one is set by the client itself";
  if (idempotency !== null && owned.includes(idempotency.header.toLowerCase()))
    yield issue(["idempotency", "header"], idempotency.header, another);
  for (const name of ["delete", "update"] as const) {
    const place = operations[name]?.identifyBy;
    if (place?.in === "header" && taken.includes(place.name.toLowerCase()))
      yield issue(["operations", name, "identifyBy", "name"], place.name, another);
  }
  for (const [at, operation] of requestsOf({ operations, auth })) {
    for (const header of Object.keys(operation.headers)) {
      if (!taken.includes(header.toLowerCase())) continue;
      yield issue(
        [...at, "headers", header],
        header,
        `${another} (credentials belong in settings, not in the contract)`,
      );
    }
  }
  if (auth.token !== null && auth.present === null) {
    yield issue(["auth", "present"], "null", "how the token that auth.token obtains is presented");
  }
}

/** Every request that a contract describes, with where it is described. */
function* requestsOf({ operations, auth }: Pick<Contract, "operations" | "auth">): Generator<[string[], Request]> {
  for (const [name, operation] of Object.entries(operations))
    if (operation !== null) yield [["operations", name], operation];
  if (auth.token !== null) yield [["auth", "token"], auth.token];
  if (auth.identity !== null) yield [["auth", "identity"], auth.identity];
}

type Request = Pick<Contract["operations"]["get"], "path" | "headers" | "query">;

/** One name twice in a query: services differ in which of them they read. */
function* queryClashes({ operations: { list } }: Contract): Generator<ContractIssue> {
  if (list === null) return;
  const pagination: Readonly<Record<string, unknown>> = list.pagination;
  for (const part of ["limit", "cursor", "page", "offset"]) {
    const name = pagination[part];
    if (typeof name !== "string" || !Object.hasOwn(list.query, name)) continue;
    yield issue(
      ["operations", "list", "query", name],
      name,
      `another query parameter: this one is sent as operations.list.pagination.${part}`,
    );
  }
}

/** Its validation would answer with a promise, which is never refused. */
function* asyncSchema({ rule: { schema } }: Contract): Generator<ContractIssue> {
  if (schema === null || !Object.hasOwn(schema, "$async")) return;
  yield issue(
    ["rule", "schema", "$async"],
    JSON.stringify(schema.$async),
    "no $async: a definition is checked at once",
  );
}

function* timeouts({ limits }: Contract): Generator<ContractIssue> {
  if (limits.attemptTimeoutMs > limits.totalTimeoutMs) {
    yield issue(
      ["limits", "attemptTimeoutMs"],
      String(limits.attemptTimeoutMs),
      `at most totalTimeoutMs, ${limits.totalTimeoutMs}`,
    );
  }
}

function issue(path: readonly (string | number)[], found: string, allowed: string): ContractIssue {
  return { path, found, allowed };
}
