import type { Contract } from "../contract/schema.ts";
import type { JsonObject } from "../rules/index.ts";
import { Caller } from "./caller.ts";
import { type Connection, parseBaseUrl } from "./connection.ts";
import { ErrorBudget } from "./error-budget.ts";
import { Limiter } from "./limiter.ts";
import { allPages } from "./pages.ts";
import { Redactor } from "./redact.ts";
import { templatesOf } from "./request-template.ts";
import type { LiveRule } from "./response.ts";
import { type CallOptions, RuleCalls, type UpdateOptions } from "./rule-calls.ts";
import { tokenSetup } from "./token.ts";
import { Transport } from "./transport.ts";
import { demandOwnFields, updateBody } from "./update-body.ts";

export interface RulesClientOptions {
  /** The bound of the random wait before the second attempt, in milliseconds; it doubles with each. Default 200. */
  readonly backoffMs?: number;
}

/**
 * The rules of one merchant, over the contract of its connection. One client has one pool of sockets, one limiter, one
 * token and one error budget: make one per connection. It keeps no process alive. Every method rejects with a
 * MerchantRulesError, which says what was attempted on which rule and whether that may have taken effect
 * (`outcomeUnknown`). UNSUPPORTED_BY_CONTRACT: the contract lacks the operation; nothing was sent. NOT_TRIED: nothing
 * was sent, because the credentials were refused or the last 20 attempts failed.
 */
export class RulesClient {
  readonly contract: Contract;
  readonly connectionName: string;
  /** The service's address, without a slash at its end. */
  readonly baseUrl: string;
  readonly #calls: RuleCalls;
  readonly #caller: Caller;
  readonly #transports: readonly Transport[];
  #identity: Promise<string> | undefined;

  /** @throws MerchantRulesError SETTINGS_INVALID: an address, a parameter or a credential that cannot be used */
  constructor(connection: Connection, { backoffMs = 200 }: RulesClientOptions = {}) {
    const { contract, name } = connection;
    const base = parseBaseUrl(connection.baseUrl, `baseUrl of connection ${JSON.stringify(name)}`);
    this.contract = contract;
    this.connectionName = name;
    this.baseUrl = base.origin + base.prefix;
    this.#calls = new RuleCalls(contract, templatesOf(connection, base.prefix), name);
    const transport = new Transport(base, { ...contract.limits, connections: contract.limits.concurrency });
    const budget = new ErrorBudget(new Limiter(contract.limits));
    const shared = { origin: base.origin, contract, redactor: new Redactor(), transport, budget, backoffMs };
    const { tokens, transport: tokenTransport } = tokenSetup(connection, shared);
    this.#caller = new Caller({ ...shared, tokens, turns: budget });
    this.#transports = tokenTransport === undefined ? [transport] : [transport, tokenTransport];
  }

  /**
   * Creates a rule. It is sent again only when an earlier attempt cannot have taken effect, or when the contract has
   * `idempotency`. RULE_OUTCOME_UNKNOWN: the rule may exist; so it may with RESPONSE_INVALID and `outcomeUnknown`.
   * @returns the id, and the rule in the answer, `{}` where the answer has an id alone
   */
  async create(definition: JsonObject, options: CallOptions = {}): Promise<LiveRule> {
    return await this.#caller.call(this.#calls.create(definition, options));
  }

  /** Reads a rule. RULE_NOT_FOUND when the service answers 404 or 410, and only then. */
  async get(ruleId: string, options: CallOptions = {}): Promise<LiveRule> {
    return await this.#caller.call(this.#calls.get(ruleId, options));
  }

  /**
   * Changes a rule to a definition. Where `operations.update.body` is `changes` or `merged` the rule is read first,
   * and nothing is sent when it is as the definition says. A PUT is sent again after a lost answer, PATCH and POST
   * only when the contract has `idempotency`. RULE_NOT_FOUND when the service answers 404 or 410.
   * @returns the rule in the answer, or undefined where it has none with an id
   */
  async update(ruleId: string, definition: JsonObject, options: UpdateOptions = {}): Promise<LiveRule | undefined> {
    const { operations, rule } = this.contract;
    const body = operations.update?.body ?? "declared";
    const send = (changed: JsonObject, seen: UpdateOptions) =>
      this.#caller.call(this.#calls.update(ruleId, changed, definition, seen));
    if (body === "declared") return await send(definition, options);
    const live = options.live ?? (await this.get(ruleId, options)).rule;
    demandOwnFields(live, { ...options.known, ...definition }, ruleId, options.label);
    const changed = updateBody(definition, live, body, rule);
    if (changed === undefined) return { ruleId, rule: live };
    return await send(changed, { ...options, live });
  }

  /**
   * Deletes a rule. RULE_NOT_FOUND when the service answers 404 or 410.
   * @returns "unconfirmed" when the answer was a page instead of JSON, or when an attempt lost its answer and the next
   * was answered 404; read the rule to see whether it is gone
   */
  async delete(ruleId: string, options: CallOptions = {}): Promise<"deleted" | "unconfirmed"> {
    return await this.#caller.call(this.#calls.delete(ruleId, options));
  }

  /**
   * All rules, page by page, each id once. RESPONSE_INVALID where a page is not as the contract says, pages repeat, or
   * there are more than `limits.maxPages`: a list that was not read to its end does not prove that a rule is gone.
   */
  list(): AsyncGenerator<LiveRule, void, undefined> {
    return allPages((position, check) => this.#caller.call(this.#calls.page(position, check)), this.contract);
  }

  /** Who the credentials are (`auth.identity`), asked once; undefined where the contract cannot ask. */
  async identity(): Promise<string | undefined> {
    const call = this.#calls.identity();
    if (call === undefined) return undefined;
    this.#identity ??= this.#caller.call(call).catch((error: unknown) => {
      this.#identity = undefined;
      throw error;
    });
    return await this.#identity;
  }

  /** Ends the sockets after the requests under way. A closed client is of no use. */
  async close(): Promise<void> {
    await Promise.all(this.#transports.map((transport) => transport.close()));
  }
}
