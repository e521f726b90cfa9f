import { type Contract, expand, namesIn } from "../../sdk/contract/index.ts";
import {
  field,
  isJsonObject,
  type Json,
  type JsonObject,
  mapJson,
  type Path,
  pathOf,
  pointerOf,
  valueAt,
  walk,
  withoutValueAt,
} from "../../sdk/json/index.ts";
import { formBody, jsonBody } from "./body.ts";
import { badRequest } from "./refusal.ts";
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

/** Reads the object that a body carries. Of a form all values are strings. @throws Refusal as `jsonBody` and `formBody` */
export function bodyOf(request: IncomingRequest, { encoding, hasOwnType }: SentBody, maxBodyBytes: number): JsonObject {
  if (encoding === "json") return jsonBody(request, maxBodyBytes, hasOwnType ? null : "application/json");
  const flat = formBody(request, maxBodyBytes);
  const tree: Branch = new Map();
  for (const [name, value] of Object.entries(flat)) grow(tree, segmentsIn(name), value);
  const body = plain(tree);
  if (!isJsonObject(body)) throw badRequest("the fields of a form must have names");
  return body;
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
