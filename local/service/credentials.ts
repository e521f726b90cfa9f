import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { basicOf } from "../../sdk/client/connection.ts";
import { type Contract, expand, namesIn, presentsClient } from "../../sdk/contract/index.ts";
import { type Json, type JsonObject, withValueAt } from "../../sdk/json/index.ts";
import type { LocalMerchant } from "./merchants.ts";
import { badRequest, Refusal } from "./refusal.ts";
import { templateMatcher } from "./template.ts";

/** The credentials that the service accepts: a client for the token operation, and a token that never expires. */
export interface LocalCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly token: string;
}

/** Public on purpose: the service binds loopback and holds nothing of value. */
export const localCredentials: LocalCredentials = {
  clientId: "local-client",
  clientSecret: "local-secret",
  token: "local-token",
};

export interface CredentialOptions {
  readonly contract: Contract;
  /** The client of the token operation, whose tokens are the first merchant's. */
  readonly credentials: Pick<LocalCredentials, "clientId" | "clientSecret">;
  /** At least one. */
  readonly merchants: readonly LocalMerchant[];
  readonly parameters: Readonly<Record<string, string>>;
  readonly tokenLifeSeconds: number;
  readonly now: () => number;
}

/** Decides who may ask, and for which merchant: mints tokens by the contract's token operation and knows them again. */
export class Gate {
  readonly #options: CredentialOptions;
  readonly #present: { header: string; tokenIn: (text: string) => string | undefined } | undefined;
  readonly #first: string;
  readonly #fixed: readonly { readonly digest: Buffer; readonly name: string }[];
  readonly #expiries = new Map<string, number>();

  constructor(options: CredentialOptions) {
    this.#options = options;
    this.#first = options.merchants[0]?.name ?? "";
    const { clientId, clientSecret } = options.credentials;
    const known = presentsClient(options.contract.auth)
      ? [{ name: this.#first, token: basicOf({ kind: "client", clientId, clientSecret }) }]
      : options.merchants;
    this.#fixed = known.map(({ name, token }) => ({ name, digest: hash("sha256", token, "buffer") }));
    const { present } = options.contract.auth;
    if (present === null) return;
    const format = templateMatcher(present.format, { values: options.parameters, place: "value" });
    this.#present = { header: present.name, tokenIn: (text) => format.match(text)?.token ?? format.match(text)?.basic };
  }

  /**
   * Returns the name of the merchant that a request is for; the first where the contract has no credentials.
   * @throws Refusal 401 when a request presents no token, none that is known, or one that has expired.
   */
  admit(header: HeaderOf): string {
    const caller = this.#callerOf(header);
    if (caller instanceof Refusal) throw caller;
    return caller;
  }

  /** Returns what {@link Gate.admit} does, and the first merchant for a request that is not admitted. */
  guess(header: HeaderOf): string {
    const caller = this.#callerOf(header);
    return caller instanceof Refusal ? this.#first : caller;
  }

  #callerOf(header: HeaderOf): string | Refusal {
    if (this.#present === undefined) return this.#first;
    const value = header(this.#present.header);
    if (value === undefined) return unauthenticated(`the header ${this.#present.header} is missing`);
    const token = this.#present.tokenIn(value);
    if (token === undefined)
      return unauthenticated(`the header ${this.#present.header} is not in the contract's format`);
    // Digests are compared, so that how long it takes says nothing about the token.
    const digest = hash("sha256", token, "buffer");
    const fixed = this.#fixed.find((each) => timingSafeEqual(digest, each.digest));
    if (fixed !== undefined) return fixed.name;
    const expiry = this.#expiries.get(digest.toString("base64"));
    if (expiry === undefined) return unauthenticated("the token is not known here");
    if (expiry <= this.#options.now()) return unauthenticated("the token has expired");
    return this.#first;
  }

  /**
   * Makes a token, and returns the body of the response to the token operation.
   * @throws Refusal 400 for fields that are missing, unknown or not as the contract fixes them; 401 for wrong credentials.
   */
  mint(fields: JsonObject, header: HeaderOf): Json {
    const { contract, credentials, parameters, tokenLifeSeconds, now } = this.#options;
    const { token: operation } = contract.auth;
    if (operation === null) throw new Refusal(404, "NOT_FOUND", "the contract has no token operation");
    for (const name of Object.keys(fields)) {
      if (!Object.hasOwn(operation.fields, name)) throw badRequest(`the field ${name} is unknown`);
    }
    const { clientId, clientSecret } = credentials;
    const basic = basicOf({ kind: "client", clientId, clientSecret }, { isForToken: true });
    let authentic = Object.entries(operation.headers).every(
      ([name, text]) =>
        !namesIn(text).includes("basic") || templateFits(text, { ...parameters, basic }, header(name) ?? ""),
    );
    for (const [name, template] of Object.entries(operation.fields)) {
      const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (typeof value !== "string") throw badRequest(`the field ${name} must be a text`);
      const isCredential = template.includes("{clientId}") || template.includes("{clientSecret}");
      const fits = templateFits(template, { ...parameters, clientId, clientSecret }, value);
      if (!fits && !isCredential) throw badRequest(`the field ${name} is not what the contract fixes`);
      authentic = fits && authentic;
    }
    if (!authentic) throw new Refusal(401, "INVALID_CLIENT", "the client is unknown, or its secret is wrong");
    for (const [digest, expiry] of this.#expiries) if (expiry <= now()) this.#expiries.delete(digest);
    const token = randomBytes(32).toString("base64url");
    this.#expiries.set(hash("sha256", token, "base64"), now() + tokenLifeSeconds * 1000);
    const response = withValueAt({ token_type: "Bearer" }, operation.accessToken, token);
    return operation.expiresIn === null ? response : withValueAt(response, operation.expiresIn, tokenLifeSeconds);
  }
}

type HeaderOf = (name: string) => string | undefined;

/** Decides whether a value fits a template; in constant time where nothing in the template is free. */
function templateFits(template: string, values: Readonly<Record<string, string>>, value: string): boolean {
  if (namesIn(template).some((name) => !Object.hasOwn(values, name))) {
    return templateMatcher(template, { values, place: "value" }).match(value) !== undefined;
  }
  return timingSafeEqual(hash("sha256", expand(template, values), "buffer"), hash("sha256", value, "buffer"));
}

function unauthenticated(message: string): Refusal {
  return new Refusal(401, "UNAUTHENTICATED", message, { headers: { "www-authenticate": "Bearer" } });
}
