import { createRequire } from "node:module";
import { expand, namesIn } from "../contract/template.ts";
import { MerchantRulesError } from "../errors.ts";
import type { Connection } from "./connection.ts";
import { encodeSegment, encodeText, headerValue, type Refuse } from "./encode.ts";

export type Templates = ReturnType<typeof templatesOf>;

/** The requests of a contract's operations, as far as it has them. @throws as {@link RequestTemplate} */
export function templatesOf(connection: Connection, prefix: string) {
  const { operations, auth } = connection.contract;
  const template = (at: string, fixed: FixedParts) => new RequestTemplate(connection, prefix, at, fixed);
  const optional = (at: string, fixed: FixedParts | null) => (fixed === null ? undefined : template(at, fixed));
  return {
    create: template("operations.create", operations.create),
    get: template("operations.get", operations.get),
    delete: template("operations.delete", operations.delete),
    update: optional("operations.update", operations.update),
    list: optional("operations.list", operations.list),
    identity: optional("auth.identity", auth.identity),
  };
}

/** The values given for the contract's parameters, and its defaults for the rest. */
export function parametersOf({ contract, parameters }: Connection): Record<string, string> {
  return Object.fromEntries(
    Object.entries(contract.parameters).flatMap(([name, { default: fallback }]) => {
      const value = Object.hasOwn(parameters, name) ? parameters[name] : fallback;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** What an operation of the contract fixes. */
interface FixedParts {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly success: readonly number[];
}

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
}

/** What one call adds to its operation, encoded. */
export interface Additions {
  readonly segment?: string;
  /** `name=value`. */
  readonly query?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** Builds the requests of one operation. What they share is worked out once. */
export class RequestTemplate {
  readonly #fixed: FixedParts;
  readonly #before: string;
  readonly #after: string | undefined;
  readonly #query: string;
  readonly #headers: readonly string[];
  readonly #bodyHeaders: readonly string[];

  /**
   * @param prefix stands before the path, encoded
   * @param at where the contract has the operation, for messages
   * @throws MerchantRulesError SETTINGS_INVALID, naming a parameter without a value, or with one that cannot be sent
   */
  constructor(connection: Connection, prefix: string, at: string, fixed: FixedParts, contentType = "application/json") {
    const parameters = parametersOf(connection);
    const refuse = (reason: string): never => {
      const what = `connection ${JSON.stringify(connection.name)}: ${reason}; ${at} of its contract uses it`;
      throw new MerchantRulesError("SETTINGS_INVALID", what, {
        advice:
          "give the parameter a value in the connection's settings, or a default under parameters in the contract",
      });
    };
    const fill = (text: string, encode: (value: string, refuse: Refuse) => string): string => {
      for (const name of namesIn(text)) {
        if (name !== "ruleId" && !Object.hasOwn(parameters, name)) refuse(`parameter ${name} has no value`);
      }
      const named = Object.entries(parameters).filter(([name]) => text.includes(`{${name}}`));
      const encoded = named.map(([name, value]) => [
        name,
        encode(value, (reason) => refuse(`parameter ${name} cannot be used: ${reason}`)),
      ]);
      return expand(text, Object.fromEntries(encoded));
    };
    this.#fixed = fixed;
    const path = fill(fixed.path.replace(/[^\x21-\x7e]+/gu, encodeURIComponent), encodeSegment);
    const idAt = path.indexOf("{ruleId}");
    this.#before = prefix + (idAt === -1 ? path : path.slice(0, idAt));
    this.#after = idAt === -1 ? undefined : path.slice(idAt + "{ruleId}".length);
    const pairs = Object.entries(fixed.query).map(([name, text]) => {
      const literal = namesIn(text).length === 0;
      const value = literal ? text : fill(text, (given) => given);
      const encode = (part: string): string =>
        encodeText(part, (reason) => refuse(`query ${name}: ${reason}`), { isFixed: literal });
      return `${encode(name)}=${encode(value)}`;
    });
    this.#query = pairs.join("&");
    const own = Object.entries(fixed.headers).flatMap(([name, text]) => [name, fill(text, headerValue)]);
    this.#headers = ["accept", "application/json", "user-agent", userAgent, ...own];
    this.#bodyHeaders = [...this.#headers, "content-type", contentType];
  }

  request({ segment = "", query = "", headers = [], body }: Additions = {}): WireRequest {
    const path = this.#after === undefined ? this.#before : this.#before + segment + this.#after;
    const all = this.#query === "" || query === "" ? this.#query + query : `${this.#query}&${query}`;
    const shared = body === undefined ? this.#headers : this.#bodyHeaders;
    return {
      method: this.#fixed.method,
      target: all === "" ? path : `${path}?${all}`,
      path,
      headers: headers.length === 0 ? shared : [...shared, ...headers],
      body: body ?? null,
      success: this.#fixed.success,
    };
  }
}

const userAgent = `pulumi-merchant-rules/${version()}`;

/** The package names itself, so the sources and the compiled files find the same version. */
function version(): string {
  try {
    const described: unknown = createRequire(import.meta.url)("pulumi-merchant-rules/package.json");
    if (typeof described === "object" && described !== null && "version" in described) return String(described.version);
  } catch {
    // Bundled into another program, the package has no file of its own.
  }
  return "unknown";
}
