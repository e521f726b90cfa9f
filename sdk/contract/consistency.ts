import { type Issue, shownAt } from "../files/described-file.ts";
import { isAtOrBelow, isJsonObject, type Path, pointerOf, segmentsOf, valueAt, walk } from "../json/index.ts";
import { checkForms, type RefuseIf, reaches } from "./consistent-forms.ts";
import { schemaError } from "./definition-schema.ts";
import { pagingOf } from "./pagination/kinds.ts";
import { type Contract, identityOperation, idPointers, sentByUpdate } from "./schema.ts";
import { saysNothingOfRules } from "./schema-errors.ts";
import { headerNamePattern } from "./schema-parts.ts";
import { namesIn, presentsClient } from "./template.ts";

/** The use that a contract is loaded for. */
export interface ContractUse {
  /** Checks definitions by `rule.schema`; slow to compile, so who only reads rules leaves it out. Default: true. */
  readonly checksDefinitions?: boolean;
}

/** Returns the places where fields that are right on their own cannot work together; none when the contract can work. */
export function inconsistencies(contract: Contract, { checksDefinitions = true }: ContractUse = {}): Issue[] {
  const issues: Issue[] = [];
  const refuseIf: RefuseIf = (isWrong, path, allowed, found) => {
    if (isWrong) issues.push({ path, found: found ?? shownAt(contract, path), allowed });
  };
  for (const check of [
    checkRuleIds,
    checkIdInBody,
    checkUpdate,
    checkNames,
    checkBodies,
    checkReading,
    checkHeaders,
    checkListQuery,
    checkMarks,
    checkWriteOnly,
    checkForms,
    checkTransitions,
    checkResponses,
    checkOthers,
  ])
    check(contract, refuseIf);
  if (checksDefinitions) checkSchema(contract, refuseIf);
  return issues;
}

/** Returns every request that a contract describes, with the place where it is described. */
function requestsOf({ operations, rule, auth }: Contract) {
  const named = [
    ...rule.transitions.map((request, index) => ({ at: ["rule", "transitions", index], name: "transition", request })),
    ...Object.entries(operations).map(([name, request]) => ({ at: ["operations", name], name, request })),
    { at: ["auth", "token"], name: "token", request: auth.token },
    { at: ["auth", "identity"], name: "identity", request: identityOperation(auth) },
  ];
  return named.flatMap(({ request, ...rest }) => (request === null ? [] : [{ ...rest, request }]));
}

/** Decides whether requests of an operation have a body: a write, the token operation, a list by POST, some deletes. */
function hasBody(name: string, { operations: { list, delete: remove }, rule }: Contract): boolean {
  if (name === "transition") return rule.transitions.some(({ fields }) => Object.keys(fields).length > 0);
  if (name === "delete") return remove.identifyBy?.in === "body" || Object.keys(remove.fields).length > 0;
  return name === "list" ? list?.method === "POST" : ["create", "update", "token"].includes(name);
}

/** Refuses bodies that cannot be written, and what is about a body where there is none. */
function checkBodies(contract: Contract, refuseIf: RefuseIf): void {
  const { create, update, list, delete: remove } = contract.operations;
  for (const [name, operation] of Object.entries({ create, update, list, delete: remove })) {
    if (operation === null) continue;
    const at = ["operations", name];
    const has = hasBody(name, contract);
    const noBody =
      name === "list" ? "json, because a list by GET has no body" : "json, because this delete has no body";
    refuseIf(!has && operation.encoding !== "json", [...at, "encoding"], noBody);
    const isByGet = name === "list" && !has && Object.keys(operation.fields).length > 0;
    refuseIf(isByGet, [...at, "fields"], "none, or operations.list.method: POST, because a list by GET has no body");
    const id = "identifyBy" in operation && operation.identifyBy?.in === "body" ? operation.identifyBy.name : undefined;
    const isIdTwice = id !== undefined && Object.hasOwn(operation.fields, id);
    refuseIf(isIdTwice, [...at, "fields", id ?? ""], `another field: operations.${name}.identifyBy sends this one`);
    if (!("bodyAt" in operation)) continue;
    checkSentAs(operation, at, refuseIf);
    const segments = segmentsOf(operation.bodyAt);
    const covering = segments
      .map((_, index) => pointerOf(segments.slice(0, index + 1)))
      .find((pointer) => {
        const there = valueAt(operation.fields, pointer);
        return there !== undefined && !isJsonObject(there);
      });
    refuseIf(
      covering !== undefined,
      [...at, "bodyAt"],
      `a place apart from what operations.${name}.fields has at ${covering}`,
    );
  }
}

