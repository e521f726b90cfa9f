import { type IdentifyBy, identityOperation, type Operations } from "../contract/schema.ts";
import { expand, namesIn } from "../contract/template.ts";
import { MerchantRulesError } from "../errors.ts";
import {
  defined,
  isJsonObject,
  type Json,
  type JsonObject,
  mapJson,
  type Pointer,
  valueAt,
  withFieldAt,
} from "../json/index.ts";
import { packageVersion } from "../version.ts";
import type { Connection } from "./connection.ts";
import { formText } from "./form.ts";

type Target = Omit<Connection, "credentials" | "baseUrl">;
export type Templates = ReturnType<typeof templatesOf>;

/**
 * Makes the templates of a connection's operations; null for those that its contract lacks.
 * @param prefix stands before every path, encoded
 * @throws MerchantRulesError SETTINGS_INVALID, as {@link RequestTemplate}
 */
export function templatesOf(connection: Target, prefix: string) {
  const { operations, rule, auth } = connection.contract;
  const template = (at: string, fixed: FixedParts) => new RequestTemplate(connection, prefix, at, fixed);
  const { get, update, list } = operations;
  const identity = identityOperation(auth);
  return {
    create: template("operations.create", operations.create),
    get: get && template("operations.get", get),
    delete: template("operations.delete", operations.delete),
    update: update && template("operations.update", update),
    list: list && new RequestTemplate(connection, prefix, "operations.list", listed(list), {}, "maxListBytes"),
    transitions: rule.transitions.map((each, index) => template(`rule.transitions[${index}]`, each)),
    identity: identity && template("auth.identity", identity),
  };
}

/** Returns a list of which 204 is a success, where that says that there are no rules. */
function listed(list: NonNullable<Operations["list"]>): NonNullable<Operations["list"]> {
  return list.empty.includes("noContent") ? { ...list, success: [...new Set([...list.success, 204])] } : list;
}

