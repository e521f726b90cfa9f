import { segmentsOf } from "../rules/index.ts";
import { type Contract, headerNamePattern, type Operations } from "./schema.ts";
import { namesIn } from "./template.ts";

/** One thing that is wrong with a contract: where, the value there, the values that may be there. */
export interface ContractIssue {
  /** Path of field names, outermost first. */
  readonly path: readonly (string | number)[];
  readonly found: string;
  readonly allowed: string;
}

/** Where fields that are right on their own cannot work together; empty when the contract can work. */
export function inconsistencies(contract: Contract): ContractIssue[] {
  return [
    ...ruleIdIssues(contract),
    ...nameIssues(contract),
    ...headerIssues(contract),
    ...queryIssues(contract),
    ...markIssues(contract),
    ...otherIssues(contract),
  ];
}

function issue(path: ContractIssue["path"], found: string, allowed: string): ContractIssue {
  return { path, found, allowed };
}

type Issues = Generator<ContractIssue>;
type Request = Pick<Operations["get"], "path" | "headers" | "query">;

/** Every request that a contract describes, with where it is described. */
function requestsOf({ operations, auth }: Contract): { at: string[]; name: string; request: Request }[] {
  const named = [
    ...Object.entries(operations).map(([name, request]) => ({ at: ["operations", name], name, request })),
    { at: ["auth", "token"], name: "token", request: auth.token },
    { at: ["auth", "identity"], name: "identity", request: auth.identity },
  ];
  return named.flatMap(({ request, ...rest }) => (request === null ? [] : [{ ...rest, request }]));
}

function* ruleIdIssues(contract: Contract): Issues {
  const { operations } = contract;
  for (const { at, name, request } of requestsOf(contract)) {
    const path = [...at, "path"];
    const times = namesIn(request.path).filter((each) => each === "ruleId").length;
    if (times > 1) yield issue(path, request.path, "a path that contains {ruleId} once");
    if (name === "get" && times === 0) yield issue(path, request.path, "a path that contains {ruleId}");
    if (name === "create" && times > 0)
      yield issue(path, request.path, "a path without {ruleId}, which only the service knows");
    if (!["get", "create", "delete", "update"].includes(name) && times > 0)
      yield issue(path, request.path, "a path without {ruleId}");
  }
  yield* identifyByIssues("delete", operations.delete);
  if (operations.update === null) return;
  yield* identifyByIssues("update", operations.update);
  const { identifyBy, bodyAt } = operations.update;
  if (identifyBy.in === "body" && bodyAt === "") {
    const allowed = `a pointer such as /rule, so that the field ${identifyBy.name} stands beside the definition`;
    yield issue(["operations", "update", "bodyAt"], '""', allowed);
  }
}

function* identifyByIssues(
  name: "delete" | "update",
  { path, query, identifyBy }: Operations["delete"] | NonNullable<Operations["update"]>,
): Issues {
  const at = ["operations", name];
  const isInPath = namesIn(path).includes("ruleId");
  if (identifyBy?.in === "path" && !isInPath)
    yield issue([...at, "path"], path, "a path that contains {ruleId}, because identifyBy.in is path");
  if (identifyBy?.in !== "path" && isInPath)
    yield issue(
      [...at, "identifyBy", "in"],
      identifyBy?.in ?? "nothing",
      `path, because ${name}.path contains {ruleId}`,
    );
  if (identifyBy?.in === "header" && !headerNamePattern.test(identifyBy.name))
    yield issue([...at, "identifyBy", "name"], identifyBy.name, "the name of an HTTP header");
  if (identifyBy?.in === "query" && Object.hasOwn(query, identifyBy.name))
    yield issue([...at, "identifyBy", "name"], identifyBy.name, "a query parameter that the operation does not fix");
}

