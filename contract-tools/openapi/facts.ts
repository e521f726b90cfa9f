import { isDeepStrictEqual } from "node:util";
import { schemaError } from "../../sdk/contract/definition-schema.ts";
import { field, isJsonArray, isJsonObject, type Json, type JsonObject, pointerOf } from "../../sdk/json/index.ts";
import type { Fact } from "../draft.ts";
import { documented } from "../gaps.ts";
import { authFacts } from "./auth.ts";
import { Description } from "./description.ts";
import { listParts } from "./list.ts";
import { ruleSchema } from "./rule-schema.ts";

/** The paths of rules in a description: all of them, and one of them. */
interface Paths {
  readonly all: string;
  readonly one: string | undefined;
}

/**
 * Returns what a description states about the contract. What it only suggests is left open: a delete of the whole
 * collection is never taken for a delete of a rule.
 * @param collection the path of all rules; undefined: the one that a rules service of this family has, or the only one
 * @throws MerchantRulesError SETTINGS_INVALID: no description, no such path, or several that may be meant
 */
export function openapiFacts(file: string, collection: string | undefined): Fact[] {
  const description = new Description(file);
  const paths = pathsOf(description, collection);
  const [all, one] = [itemAt(description, paths.all), itemAt(description, paths.one)];
  const facts: Fact[] = [];
  /** Adds method, path, headers and statuses of an operation, and `more`. */
  const add = (
    name: string,
    method: string,
    path: string | undefined,
    operation?: JsonObject,
    more: JsonObject = {},
  ) => {
    if (operation === undefined || path === undefined) return;
    const success = successesOf(operation);
    const headers = fixedHeaders(operation, description);
    const value = {
      method: method.toUpperCase(),
      path: contractPath(path, path === paths.one),
      ...more,
      ...(Object.keys(headers).length > 0 ? { headers } : {}),
      ...(success.length > 0 ? { success } : {}),
    };
    facts.push({ at: `/operations/${name}`, value, source: `described: ${method.toUpperCase()} ${path}` });
  };

  const create = operationOf(all, "post", description);
  const get = operationOf(one, "get", description);
  const list = operationOf(all, "get", description);
  add("create", "post", paths.all, create);
  add("get", "get", paths.one, get);
  const removeOne = operationOf(one, "delete", description);
  const remove = operationOf(all, "delete", description);
  const identifyBy = remove === undefined ? undefined : identifiedBy(remove, description);
  if (removeOne !== undefined) add("delete", "delete", paths.one, removeOne, { identifyBy: { in: "path" } });
  else if (identifyBy !== undefined) add("delete", "delete", paths.all, remove, { identifyBy });
  const updateMethod = ["put", "patch"].find((each) => operationOf(one, each, description) !== undefined) ?? "put";
  add("update", updateMethod, paths.one, operationOf(one, updateMethod, description));
  const found = list === undefined ? undefined : listParts(list, responseOf(list, description), description);
  if (found !== undefined) add("list", "get", paths.all, list, found);
  facts.push(...ruleFacts(create, get, description, paths));
  for (const [at, value] of authFacts(create ?? list ?? get ?? {}, description))
    facts.push({ at, value, source: "described: securitySchemes" });
  const parameters = [...`${paths.all}${paths.one ?? ""}`.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => name);
  const own = new Set(parameters.filter((name) => name !== idOf(paths.one)).map(parameterName));
  if (own.size > 0)
    facts.push({
      at: "/parameters",
      value: Object.fromEntries([...own].map((name) => [name, {}])),
      source: `described: ${paths.all}`,
    });
  return facts;
}