/** Refuses names by which two fields would be sent as one, or a field as the id. */
function checkSentAs(
  { sentAs, identifyBy, bodyAt }: Pick<Contract["operations"]["create"], "sentAs" | "identifyBy" | "bodyAt">,
  at: Path,
  refuseIf: RefuseIf,
): void {
  const names = Object.values(sentAs);
  const id = identifyBy?.in === "body" && bodyAt === "" ? identifyBy.name : undefined;
  for (const [read, sent] of Object.entries(sentAs)) {
    const path = [...at, "sentAs", read];
    refuseIf(sent === read, path, "another name than that of a reading; leave out a field whose name is the same");
    refuseIf(names.indexOf(sent) !== names.lastIndexOf(sent), path, "a name for each field");
    refuseIf(sent === id, path, "a name apart from identifyBy.name, which is sent beside it");
  }
}

/** Refuses a contract by which no rule could be read. */
function checkReading({ operations: { get, list } }: Contract, refuseIf: RefuseIf): void {
  const byUrl = list !== null && pagingOf(list.pagination).isByUrl;
  const paged = "none, cursor, lastId, page or offset, because the URL of a next page is asked for by GET";
  refuseIf(list?.method === "POST" && byUrl, ["operations", "list", "pagination", "type"], paged);
  const { pagination } = list ?? {};
  const isUnsized =
    pagination !== undefined && "shortPage" in pagination && pagination.shortPage && pagination.limit === null;
  const sized = "the parameter for the page size, because operations.list.pagination.shortPage compares with it";
  refuseIf(isUnsized, ["operations", "list", "pagination", "limit"], sized);
  if (get !== null) return;
  const because = "because operations.get is null and rules are looked for in the list";
  refuseIf(list === null, ["operations", "list"], `an operation, ${because}`);
  refuseIf(list?.summaries === true, ["operations", "list", "summaries"], `false, ${because}`);
  refuseIf(list?.lagMs === null, ["operations", "list", "lagMs"], `a number of milliseconds, ${because}`);
}

function checkRuleIds(contract: Contract, refuseIf: RefuseIf): void {
  for (const { at, name, request } of requestsOf(contract)) {
    const path = [...at, "path"];
    const times = namesIn(request.path).filter((each) => each === "ruleId").length;
    const isOfOneRule = ["get", "create", "delete", "update", "transition"].includes(name);
    refuseIf(times > 1, path, "a path that contains {ruleId} once");
    refuseIf(name === "get" && times === 0, path, "a path that contains {ruleId}");
    const isChosen = contract.operations.create.identifyBy !== null;
    const isUnknown = name === "create" && times > 0 && !isChosen;
    refuseIf(isUnknown, path, "a path without {ruleId}, which only the service knows");
    refuseIf(!isOfOneRule && times > 0, path, "a path without {ruleId}");
  }
  for (const name of ["create", "delete", "update"] as const) {
    const operation = contract.operations[name];
    if (operation === null) continue;
    const { path, query, identifyBy: by } = operation;
    // A wrong path of such a create is said above.
    if (name === "create" && by === null) continue;
    const at = ["operations", name];
    const byIn = [...at, "identifyBy", "in"];
    const byName = [...at, "identifyBy", "name"];
    const needsId = "a path that contains {ruleId}, because identifyBy.in is path";
    const isInPath = namesIn(path).includes("ruleId");
    refuseIf(by?.in === "path" && !isInPath, [...at, "path"], needsId);
    refuseIf(by?.in !== "path" && isInPath, byIn, `path, because ${name}.path contains {ruleId}`);
    refuseIf(by?.in === "header" && !headerNamePattern.test(by.name), byName, "the name of an HTTP header");
    const isFixed = by?.in === "query" && Object.hasOwn(query, by.name);
    refuseIf(isFixed, byName, "a query parameter that the operation does not fix");
  }
}

