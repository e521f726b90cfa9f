import { expand } from "../contract/template.ts";
import { MerchantRulesError } from "../errors.ts";
import { parseBaseUrl } from "./base-url.ts";
import { Caller, type CallerOptions } from "./caller.ts";
import type { Connection } from "./connection.ts";
import { type FixedParts, RequestTemplate } from "./request-template.ts";
import { jsonOf } from "./response.ts";
import { type FetchedToken, FixedToken, presenter, RenewedToken, type TokenSource, tokenIn } from "./token.ts";
import { Transport } from "./transport.ts";
import { userAgent } from "./user-agent.ts";

/** The requests of a contract's rule operations, as far as it has them. */
export interface Templates {
  readonly create: RequestTemplate;
  readonly get: RequestTemplate;
  readonly delete: RequestTemplate;
  readonly update: RequestTemplate | undefined;
  readonly list: RequestTemplate | undefined;
}

/** @throws MerchantRulesError SETTINGS_INVALID, naming a parameter without a value and the operation that needs it */
export function templatesOf(connection: Connection, prefix: string): Templates {
  const { create, get, delete: remove, update, list } = connection.contract.operations;
  const template = (name: string, fixed: FixedParts): RequestTemplate =>
    templateOf(connection, `operations.${name}`, fixed, prefix, "application/json");
  return {
    create: template("create", create),
    get: template("get", get),
    delete: template("delete", remove),
    update: update === null ? undefined : template("update", update),
    list: list === null ? undefined : template("list", list),
  };
}

/** Where a connection's requests get their credentials, and what to close at the end, where that is something of its own. */
export interface TokenSetup {
  readonly tokens: TokenSource;
  readonly transport?: Transport;
}

/** @throws MerchantRulesError SETTINGS_INVALID: no token operation for client credentials, a token that no header can carry */
export function tokenSetup(connection: Connection, shared: Omit<CallerOptions, "tokens" | "turns">): TokenSetup {
  const { contract, credentials, name } = connection;
  const parameters = parametersOf(connection);
  const present = presenter(
    contract.auth,
    (format, token) => expand(format, { ...parameters, token }),
    shared.redactor,
  );
  if (credentials.kind === "none" || contract.auth.present === null) return { tokens: new FixedToken([]) };
  if (credentials.kind === "token") return { tokens: new FixedToken(present(credentials.token)) };
  const { token } = contract.auth;
  if (token === null) {
    throw new MerchantRulesError(
      "SETTINGS_INVALID",
      `connection ${JSON.stringify(name)} has client credentials, but its contract has no token operation`,
      {
        advice: "set auth.token in the contract, or give the connection a token",
      },
    );
  }
  shared.redactor.keep(credentials.clientSecret);
  const base = parseBaseUrl(
    token.baseUrl ?? connection.baseUrl,
    token.baseUrl === null ? "baseUrl" : "auth.token.baseUrl of the contract",
  );
  const isElsewhere = base.origin !== shared.origin;
  const transport = isElsewhere ? new Transport(base, { ...contract.limits, connections: 1 }) : shared.transport;
  const isForm = token.encoding === "form";
  const template = templateOf(
    connection,
    "auth.token",
    token,
    base.prefix,
    isForm ? "application/x-www-form-urlencoded" : "application/json",
  );
  const { clientId, clientSecret } = credentials;
  const fields = Object.entries(token.fields).map(([field, text]): [string, string] => [
    field,
    expand(text, { ...parameters, clientId, clientSecret }),
  ]);
  const request = template.request({
    body: isForm ? new URLSearchParams(fields).toString() : JSON.stringify(Object.fromEntries(fields)),
  });
  const caller = new Caller({ ...shared, origin: base.origin, transport, tokens: new FixedToken([]) });
  const fetch = (): Promise<FetchedToken> =>
    caller.call({
      request,
      attempted: () => "request an access token",
      isRepeatable: true,
      isAboutRule: false,
      writes: false,
      parse: (answer) => tokenIn(jsonOf(answer), token),
      failed: (error) => {
        // RFC 6749, 5.2: a token operation refuses client credentials with 400 as well.
        const refused = [400, 401, 403].includes(error.exchange?.status ?? 0);
        throw refused
          ? error.with({
              code: "UNAUTHENTICATED",
              advice: "check the client id and the client secret of this connection",
            })
          : error;
      },
    });
  const tokens = new RenewedToken(fetch, present);
  return isElsewhere ? { tokens, transport } : { tokens };
}

function templateOf(
  connection: Connection,
  at: string,
  fixed: FixedParts,
  prefix: string,
  contentType: string,
): RequestTemplate {
  const parameters = parametersOf(connection);
  return new RequestTemplate(fixed, { prefix, parameters, userAgent, contentType }, (reason) => {
    throw new MerchantRulesError(
      "SETTINGS_INVALID",
      `connection ${JSON.stringify(connection.name)}: ${reason}; ${at} of its contract uses it`,
      {
        advice:
          "give the parameter a value in the connection's settings, or a default under parameters in the contract",
      },
    );
  });
}

/** What was given, and the contract's defaults for the rest; other names are nobody's. */
function parametersOf({ contract, parameters }: Pick<Connection, "contract" | "parameters">): Record<string, string> {
  return Object.fromEntries(
    Object.entries(contract.parameters).flatMap(([name, { default: fallback }]) => {
      const value = Object.hasOwn(parameters, name) ? parameters[name] : fallback;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