/** Returns where a response has the id and the rule, and what a rule may hold. */
function ruleFacts(
  create: JsonObject | undefined,
  get: JsonObject | undefined,
  description: Description,
  { all, one }: Paths,
): Fact[] {
  const facts: Fact[] = [];
  const idNames = ["ruleId", "id", "uuid", idOf(one) ?? "id"];
  const responses = [create, get].filter((each) => each !== undefined).map((each) => responseOf(each, description));
  const found = responses.flatMap((response) => idIn(response, idNames, description) ?? []);
  const [first] = found;
  const from = `POST ${all}`;
  if (first !== undefined && found.every((each) => isDeepStrictEqual(each, first))) {
    const source = "described: the answers that have a rule";
    facts.push({ at: "/rule/id", value: [pointerOf([first.name])], source });
    if (first.envelope !== undefined) facts.push({ at: "/rule/envelope", value: pointerOf([first.envelope]), source });
  }
  if (create === undefined) return facts;
  const schema = ruleSchema(jsonSchemaOf(description.object(create.requestBody), description), description);
  if (schema !== undefined && schemaError(schema) === undefined)
    facts.push({ at: "/rule/schema", value: schema, source: `described: the body of ${from}` });
  const parameters = description.parameters(create);
  const key = parameters.find(({ in: place, name }) => place === "header" && /idempotency/i.test(String(name)));
  if (key !== undefined)
    facts.push({ at: "/idempotency", value: { header: String(key.name) }, source: `described: a header of ${from}` });
  return [...facts, ...errorFacts(create, description, from)];
}

/** Finds a rule in a response's schema by the name of its id: at the top, or in an envelope. */
function idIn(response: JsonObject, names: readonly string[], description: Description) {
  const top = description.properties(response);
  for (const envelope of [undefined, ...Object.keys(top)]) {
    const fields = envelope === undefined ? top : description.properties(description.object(top[envelope]));
    const name = names.find((each) => Object.hasOwn(fields, each));
    if (name !== undefined) return { envelope, name };
  }
  return undefined;
}

function errorFacts(create: JsonObject, description: Description, from: string): Fact[] {
  const responses = description.object(create.responses);
  const status = Object.keys(responses).find((each) => /^[45]/.test(each) || each === "default");
  const body =
    status === undefined ? {} : description.object(jsonSchemaOf(description.object(responses[status]), description));
  const source = `described: the answer ${status} to ${from}`;
  for (const within of [[], ["error"]]) {
    const [inner] = within;
    const at = inner === undefined ? body : description.object(description.properties(body)[inner]);
    const fields = description.properties(at);
    const code = ["code", "errorCode", "type"].find((name) => Object.hasOwn(fields, name));
    const message = ["message", "detail", "title", "description"].find((name) => Object.hasOwn(fields, name));
    if (message === undefined) continue;
    return [
      ...(code === undefined ? [] : [{ at: "/errors/code", value: pointerOf([...within, code]), source }]),
      { at: "/errors/message", value: pointerOf([...within, message]), source },
    ];
  }
  return [];
}

function pathItems(description: Description): JsonObject {
  return description.object(description.root.paths);
}

/** Finds the two paths of rules. @throws MerchantRulesError SETTINGS_INVALID: there is none, or there are several */
function pathsOf(description: Description, named: string | undefined): Paths {
  const items = pathItems(description);
  const all = Object.keys(items);
  const withOne = (path: string): Paths => ({
    all: path,
    one: all.find((each) => each.startsWith(`${path}/`) && /^\/\{[^/}]+\}$/.test(each.slice(path.length))),
  });
  if (named !== undefined) {
    if (Object.hasOwn(items, named)) return withOne(named);
    throw description.refused(`it has no path ${named}`, `name one of its paths with --collection: ${some(all)}`);
  }
  const specified = documented.find(({ field: each }) => each === "operations.create.path")?.value;
  if (typeof specified === "string" && Object.hasOwn(items, specified)) return withOne(specified);
  const candidates = all.filter((path) => {
    const { one } = withOne(path);
    return operationOf(itemAt(description, path), "post", description) !== undefined && one !== undefined;
  });
  const [only, ...more] = candidates;
  if (only !== undefined && more.length === 0) return withOne(only);
  const reason =
    only === undefined
      ? "it has no path that makes something, with one below it for each"
      : "it has several paths that could be those of rules";
  throw description.refused(
    reason,
    `name the path of all rules with --collection: ${some(only === undefined ? all : candidates)}`,
  );
}