/** Refuses an id in a body in the place of a field of the definition. An update may name the rule in any other field. */
function checkIdInBody({ operations, rule }: Contract, refuseIf: RefuseIf): void {
  for (const name of ["create", "update"] as const) {
    const { identifyBy: by = null, bodyAt = "" } = operations[name] ?? {};
    if (by?.in !== "body") continue;
    const idField = pointerOf([by.name]);
    const isOwnId = idPointers(rule).some((pointer) => pointer === idField || pointer === rule.envelope + idField);
    const isDeclared = valueAt(rule.schema ?? {}, pointerOf(["properties", by.name])) !== undefined;
    if (name === "update" && !isDeclared && rule.naturalKey !== idField) continue;
    const beside = `a pointer such as /rule, so that the field ${by.name} stands beside the definition; "" only where that field is the rule's own id (rule.id)`;
    refuseIf(bodyAt === "" && !isOwnId, ["operations", name, "bodyAt"], beside);
  }
  const isNowhere = idPointers(rule).length === 0;
  const inItems = "a pointer beside the header, for the items of a list have no headers";
  refuseIf(isNowhere && operations.list !== null, ["rule", "id"], inItems);
  const { identifyBy, idFormat } = operations.create;
  const isUnused = identifyBy === null && idFormat !== "{uuid}";
  refuseIf(isUnused, ["operations", "create", "identifyBy"], "how the request gives the rule its id, as idFormat says");
}

function checkUpdate({ operations, rule }: Contract, refuseIf: RefuseIf): void {
  const { update } = operations;
  if (update === null) return;
  const versionAt = update.version !== null && "at" in update.version ? update.version.at : undefined;
  const inReadOnly = "a field that rule.readOnly lists: the service sets it, and no program declares it";
  const isUnread = update.version !== null && operations.get === null;
  const shown = "an operation that shows the version, because of operations.update.version";
  refuseIf(isUnread, ["operations", "get"], shown);
  const isUnlisted = versionAt !== undefined && !rule.readOnly.includes(versionAt);
  refuseIf(isUnlisted || versionAt === "", ["operations", "update", "version", "at"], inReadOnly);
  const { identifyBy, bodyAt, omit, id, removal, encoding } = update;
  const at = ["operations", "update"];
  const noNull = "json, because operations.update.removal is null, which a form cannot carry";
  refuseIf(removal === null && encoding === "form", [...at, "encoding"], noNull);
  const isChosen = operations.create.identifyBy !== null;
  const byChoice = "kept, because the client chooses ids (operations.create.identifyBy)";
  refuseIf(id === "new" && isChosen, [...at, "id"], byChoice);
  const idField = pointerOf([identifyBy.name]);
  const sendsLive = "changes or merged, because operations.update.omit is about what these send back of the live rule";
  refuseIf(omit.length > 0 && sentByUpdate(operations) === "declared", [...at, "body"], sendsLive);
  for (const [index, pointer] of omit.entries()) {
    const path = [...at, "omit", index];
    const namesRule = identifyBy.in === "body" && bodyAt === "" && pointer === idField;
    refuseIf(pointer === "", path, "a pointer to one field, such as /createdAt");
    refuseIf(namesRule, path, "a place apart from operations.update.identifyBy.name");
    const isOwner = pointer !== "" && rule.owner !== null && isWithin(rule.owner.at, pointer);
    refuseIf(isOwner, path, "a place apart from rule.owner");
  }
}

