import type { Contract } from "../contract/schema.ts";
import { isMerchantRulesError, type MerchantRulesError } from "../errors.ts";
import type { JsonObject } from "../rules/index.ts";
import { parseBaseUrl } from "./base-url.ts";
import { Caller } from "./caller.ts";
import type { Connection } from "./connection.ts";
import { Limiter } from "./limiter.ts";
import { templatesOf, tokenSetup } from "./operations.ts";
import { allPages } from "./pages.ts";
import { Redactor } from "./redact.ts";
import type { LiveRule } from "./response.ts";
import { type CallOptions, type Change, type CreateOptions, RuleCalls } from "./rule-calls.ts";
import { Transport } from "./transport.ts";

export type { LiveRule } from "./response.ts";
export type { CallOptions, CreateOptions } from "./rule-calls.ts";

export interface RulesClientOptions {
  /** The bound of the random wait before the second attempt, in milliseconds; it doubles with each. Default 200. */
  readonly backoffMs?: number;
}

/**
 * The rules of one merchant, over the contract of its connection. One client has one pool of sockets, one limiter and
 * one token: make one per connection. It keeps no process alive. Every method rejects with a MerchantRulesError, which
 * says what was attempted on which rule, and whether that may have taken effect (`outcomeUnknown`). What the contract
 * lacks is UNSUPPORTED_BY_CONTRACT, before any request.
 */
export class RulesClient {
  readonly contract: Contract;
  readonly connectionName: string;
  /** The service's address, without a slash at its end. */
  readonly baseUrl: string;
  readonly #calls: RuleCalls;
  readonly #caller: Caller;
  readonly #transports: readonly Transport[];

  /** @throws MerchantRulesError SETTINGS_INVALID: an address, a parameter or a credential that cannot be used */
  constructor(connection: Connection, { backoffMs = 200 }: RulesClientOptions = {}) {
    const { contract, name } = connection;
    const base = parseBaseUrl(connection.baseUrl, `baseUrl of connection ${JSON.stringify(name)}`);
    this.contract = contract;
    this.connectionName = name;
    this.baseUrl = base.origin + base.prefix;
    this.#calls = new RuleCalls(contract, templatesOf(connection, base.prefix), name);
    const transport = new Transport(base, { ...contract.limits, connections: contract.limits.concurrency });
    const shared = { origin: base.origin, contract, redactor: new Redactor(), transport, backoffMs };
    const { tokens, transport: tokenTransport } = tokenSetup(connection, shared);
    this.#caller = new Caller({ ...shared, tokens, turns: new Limiter(contract.limits) });
    this.#transports = tokenTransport === undefined ? [transport] : [transport, tokenTransport];
  }

  /**
   * Creates a rule. It is sent again only where an earlier attempt cannot have taken effect, or under an idempotency
   * key that the contract knows; else the error is RULE_OUTCOME_UNKNOWN.
   * @returns the id, and the rule in the answer, `{}` where the answer has an id alone
   */
  async create(definition: JsonObject, options: CreateOptions = {}): Promise<LiveRule> {
    return await this.#caller.call(this.#calls.create(definition, options));
  }

  /** Reads a rule. RULE_NOT_FOUND where the service answers 404 or 410, and only then. */
  async get(ruleId: string, options: CallOptions = {}): Promise<LiveRule> {
    return await this.#caller.call(this.#calls.get(ruleId, options));
  }

  /**
   * Changes a rule; what is sent follows `operations.update.body` of the contract. A PUT is sent again after a lost
   * answer, PATCH and POST only under an idempotency key. RULE_NOT_FOUND where a read does not find the rule either;
   * where it does, RESPONSE_INVALID.
   * @returns the rule in the answer, or undefined where it has none with an id
   */
  async update(ruleId: string, change: Change, options: CreateOptions = {}): Promise<LiveRule | undefined> {
    try {
      return await this.#caller.call(this.#calls.update(ruleId, change, options));
    } catch (error) {
      throw isNotFound(error) ? await this.#afterRead("update", error, ruleId, options) : error;
    }
  }

  /**
   * Deletes a rule. One that is not there is "absent", which is success: a read does not find it either; where it
   * does, RESPONSE_INVALID. "deleted" also where an attempt lost its answer and the next found nothing. Then, after an
   * answer that is not JSON, and always with `delete.readAfter`, the rule is read once more; SERVICE_FAILED says that
   * it is still there.
   */
  async delete(ruleId: string, options: CallOptions = {}): Promise<"deleted" | "absent"> {
    let isCertain: boolean;
    try {
      isCertain = await this.#caller.call(this.#calls.delete(ruleId, options));
    } catch (error) {
      const seen = isNotFound(error) ? await this.#afterRead("delete", error, ruleId, options) : error;
      if (isNotFound(seen)) return "absent";
      throw seen;
    }
    // Something in between that answers with a page, or with 502 and then 404, has deleted nothing.
    if ((!isCertain || this.contract.operations.delete.readAfter) && (await this.#isThere(ruleId, options)))
      throw this.#calls.stillThere(ruleId, options);
    return "deleted";
  }

  /**
   * All rules, page by page, each id once. RESPONSE_INVALID where a page is not as the contract says, pages repeat, or
   * there are more than `limits.maxPages`: a list that was not seen to its end proves nothing about what it lacks.
   */
  list(): AsyncGenerator<LiveRule, void, undefined> {
    return allPages((position, check) => this.#caller.call(this.#calls.page(position, check)), this.contract);
  }

  /** Ends the sockets after the requests under way. A closed client is of no use. */
  async close(): Promise<void> {
    await Promise.all(this.#transports.map((transport) => transport.close()));
  }

  /** What a 404 comes to: a path that is wrong in the contract is answered with one too, whether the rule is there or not. */
  async #afterRead(
    operation: "update" | "delete",
    notFound: MerchantRulesError,
    ruleId: string,
    options: CallOptions,
  ): Promise<MerchantRulesError> {
    if (!(await this.#isThere(ruleId, options))) return notFound;
    return notFound.with({
      code: "RESPONSE_INVALID",
      reason: `${notFound.reason} to the ${operation}, yet a read finds the rule`,
      advice: `see whether operations.${operation}.path and operations.${operation}.identifyBy in the contract are right`,
    });
  }

  async #isThere(ruleId: string, options: CallOptions): Promise<boolean> {
    try {
      await this.get(ruleId, options);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }
}

function isNotFound(error: unknown): error is MerchantRulesError {
  return isMerchantRulesError(error) && error.code === "RULE_NOT_FOUND";
}
