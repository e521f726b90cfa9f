import { type Contract, expand, namesIn } from "../../sdk/contract/index.ts";
import {
  field,
  findNotJson,
  isJson,
  isJsonObject,
  type Json,
  type JsonObject,
  mapJson,
  type Path,
  parseJson,
  pathOf,
  pointerOf,
  segmentsOf,
  valueAt,
  walk,
  withoutValueAt,
} from "../../sdk/json/index.ts";
import { badRequest, Refusal } from "./refusal.ts";
import type { IncomingRequest } from "./request.ts";

/** The way in which the contract has an operation's bodies written. */
export interface SentBody {
  readonly encoding: "json" | "form";
  /** True where a fixed header says the type of the body. */
  readonly hasOwnType: boolean;
  /** What every body holds; strings may name parameters and {ruleId}. */
  readonly fields: JsonObject;
  /** Values of the contract's parameters, where they are fixed. */
  readonly values: Readonly<Record<string, string>>;
}

/** Reads the object that a body carries. Of a form all values are strings. @throws Refusal 415, 413, 400, 422 */
export function bodyOf(request: IncomingRequest, { encoding, hasOwnType }: SentBody, maxBodyBytes: number): JsonObject {
  if (encoding === "json") {
    const body = jsonValue(request, maxBodyBytes, hasOwnType ? null : "application/json");
    if (!isJsonObject(body)) throw badRequest("the body must be a JSON object");
    return body;
  }
  const tree: Branch = new Map();
  for (const [name, value] of Object.entries(formFields(request, maxBodyBytes))) grow(tree, segmentsIn(name), value);
  const body = plain(tree);
  if (!isJsonObject(body)) throw badRequest("the fields of a form must have names");
  return body;
}

/** Parses the body of a request as JSON. @throws Refusal 415, 413, 400 for what is not JSON, 422 for JSON that no program can hold */
export function jsonValue(
  request: IncomingRequest,
  maxBodyBytes: number,
  type: string | null = "application/json",
): Json {
  if (type !== null) demandType(request, type);
  const value = jsonIn(textOf(request, maxBodyBytes));
  const fault = findNotJson(value);
  if (fault !== undefined || !isJson(value)) {
    const details = fault === undefined ? [] : [{ path: pathOf(fault.path), reason: `found ${fault.found}` }];
    throw new Refusal(422, "VALIDATION_FAILED", "the body holds a value that cannot be kept", { details });
  }
  return value;
}