function checkNames(contract: Contract, refuseIf: RefuseIf): void {
  const { auth, parameters } = contract;
  const known = Object.keys(parameters);
  for (const name of ["ruleId", "token", "clientId", "clientSecret", "basic"])
    refuseIf(known.includes(name), ["parameters", name], `another name: ${name} has a meaning of its own`, name);

  function checkText(at: Path, text: string, own: readonly string[] = []): void {
    const names = [...own, ...known];
    const list = names.map((name) => `{${name}}`).join(", ");
    const allowed =
      list === "" ? "no {name}: the contract declares no parameters" : `${list}, or declare it under parameters`;
    for (const name of namesIn(text)) refuseIf(!names.includes(name), at, allowed, `{${name}}`);
  }
  for (const { at, name, request } of requestsOf(contract)) {
    // Where {ruleId} may stand is judged elsewhere.
    checkText([...at, "path"], request.path, ["ruleId"]);
    for (const part of ["headers", "query"] as const)
      for (const [key, text] of Object.entries(request[part]))
        checkText([...at, part, key], text, name === "token" && part === "headers" ? ["basic"] : []);
    if (name === "token" || !("fields" in request)) continue;
    walk(request.fields, (value, { path }) => {
      const isOfOneRule = name === "transition" || ("identifyBy" in request && request.identifyBy !== null);
      const own = isOfOneRule ? ["ruleId"] : [];
      if (typeof value === "string") checkText([...at, "fields", ...path], value, own);
    });
  }
  if (auth.present !== null) checkText(["auth", "present", "format"], auth.present.format, ["token", "basic"]);
  for (const [key, text] of Object.entries(auth.token?.fields ?? {}))
    checkText(["auth", "token", "fields", key], text, ["clientId", "clientSecret"]);
}

const framingHeaders = ["host", "content-length", "transfer-encoding", "connection"];
const clientHeaders = ["content-type", "accept", "user-agent"];
/** Headers to which the contract may give another value than the client's own. */
const typeHeaders = ["content-type", "accept"];
const oneType = String.raw`[\w.+*-]+/[\w.+*-]+(\s*;\s*[\w-]+=[\w.+"-]+)*`;
const mediaTypes = new RegExp(String.raw`^${oneType}(\s*,\s*${oneType})*$`);
/** Never in a contract, which is a file that is committed. */
const credentialHeaders = ["cookie", "proxy-authorization", "authorization"];

function checkHeaders(contract: Contract, refuseIf: RefuseIf): void {
  const { operations, auth, idempotency } = contract;
  const taken = new Set([...framingHeaders, ...clientHeaders, ...credentialHeaders]);
  const isTaken = (header: string): boolean => taken.has(header.toLowerCase());
  const another = "another header: this one is set by the client itself";
  if (auth.present !== null) taken.add(auth.present.name.toLowerCase());
  if (idempotency !== null) {
    refuseIf(isTaken(idempotency.header), ["idempotency", "header"], another);
    taken.add(idempotency.header.toLowerCase());
  }
  for (const name of ["create", "delete", "update"] as const) {
    const by = operations[name]?.identifyBy;
    refuseIf(by?.in === "header" && isTaken(by.name), ["operations", name, "identifyBy", "name"], another);
  }
  const noCredentials = `${another} (credentials belong in settings, not in the contract)`;
  for (const { at, name, request } of requestsOf(contract))
    for (const [header, text] of Object.entries(request.headers)) {
      const path = [...at, "headers", header];
      const own = header.toLowerCase();
      const isBasic = name === "token" && own === "authorization" && namesIn(text).includes("basic");
      if (typeHeaders.includes(own)) {
        refuseIf(!mediaTypes.test(text), path, "a media type, such as application/merge-patch+json");
        const isOfNoBody = own === "content-type" && !hasBody(name, contract);
        refuseIf(isOfNoBody, path, "no Content-Type: this operation has no body", header);
        const isForm = own === "content-type" && "encoding" in request && request.encoding === "form";
        refuseIf(isForm, path, "no Content-Type beside encoding: form, which sets it", header);
      } else refuseIf(isTaken(header) && !isBasic, path, noCredentials, header);
    }
}

/** Refuses one name twice in a query of the list: services differ in which of them they read. */
function checkListQuery({ operations: { list } }: Contract, refuseIf: RefuseIf): void {
  if (list === null) return;
  for (const [part, name] of Object.entries(pagingOf(list.pagination).parameters)) {
    const allowed = `another query parameter: this one is sent as operations.list.pagination.${part}`;
    if (name !== null) refuseIf(Object.hasOwn(list.query, name), ["operations", "list", "query", name], allowed, name);
  }
}