function some(paths: readonly string[]): string {
  const shown = paths.slice(0, 10).join(", ");
  return paths.length > 10 ? `${shown} and ${paths.length - 10} more` : shown || "(it has none)";
}

function itemAt(description: Description, path: string | undefined): JsonObject {
  return path === undefined ? {} : description.object(pathItems(description)[path]);
}

/** Returns an operation, with the parameters that its path has for all; undefined where the path does not have it. */
function operationOf(item: JsonObject, method: string, description: Description): JsonObject | undefined {
  const found = field(item, method);
  if (!isJsonObject(found)) return undefined;
  const operation = description.object(found);
  const shared = isJsonArray(item.parameters) ? item.parameters : [];
  const own = isJsonArray(operation.parameters) ? operation.parameters : [];
  return { ...operation, parameters: [...shared, ...own] };
}

/** Returns how a delete of the whole collection names one rule: by a required parameter or field that has an id's name. */
function identifiedBy(operation: JsonObject, description: Description): Json | undefined {
  const isId = (name: string): boolean => /^(?:rule)?_?id$/i.test(name);
  const needed = description
    .parameters(operation)
    .find(
      ({ in: place, name, required }) =>
        required === true && /^(query|header)$/.test(String(place)) && isId(String(name)),
    );
  if (needed !== undefined) return { in: String(needed.in), name: String(needed.name) };
  const body = description.object(jsonSchemaOf(description.object(operation.requestBody), description));
  const required = isJsonArray(body.required) ? body.required.map(String) : [];
  const inBody = required.find(isId);
  return inBody === undefined ? undefined : { in: "body", name: inBody };
}

function successesOf(operation: JsonObject): number[] {
  const statuses = isJsonObject(operation.responses) ? Object.keys(operation.responses) : [];
  return statuses.filter((each) => /^2\d\d$/.test(each)).map(Number);
}

/** Returns the headers that a request must have, and that can have one value alone. */
function fixedHeaders(operation: JsonObject, description: Description): JsonObject {
  const pairs = description
    .parameters(operation)
    .flatMap(({ in: place, name, required, schema }): [string, string][] => {
      const values = description.object(schema).enum;
      const only = isJsonArray(values) && values.length === 1 ? values[0] : description.object(schema).const;
      const isFixed = place === "header" && required === true && typeof name === "string" && typeof only === "string";
      return isFixed ? [[name, only]] : [];
    });
  return Object.fromEntries(pairs);
}

/** Returns the schema of the JSON in an operation's first response of success; an empty one where it has none. */
function responseOf(operation: JsonObject, description: Description): JsonObject {
  const responses = description.object(operation.responses);
  const [status] = successesOf(operation);
  const response = status === undefined ? {} : description.object(responses[String(status)]);
  return description.object(jsonSchemaOf(response, description));
}

/** Returns the schema of a body in JSON. */
function jsonSchemaOf({ content }: JsonObject, description: Description): Json | undefined {
  const types = description.object(content);
  const json = Object.keys(types).find((type) => /[/+]json\b/.test(type));
  return json === undefined ? undefined : description.object(types[json]).schema;
}

/** Returns the name that a path has for a rule's id: `/rules/{id}` → `id`. */
function idOf(one: string | undefined): string | undefined {
  return /\{([^/}]+)\}$/.exec(one ?? "")?.[1];
}

/** Returns a path as a contract writes it: `/{merchant_id}/rules/{id}` → `/{merchantId}/rules/{ruleId}`. */
function contractPath(path: string, isOne: boolean): string {
  const id = isOne ? idOf(path) : undefined;
  return path.replace(/\{([^}]+)\}/g, (_whole, name: string) => `{${name === id ? "ruleId" : parameterName(name)}}`);
}

/** Returns a parameter's name as a contract may have it: merchant_id → merchantId. */
function parameterName(name: string): string {
  return name.replace(/[^A-Za-z0-9]+(.)?/g, (_whole, next: string = "") => next.toUpperCase());
}