/** Returns the values given for the contract's parameters, and its defaults for the rest. */
export function parametersOf({ contract, parameters }: Target): Record<string, string> {
  return Object.fromEntries(
    Object.entries(contract.parameters).flatMap(([name, { default: fallback }]) => {
      const value = Object.hasOwn(parameters, name) ? parameters[name] : fallback;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The parts of a request that an operation of the contract fixes. */
export type FixedParts = Pick<Operations["create"], "path" | "headers" | "query" | "success"> &
  Partial<Pick<Operations["create"], "encoding" | "fields" | "sentAs">> & { readonly method: string };

/** The field of the contract's `limits` that bounds a response. */
type Bound = "maxBodyBytes" | "maxListBytes";

/** A request without its credentials. */
export interface WireRequest {
  readonly method: string;
  /** Path and query, encoded. */
  readonly target: string;
  /** The path alone, as errors show it. */
  readonly path: string;
  /** Names and values by turns. */
  readonly headers: readonly string[];
  readonly body: string | null;
  readonly success: readonly number[];
  /** The contract's bound of the body of a success. */
  readonly bound: Bound;
}

/** The parts that one call adds to its operation, encoded. */
export interface Additions {
  /** A path and query that the service gave, in place of the operation's own. */
  readonly target?: string;
  readonly segment?: string;
  /** `name=value`. */
  readonly query?: string;
  readonly headers?: readonly string[];
  /** As the operation of the contract writes bodies; see {@link RequestTemplate.body}. */
  readonly body?: JsonObject;
}

/** Throws an error that says why a value cannot be sent. */
export type Refuse = (reason: string) => never;

/** Builds the requests of one operation. What they share is worked out once. */
export class RequestTemplate {
  readonly #fixed: FixedParts;
  readonly #path: string;
  readonly #query: string;
  readonly #headers: readonly string[];
  readonly #bodyHeaders: readonly string[];
  readonly #fields: JsonObject;
  readonly #bound: Bound;

  /**
   * @param prefix stands before the path, encoded
   * @param at where the contract has the operation, for messages
   * @param more values beside the contract's parameters
   * @param bound of a response
   * @throws MerchantRulesError SETTINGS_INVALID, naming a parameter without a value, or with one that cannot be sent
   */
  constructor(
    connection: Target,
    prefix: string,
    at: string,
    fixed: FixedParts,
    more: Readonly<Record<string, string>> = {},
    bound: Bound = "maxBodyBytes",
  ) {
    const parameters = { ...parametersOf(connection), ...more };
    const refuse = (reason: string): never => {
      const what = `connection ${JSON.stringify(connection.name)}: ${reason}; ${at} of its contract uses it`;
      const advice =
        "give the parameter a value in the connection's settings, or a default under parameters in the contract";
      throw new MerchantRulesError("SETTINGS_INVALID", what, { advice });
    };
    const fill = (text: string, encode: (value: string, refuse: Refuse) => string): string => {
      const missing = namesIn(text).find((name) => name !== "ruleId" && !Object.hasOwn(parameters, name));
      if (missing !== undefined) refuse(`parameter ${missing} has no value`);
      return expand(text, parameters, (value, name) =>
        encode(value, (reason) => refuse(`parameter ${name} cannot be used: ${reason}`)),
      );
    };
    this.#fixed = fixed;
    this.#bound = bound;
    this.#path = prefix + fill(fixed.path.replace(/[^\x21-\x7e]+/gu, encodeURIComponent), encodeSegment);
    const pairs = Object.entries(fixed.query).map(([name, text]) => {
      const literal = namesIn(text).length === 0;
      const encode = (part: string): string =>
        encodeText(part, (reason) => refuse(`query ${name}: ${reason}`), { isFixed: literal });
      return `${encode(name)}=${encode(fill(text, (given) => given))}`;
    });
    this.#query = pairs.join("&");
    const own = Object.entries(fixed.headers).map(([name, text]) => [name, fill(text, headerValue)] as const);
    const has = (header: string): boolean => own.some(([name]) => name.toLowerCase() === header);
    const type = fixed.encoding === "form" ? "application/x-www-form-urlencoded" : "application/json";
    const accept = has("accept") ? [] : ["accept", "application/json"];
    this.#headers = [...accept, "user-agent", userAgent, ...own.flat()];
    this.#bodyHeaders = has("content-type") ? this.#headers : [...this.#headers, "content-type", type];
    this.#fields = filled(fixed.fields ?? {}, (text) => fill(text, (given) => given));
  }

  /** True where every request has a body. */
  get hasFields(): boolean {
    return Object.keys(this.#fields).length > 0;
  }

  /** Makes a body: the fields that the contract fixes, and a definition at its place, whose own fields come first, by the names that are sent. */
  body(ruleId?: string, definition?: JsonObject, at: Pointer = ""): JsonObject {
    const fixed = ruleId === undefined ? this.#fields : filled(this.#fields, (text) => expand(text, { ruleId }));
    if (definition === undefined) return fixed;
    const { sentAs = {} } = this.#fixed;
    const nameOf = (name: string): string => (Object.hasOwn(sentAs, name) ? sentAs[name] : undefined) ?? name;
    const sent = Object.fromEntries(Object.entries(definition).map(([name, value]) => [nameOf(name), value]));
    const there = valueAt(fixed, at);
    return withFieldAt(fixed, at, isJsonObject(there) ? { ...there, ...sent } : sent);
  }

  request({ target: given, segment = "", query = "", headers = [], body }: Additions = {}): WireRequest {
    // A function, because `$` in a string would be read as a pattern.
    const path = given?.replace(/\?.*$/s, "") ?? this.#path.replace("{ruleId}", () => segment);
    const all = this.#query === "" || query === "" ? this.#query + query : `${this.#query}&${query}`;
    const shared = body === undefined ? this.#headers : this.#bodyHeaders;
    return {
      method: this.#fixed.method,
      target: given ?? (all === "" ? path : `${path}?${all}`),
      path,
      headers: headers.length === 0 ? shared : [...shared, ...headers],
      body: body === undefined ? null : this.#fixed.encoding === "form" ? formText(body) : JSON.stringify(body),
      success: this.#fixed.success,
      bound: this.#bound,
    };
  }
}

/**
 * Percent-encodes a value as one segment of a path. Refused: an empty value, and one that some server on the way could
 * read as another path, also after decoding (`.`, `..`, `%2e%2e`, `a/../b`).
 */
export function encodeSegment(value: string, refuse: Refuse): string {
  // encodeURIComponent leaves dots alone, so only values with . / \ or % need a closer look.
  if (/[./\\%]/.test(value) && stepsAside(value)) refuse("it has the meaning of another path (. or ..)");
  return encodeText(value, refuse);
}

/** Percent-encodes a value of the query. It may be empty only when the contract fixes it (`isFixed`). */
export function encodeText(value: string, refuse: Refuse, { isFixed = false } = {}): string {
  if (value === "" && !isFixed) refuse("it is empty");
  if (!value.isWellFormed()) refuse("it is not well-formed Unicode");
  return encodeURIComponent(value);
}

/** Returns a value of a header unchanged. Refused: control characters, other than Latin-1, blanks at the ends (servers drop them). */
export function headerValue(value: string, refuse: Refuse): string {
  if (value === "") refuse("it is empty");
  if (!/^[\t\x20-\x7e\xa0-\xff]*$/.test(value)) refuse("it has characters that no header can carry");
  if (value.trim() !== value) refuse("it begins or ends with a blank, which a header loses");
  return value;
}

/**
 * Returns the part of a request that names its rule, as the contract says. In a body, the id stands beside the fields of
 * `body`; an id that is there already stays as it is, a number or a string.
 */
export function identify(ruleId: string, place: IdentifyBy, body: JsonObject | undefined, refuse: Refuse): Additions {
  const sent = defined({ body });
  switch (place.in) {
    case "path":
      return { ...sent, segment: encodeSegment(ruleId, refuse) };
    case "query":
      return { ...sent, query: `${encodeURIComponent(place.name)}=${encodeText(ruleId, refuse)}` };
    case "header":
      return { ...sent, headers: [place.name, headerValue(ruleId, refuse)] };
    case "body":
      if (ruleId === "") refuse("it is empty");
      if (body !== undefined && Object.hasOwn(body, place.name) && String(body[place.name]) === ruleId) return sent;
      return { body: Object.fromEntries([...Object.entries(body ?? {}), [place.name, ruleId]]) };
  }
}

/** Returns a copy of fields, with `fill` applied to each string in them. */
function filled(fields: JsonObject, fill: (text: string) => string): JsonObject {
  const copy = mapJson(fields, (value: Json) => (typeof value === "string" ? fill(value) : undefined));
  return isJsonObject(copy) ? copy : fields;
}

/** Decides whether a value has a segment `.` or `..`, however often it is decoded. */
function stepsAside(value: string): boolean {
  for (let text = value; ; ) {
    if (text.split(/[/\\]/).some((segment) => segment === "." || segment === "..")) return true;
    const decoded = text.replace(/%[0-7][0-9a-f]/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
    if (decoded === text) return false;
    text = decoded;
  }
}

const userAgent = `pulumi-merchant-rules/${packageVersion()}`;