function* nameIssues(contract: Contract): Issues {
  const { auth, parameters } = contract;
  const known = new Set(Object.keys(parameters));
  for (const reserved of ["ruleId", "token", "clientId", "clientSecret"])
    if (known.has(reserved))
      yield issue(["parameters", reserved], reserved, `another name: ${reserved} has a meaning of its own`);

  const check = function* (at: readonly string[], text: string, own: readonly string[] = []): Issues {
    const allowed = [...own, ...known].map((name) => `{${name}}`).join(", ");
    for (const name of namesIn(text)) {
      if (known.has(name) || own.includes(name)) continue;
      yield issue(
        at,
        `{${name}}`,
        allowed === ""
          ? "no {name}: the contract declares no parameters"
          : `${allowed}, or declare it under parameters`,
      );
    }
  };
  for (const { at, request } of requestsOf(contract)) {
    // Where {ruleId} may stand is judged elsewhere.
    yield* check([...at, "path"], request.path, ["ruleId"]);
    for (const part of ["headers", "query"] as const)
      for (const [key, text] of Object.entries(request[part])) yield* check([...at, part, key], text);
  }
  if (auth.present !== null) yield* check(["auth", "present", "format"], auth.present.format, ["token"]);
  for (const [key, text] of Object.entries(auth.token?.fields ?? {}))
    yield* check(["auth", "token", "fields", key], text, ["clientId", "clientSecret"]);
}

/** Headers that the transport sets, or that would put a credential into a file that is committed. */
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
  "authorization",
];

function* headerIssues(contract: Contract): Issues {
  const { operations, auth, idempotency } = contract;
  const owned = [...ownedHeaders, ...(auth.present === null ? [] : [auth.present.name.toLowerCase()])];
  const another = "another header: this one is set by the client itself";
  if (idempotency !== null) {
    const header = idempotency.header.toLowerCase();
    if (owned.includes(header)) yield issue(["idempotency", "header"], idempotency.header, another);
    owned.push(header);
  }
  for (const name of ["delete", "update"] as const) {
    const place = operations[name]?.identifyBy;
    if (place?.in === "header" && owned.includes(place.name.toLowerCase()))
      yield issue(["operations", name, "identifyBy", "name"], place.name, another);
  }
  for (const { at, request } of requestsOf(contract))
    for (const header of Object.keys(request.headers))
      if (owned.includes(header.toLowerCase()))
        yield issue(
          [...at, "headers", header],
          header,
          `${another} (credentials belong in settings, not in the contract)`,
        );
}

/** One name twice in a query: services differ in which of them they read. */
function* queryIssues({ operations: { list } }: Contract): Issues {
  if (list === null) return;
  const pagination: Readonly<Record<string, unknown>> = list.pagination;
  for (const part of ["limit", "cursor", "page", "offset"]) {
    const name = pagination[part];
    if (typeof name !== "string" || !Object.hasOwn(list.query, name)) continue;
    const allowed = `another query parameter: this one is sent as operations.list.pagination.${part}`;
    yield issue(["operations", "list", "query", name], name, allowed);
  }
}

/** What a rule says about itself stands in one of its fields; the owner's mark stands in a field that nothing else uses. */
function* markIssues({ rule }: Contract): Issues {
  const oneField = "a pointer to one field, such as";
  for (const name of ["gone", "foreign"] as const)
    for (const [index, { at }] of rule[name].entries())
      if (at === "") yield issue(["rule", name, index, "at"], '""', `${oneField} /status`);
  if (rule.owner === null) return;
  const { at } = rule.owner;
  const path = ["rule", "owner", "at"];
  const overlaps = (other: string): boolean => {
    const segments = segmentsOf(at);
    return segmentsOf(other).every((segment, index) => segment === "*" || segment === (segments[index] ?? segment));
  };
  if (at === "") yield issue(path, '""', `${oneField} /metadata/managedBy`);
  else if (rule.naturalKey !== null && overlaps(rule.naturalKey))
    yield issue(path, at, "a place apart from rule.naturalKey");
  else if (rule.id.some(overlaps)) yield issue(path, at, "a place apart from rule.id");
  else if (rule.immutable.some(overlaps))
    yield issue(path, at, "a place apart from rule.immutable: the mark changes when a rule gets another owner");
}

function* otherIssues({ rule: { schema }, auth, limits }: Contract): Issues {
  // Its validation would answer with a promise, which is never refused.
  if (schema !== null && Object.hasOwn(schema, "$async"))
    yield issue(
      ["rule", "schema", "$async"],
      JSON.stringify(schema.$async),
      "no $async: a definition is checked at once",
    );
  if (auth.token !== null && auth.present === null)
    yield issue(["auth", "present"], "null", "how the token that auth.token obtains is presented");
  if (limits.attemptTimeoutMs > limits.totalTimeoutMs)
    yield issue(
      ["limits", "attemptTimeoutMs"],
      String(limits.attemptTimeoutMs),
      `at most totalTimeoutMs, ${limits.totalTimeoutMs}`,
    );
}