/** Refuses marks that cannot work: each stands in one field, and the owner's in a field that nothing else uses. */
function checkMarks({ rule }: Contract, refuseIf: RefuseIf): void {
  const oneField = "a pointer to one field, such as";
  for (const name of ["gone", "foreign"] as const)
    for (const [index, { at }] of rule[name].entries())
      refuseIf(at === "", ["rule", name, index, "at"], `${oneField} /status`);
  for (const name of ["changedBy", "changedAt"] as const) {
    const pointer = rule[name];
    if (pointer === null) continue;
    refuseIf(pointer === "", ["rule", name], `${oneField} /updatedAt`);
    const isSecret = rule.secret.some((pattern) => isAtOrBelow(segmentsOf(pointer), pattern));
    refuseIf(isSecret, ["rule", name], "a place apart from rule.secret: reports show it");
    refuseIf(pointer === rule.naturalKey, ["rule", name], "a place apart from rule.naturalKey");
  }
  if (rule.owner === null) return;
  const path = ["rule", "owner", "at"];
  const mark = segmentsOf(rule.owner.at);
  refuseIf(mark.length === 0, path, `${oneField} /metadata/managedBy`);
  const overlaps = (other: string): boolean =>
    mark.length > 0 &&
    segmentsOf(other).every((segment, index) => segment === "*" || segment === (mark[index] ?? segment));
  const byOwner = "a place apart from rule.immutable: the mark changes when a rule gets another owner";
  refuseIf(rule.naturalKey !== null && overlaps(rule.naturalKey), path, "a place apart from rule.naturalKey");
  refuseIf(idPointers(rule).some(overlaps), path, "a place apart from rule.id");
  refuseIf(rule.immutable.some(overlaps), path, byOwner);
}

/** Refuses to hide what a run has to read: by it a rule is found, told from others, or judged. */
function checkWriteOnly({ rule }: Contract, refuseIf: RefuseIf): void {
  const read = {
    ...{ naturalKey: [rule.naturalKey], owner: [rule.owner?.at], id: idPointers(rule), readOnly: rule.readOnly },
    ...{ changedBy: [rule.changedBy], changedAt: [rule.changedAt] },
    gone: rule.gone.map(({ at }) => at),
    foreign: rule.foreign.map(({ at }) => at),
    transitions: rule.transitions.map(({ at }) => at),
  };
  for (const [index, pointer] of rule.writeOnly.entries()) {
    const path = ["rule", "writeOnly", index];
    refuseIf(pointer === "", path, "a pointer to a field or to elements, such as /apiKey");
    const taken = Object.entries(read).find(([, others]) =>
      others.some((other) => other && (reaches(pointer, other) || reaches(other, pointer))),
    );
    refuseIf(pointer !== "" && taken !== undefined, path, `a place apart from rule.${taken?.[0]}, which is read`);
  }
}

