import { Caller, type CallerOptions } from "./caller.ts";
import { type BaseUrl, type Connection, parseBaseUrl } from "./connection.ts";
import { ErrorBudget } from "./error-budget.ts";
import { Redactor } from "./redact.ts";
import { tokenSetup } from "./token.ts";
import { Transport } from "./transport.ts";

/** What sends the requests of a connection. */
export interface SetUp {
  readonly caller: Caller;
  readonly redactor: Redactor;
  /** Closes the sockets. */
  readonly close: () => Promise<void>;
}

/** Default of `backoffMs`: 200. */
type SetUpOptions = Partial<Pick<CallerOptions, "backoffMs" | "onAnswer">>;

/** Parses the address of a connection. @throws MerchantRulesError SETTINGS_INVALID: it cannot be used */
export function baseUrlOf({ name, baseUrl }: Pick<Connection, "name" | "baseUrl">): BaseUrl {
  return parseBaseUrl(baseUrl, `baseUrl of connection ${JSON.stringify(name)}`);
}

/** Sets up limits, sockets and credentials of a connection. @throws MerchantRulesError SETTINGS_INVALID: as tokenSetup */
export function setUp(connection: Connection, base: BaseUrl, options: SetUpOptions = {}): SetUp {
  const { contract } = connection;
  const redactor = new Redactor();
  for (const name of connection.secretParameters ?? []) {
    const value = connection.parameters[name] ?? "";
    if (value !== "") redactor.keep(value);
  }
  const transport = new Transport(base, contract.limits, connection);
  const budget = new ErrorBudget(contract.limits);
  const credentialsFrom = originOf(connection);
  const shared = { contract, redactor, transport, budget, backoffMs: 200, credentialsFrom, ...options };
  const { tokens, transports } = tokenSetup(connection, shared);
  const close = async (): Promise<void> => {
    await Promise.all([transport, ...transports].map((each) => each.close()));
  };
  return { caller: new Caller({ ...shared, tokens, takesTurns: true }), redactor, close };
}

/** Returns where the credentials come from, as the message of a 401 says it. */
function originOf({ credentials, credentialsFrom }: Connection): string | undefined {
  const { kind } = credentials;
  if (kind === "tokenFile")
    return `${credentialsFrom ?? kind} (the file ${credentials.file}, read again after the 401)`;
  return kind === "tokenCommand" ? `${credentialsFrom ?? kind} (run again after the 401)` : credentialsFrom;
}