/** Parses the body of a request as a form, and returns its fields. @throws Refusal 415, 413, 400 for a field that is sent twice */
function formFields(request: IncomingRequest, maxBodyBytes: number): Record<string, string> {
  demandType(request, "application/x-www-form-urlencoded");
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(textOf(request, maxBodyBytes))) {
    if (fields.has(name)) throw badRequest(`the field ${name} is sent more than once`);
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

/**
 * Returns a body without what the contract fixes in it. What stands at the definition's own place may differ: the
 * definition has it, too.
 * @throws Refusal 400 for a fixed field that is missing or differs
 */
export function withoutFixed(
  body: JsonObject,
  { fields, values, encoding }: SentBody,
  { ruleId, bodyAt }: { readonly ruleId?: string | undefined; readonly bodyAt?: string },
): JsonObject {
  let rest = body;
  walk(fields, (value: Json, { path }) => {
    if (isJsonObject(value)) return;
    const pointer = pointerOf(path);
    const found = valueAt(body, pointer);
    if (found === undefined) throw badRequest(`the body lacks the fixed field ${pathOf([...path])}`);
    const wanted = typeof value === "string" ? expand(value, { ...values, ...(ruleId && { ruleId }) }) : value;
    const isFree = typeof wanted === "string" && namesIn(wanted).length > 0;
    const isSame =
      encoding === "form" ? String(found) === String(wanted) : JSON.stringify(found) === JSON.stringify(wanted);
    if (isSame || isFree) rest = withoutValueAt(rest, pointer);
    else if (bodyAt === undefined || !pointer.startsWith(`${bodyAt}/`))
      throw badRequest(`the field ${pathOf([...path])} is not what the contract fixes`);
  });
  return rest;
}

/** Returns a definition that came as strings, with numbers and booleans where the schema does not ask for a string. */
export function typed(definition: JsonObject, schema: Contract["rule"]["schema"]): JsonObject {
  const typedOf = mapJson(definition, (value, path) => {
    if (typeof value !== "string" || typeAt(schema, path) === "string") return undefined;
    return /^(true|false|-?(0|[1-9]\d*)(\.\d+)?)$/.test(value) ? JSON.parse(value) : undefined;
  });
  return isJsonObject(typedOf) ? typedOf : definition;
}

function typeAt(schema: Json, path: Path): Json | undefined {
  const inner = path.reduce<Json | undefined>((here, segment) => {
    if (!isJsonObject(here)) return undefined;
    return typeof segment === "number" ? field(here, "items") : valueAt(here, pointerOf(["properties", segment]));
  }, schema);
  return isJsonObject(inner) ? field(inner, "type") : undefined;
}

/** Refuses a body with a field that is not `known`. @throws Refusal 400 */
export function demandKnownFields(body: JsonObject, known: readonly string[]): void {
  const unknown = Object.keys(body).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw badRequest(`unknown in the body: ${unknown.join(", ")}; allowed: ${known.join(", ")}`);
}

/** Returns the definition at `bodyAt` of a body. @throws Refusal 400 for none, or a field beside it that is not named */
export function definitionIn(body: JsonObject, bodyAt: string, beside: readonly string[]): JsonObject {
  const [outermost] = segmentsOf(bodyAt);
  if (outermost !== undefined) demandKnownFields(body, [outermost, ...beside]);
  const definition = valueAt(body, bodyAt);
  if (isJsonObject(definition)) return definition;
  throw badRequest(`the body must have the definition, an object, at ${bodyAt}`);
}

type Branch = Map<string, Branch | Json>;

/** Splits the name of a form's field: `a[b][0]` into a, b and 0. */
function segmentsIn(name: string): string[] {
  const [, first = name, rest = ""] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? [];
  return [first, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, segment = ""]) => segment)];
}

function grow(branch: Branch, [first = "", ...rest]: readonly string[], value: Json): void {
  if (rest.length === 0) {
    branch.set(first, value);
    return;
  }
  const there = branch.get(first);
  const below = there instanceof Map ? there : new Map();
  branch.set(first, below);
  grow(below, rest, value);
}

function plain(branch: Branch | Json): Json {
  if (!(branch instanceof Map)) return branch;
  const entries = [...branch].map(([name, value]): [string, Json] => [name, plain(value)]);
  const isList = entries.length > 0 && entries.every(([name], index) => name === String(index));
  return isList ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}

/** Refuses a body. @throws Refusal 400 where there is one */
export function demandNoBody({ body }: IncomingRequest): void {
  if ("tooLarge" in body || body.bytes.length > 0) throw badRequest("this operation takes no body");
}

function demandType(request: IncomingRequest, wanted: string): void {
  const sent = request.header("content-type") ?? "";
  const [type = "", ...parameters] = sent.split(";").map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((parameter) => parameter.startsWith("charset="))
    ?.slice("charset=".length)
    .replaceAll('"', "");
  if (type === wanted && (charset === undefined || charset === "utf-8" || charset === "utf8")) return;
  const found = sent === "" ? "no content-type" : `content-type ${sent}`;
  throw new Refusal(415, "UNSUPPORTED_MEDIA_TYPE", `found ${found}; allowed: ${wanted}`);
}

function textOf({ body }: IncomingRequest, maxBodyBytes: number): string {
  if ("tooLarge" in body) {
    throw new Refusal(413, "PAYLOAD_TOO_LARGE", `the body is larger than ${maxBodyBytes} bytes`);
  }
  try {
    return utf8.decode(body.bytes);
  } catch {
    throw badRequest("the body is not UTF-8");
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function jsonIn(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    throw badRequest("the body is not JSON");
  }
}