/** Refuses transitions that name no rule, change what something else decides by, or cannot be told apart. */
function checkTransitions({ rule, operations }: Contract, refuseIf: RefuseIf): void {
  const others = [rule.naturalKey, rule.owner?.at, ...idPointers(rule), ...rule.readOnly, ...rule.immutable];
  for (const [index, { at, to, from, path, fields, beforeDelete }] of rule.transitions.entries()) {
    const place = ["rule", "transitions", index];
    refuseIf(at === "", [...place, "at"], "a pointer to one field, such as /status");
    const isTaken = others.some((each) => each && (isWithin(at, each) || isWithin(each, at)));
    const apart = "a place apart from rule.naturalKey, rule.owner, rule.id, rule.readOnly and rule.immutable";
    refuseIf(at !== "" && isTaken, [...place, "at"], apart);
    const isNamed = [path, JSON.stringify(fields)].some((text) => namesIn(text).includes("ruleId"));
    refuseIf(!isNamed, [...place, "path"], "a path, or fields, with {ruleId}");
    const isGone = rule.gone.some((each) => each.at === at && each.is.includes(to));
    refuseIf(isGone, [...place, "to"], "a value that does not count as deleted (rule.gone)");
    refuseIf(from.includes(to), [...place, "from"], "values other than to");
    const isTwice = rule.transitions
      .slice(0, index)
      .some((each) => each.at === at && each.to === to && overlap(each.from, from));
    refuseIf(isTwice, place, "one request for each field, value and value before");
    const other = rule.transitions.find((each) => each.at === at && each.beforeDelete && each.to !== to);
    const noDelete = "false, because the contract does not say how to delete (operations.delete.identifyBy)";
    refuseIf(beforeDelete && operations.delete.identifyBy === null, [...place, "beforeDelete"], noDelete);
    const isUnclear = beforeDelete && other !== undefined;
    refuseIf(isUnclear, [...place, "beforeDelete"], "one value of each field that a rule has before it is deleted");
  }
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}/`);
}

/** Decides whether two lists of values before have a value in common; an empty list means all values. */
function overlap<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === 0 || other.length === 0 || one.some((each) => other.includes(each));
}

/** Refuses responses that cannot be told from others: they decide whether a rule counts as gone, and a create as not done. */
function checkResponses({ errors, operations, rule }: Contract, refuseIf: RefuseIf): void {
  for (const [index, { at, is }] of errors.failure.entries()) {
    const path = ["errors", "failure", index];
    refuseIf(at === "", [...path, "at"], "a pointer to one field, such as /status");
    const ofSuccess = [...idPointers(rule).flatMap((id) => [id, rule.envelope + id]), operations.list?.items ?? ""];
    const isInAll = at !== "" && is === null && ofSuccess.some((each) => isWithin(each, at));
    refuseIf(isInAll, [...path, "is"], "values, because successes have something there, too");
  }
  for (const name of ["notFound", "exists", "inUse"] as const)
    for (const [index, { status, code }] of errors[name].entries()) {
      const path = ["errors", name, index];
      refuseIf(status === null && code === null, path, "a status, a code, or both");
      const isSuccess = status !== null && status < 300;
      // By the code of a body that says that it failed (errors.failure).
      const isByBody = errors.failure.length > 0 && code !== null;
      refuseIf(isSuccess && name !== "exists" && !isByBody, [...path, "status"], "from 300 to 499, or null");
      refuseIf(
        isSuccess && name === "exists" && !isByBody && operations.create.success.includes(status),
        [...path, "status"],
        "a status that operations.create.success does not have",
      );
      refuseIf(
        name === "notFound" && code === null && status !== null && status !== 404 && status !== 410,
        [...path, "code"],
        "a code beside this status: it has other meanings, too, and a rule that is there would count as gone",
      );
      refuseIf(
        name === "notFound" && status !== null && saysNothingOfRules(status),
        [...path, "status"],
        "a status that is not about credentials, time or rate",
      );
    }
}

function checkOthers({ rule: { schema }, auth, limits }: Contract, refuseIf: RefuseIf): void {
  const isAsync = schema !== null && Object.hasOwn(schema, "$async");
  // Its validation would answer with a promise, which is never refused.
  refuseIf(isAsync, ["rule", "schema", "$async"], "no $async: a definition is checked at once");
  const isTokenless = presentsClient(auth);
  const byClient = "null beside {basic} in auth.present.format, by which no token is presented";
  refuseIf(isTokenless && auth.token !== null, ["auth", "token"], byClient);
  const claimed = auth.identity !== null && "claim" in auth.identity;
  const noClaims = "an operation or the client id: by {basic} in auth.present.format there is no token";
  refuseIf(isTokenless && claimed, ["auth", "identity"], noClaims);
  const tellsByToken = auth.identity !== null && !("path" in auth.identity);
  const noToken = "an operation: requests carry no credentials that could say who they are";
  refuseIf(tellsByToken && auth.present === null, ["auth", "identity"], noToken);
  const tellsByClient = auth.identity !== null && "clientId" in auth.identity;
  const noClient = "auth.token beside it: without a token operation nobody gives a client id";
  refuseIf(tellsByClient && auth.token === null && !isTokenless, ["auth", "identity", "clientId"], noClient);
  const isUnused = auth.token !== null && auth.present === null;
  refuseIf(isUnused, ["auth", "present"], "how the token that auth.token obtains is presented");
  const { attemptTimeoutMs, totalTimeoutMs } = limits;
  const atMost = `at most totalTimeoutMs, ${totalTimeoutMs}`;
  refuseIf(attemptTimeoutMs > totalTimeoutMs, ["limits", "attemptTimeoutMs"], atMost);
}

function checkSchema({ rule: { schema } }: Contract, refuseIf: RefuseIf): void {
  const fault = schema === null ? undefined : schemaError(schema);
  refuseIf(fault !== undefined, ["rule", "schema"], "a JSON Schema that compiles", fault);
}
