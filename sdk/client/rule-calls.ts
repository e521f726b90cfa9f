import { randomUUID } from "node:crypto";
import type { Contract } from "../contract/schema.ts";
import { MerchantRulesError } from "../errors.ts";
import { findInexactNumber, isJsonObject, type JsonObject, valueAt, withValueAt } from "../rules/index.ts";
import type { Call } from "./caller.ts";
import { identify, type Refuse } from "./encode.ts";
import { nextPosition, type Page, type Position, pageIn, pageQuery } from "./pages.ts";
import type { Hidden } from "./redact.ts";
import type { Templates } from "./request-template.ts";
import { isJsonAnswer, jsonObjectOf, jsonOf, type LiveRule, ruleIdIn, ruleIn, UnusableAnswer } from "./response.ts";
import { hiddenIn } from "./secret-fields.ts";

export interface CallOptions {
  /** What messages call the rule, such as the key it has in a set. */
  readonly label?: string;
  /** What the rule is known to hold. It is not printed when the service repeats it in an error. */
  readonly known?: JsonObject;
}

export interface UpdateOptions extends CallOptions {
  /** The rule as a GET just showed it, so that it is not read again. */
  readonly live?: JsonObject;
}

/** The calls of the operations, as the contract describes them. A call that cannot be sent throws before any request. */
export class RuleCalls {
  readonly #contract: Contract;
  readonly #templates: Templates;
  readonly #on: string;

  constructor(contract: Contract, templates: Templates, connectionName: string) {
    this.#contract = contract;
    this.#templates = templates;
    this.#on = connectionName === "default" ? "" : ` on connection ${quoted(connectionName)}`;
  }

  create(definition: JsonObject, options: CallOptions): Call<LiveRule> {
    const { operations, rule, idempotency } = this.#contract;
    return {
      request: this.#templates.create.request({
        body: JSON.stringify(withValueAt(undefined, operations.create.bodyAt, definition)),
        headers: this.#idempotencyKey(),
      }),
      attempted: this.#naming("create", undefined, options),
      isRepeatable: idempotency !== null,
      isAboutRule: false,
      writes: true,
      hidden: this.#hidden(options, definition),
      parse: (answer) => {
        const json = jsonObjectOf(answer);
        const ruleId = ruleIdIn(json, rule);
        if (ruleId === undefined) throw new UnusableAnswer(`the answer has no id at ${rule.id.join(" or ")} (rule.id)`);
        return { ruleId, rule: ruleIn(json, rule) ?? {} };
      },
      failed: (error, unknown) => {
        if (unknown === undefined) throw error;
        const { code, reason, advice, exchange } = error;
        const isUnreadable = code === "RESPONSE_INVALID" && (exchange?.status ?? 0) < 300;
        const toDo = "look for the rule at the service; create it again only if it is not there";
        throw error.with({
          code: isUnreadable ? "RESPONSE_INVALID" : "RULE_OUTCOME_UNKNOWN",
          reason: `${reason}; the rule may exist`,
          // A redirect or an unreadable answer comes again until the contract or the address is right.
          advice: code === "RESPONSE_INVALID" && advice !== undefined ? `${toDo}; ${advice}` : toDo,
          cause: unknown,
        });
      },
    };
  }

  get(ruleId: string, options: CallOptions): Call<LiveRule> {
    const { rule } = this.#contract;
    const attempted = this.#naming("get", ruleId, options);
    return {
      request: this.#templates.get.request(
        identify(ruleId, { in: "path", name: "ruleId" }, undefined, refusal(attempted)),
      ),
      attempted,
      isRepeatable: true,
      isAboutRule: true,
      writes: false,
      hidden: this.#hidden(options),
      parse: (answer) => {
        const json = jsonObjectOf(answer);
        const live = ruleIn(json, rule);
        if (live === undefined)
          throw new UnusableAnswer(`the answer has no rule object at ${rule.envelope} (rule.envelope)`);
        expectId(ruleIdIn(json, rule), ruleId);
        return { ruleId, rule: live };
      },
    };
  }

  /** @param changed what is sent: the definition, or what the contract makes of it and the live rule */
  update(
    ruleId: string,
    changed: JsonObject,
    definition: JsonObject,
    options: UpdateOptions,
  ): Call<LiveRule | undefined> {
    const { rule, idempotency, operations } = this.#contract;
    const { update } = operations;
    const template = this.#templates.update;
    const attempted = this.#naming("update", ruleId, options);
    if (update === null || template === undefined) throw unsupported(attempted, "update", "operations.update");
    if (update.body !== "declared") expectExact(changed, attempted);
    const body = withValueAt(undefined, update.bodyAt, changed);
    const named = identify(ruleId, update.identifyBy, isJsonObject(body) ? body : {}, refusal(attempted));
    return {
      request: template.request({ ...named, headers: [...(named.headers ?? []), ...this.#idempotencyKey()] }),
      attempted,
      isRepeatable: update.method === "PUT" || idempotency !== null,
      isAboutRule: true,
      writes: true,
      hidden: this.#hidden(options, definition, options.live ?? {}),
      parse: (answer) => {
        if (answer.body.length === 0) return undefined;
        const json = jsonOf(answer);
        const answered = ruleIdIn(json, rule);
        expectId(answered, ruleId);
        const live = ruleIn(json, rule);
        return answered === undefined || live === undefined ? undefined : { ruleId, rule: live };
      },
    };
  }

  /** Answers "deleted" to a success with JSON (seed, section 4) or without a body, else "unconfirmed". */
  delete(ruleId: string, options: CallOptions): Call<"deleted" | "unconfirmed"> {
    const { identifyBy } = this.#contract.operations.delete;
    const attempted = this.#naming("delete", ruleId, options);
    if (identifyBy === null)
      throw unsupported(attempted, "delete", "operations.delete.identifyBy: query | body | path | header");
    return {
      request: this.#templates.delete.request(identify(ruleId, identifyBy, undefined, refusal(attempted))),
      attempted,
      isRepeatable: true,
      isAboutRule: true,
      writes: true,
      hidden: this.#hidden(options),
      parse: (answer) => (answer.body.length === 0 || isJsonAnswer(answer) ? "deleted" : "unconfirmed"),
      failed: (error, unknown) => {
        // A lost answer and then a 404 look like a delete that worked; so do two faults of a proxy.
        if (error.code === "RULE_NOT_FOUND" && unknown !== undefined) return "unconfirmed";
        throw error;
      },
    };
  }

  /** One page of the list. `check` throws when the page or the place of the next one is wrong. */
  page(
    position: Position,
    check: (page: Page, next: Position | undefined) => void,
  ): Call<{ page: Page; next: Position | undefined }> {
    const attempted = this.#naming("list", undefined, {});
    const { operations, limits, rule } = this.#contract;
    const { list } = operations;
    const template = this.#templates.list;
    if (list === null || template === undefined) throw unsupported(attempted, "list", "operations.list");
    return {
      request: template.request({ query: pageQuery(list.pagination, limits.pageSize, position) }),
      attempted,
      isRepeatable: true,
      isAboutRule: false,
      writes: false,
      parse: (answer) => {
        const page = pageIn(jsonOf(answer), list, rule.id);
        const next = nextPosition(list.pagination, page, position);
        check(page, next);
        return { page, next };
      },
    };
  }

  /** Who the credentials are; undefined where the contract cannot ask. */
  identity(): Call<string> | undefined {
    const { identity } = this.#contract.auth;
    const template = this.#templates.identity;
    if (identity === null || template === undefined) return undefined;
    const { at } = identity;
    return {
      request: template.request(),
      attempted: () => `ask who the credentials are${this.#on}`,
      isRepeatable: true,
      isAboutRule: false,
      writes: false,
      parse: (answer) => {
        const found = valueAt(jsonOf(answer), at);
        if (typeof found === "string" && found !== "") return found;
        if (Number.isSafeInteger(found)) return String(found);
        throw new UnusableAnswer(`there is no text or whole number at ${at || "the root"} (auth.identity.at)`);
      },
    };
  }

  /** A function, because most calls need no message. */
  #naming(operation: string, ruleId: string | undefined, { label }: CallOptions): () => string {
    return () => {
      const id = ruleId === undefined ? "" : quoted(ruleId);
      const named = label === undefined ? id : `${quoted(label)}${id === "" || label === ruleId ? "" : ` (id ${id})`}`;
      const what = named === "" ? (operation === "list" ? "rules" : "a rule") : `rule ${named}`;
      return `${operation} ${what}${this.#on}`;
    };
  }

  /** A function, because most calls print no text of the service. */
  #hidden({ known }: CallOptions, ...sent: readonly JsonObject[]): () => Hidden[] {
    const definitions = known === undefined ? sent : [...sent, known];
    return () => definitions.flatMap((definition) => hiddenIn(definition, this.#contract.rule));
  }

  /** One key for all attempts of a call. */
  #idempotencyKey(): string[] {
    const { idempotency } = this.#contract;
    return idempotency === null ? [] : [idempotency.header, randomUUID()];
  }
}

/** A field of the live rule that nobody declared must go back as it came. */
function expectExact(body: JsonObject, attempted: () => string): void {
  const rounded = findInexactNumber(body);
  if (rounded === undefined) return;
  const what = `${rounded.path} of the live rule is a number beyond what can be held exactly`;
  throw new MerchantRulesError("RULE_INVALID", `${what}, and to send it back would change it`, {
    attempted: attempted(),
    advice:
      "declare that field too, with a value that can be; or set operations.update.body in the contract to declared",
  });
}

function expectId(answered: string | undefined, ruleId: string): void {
  if (answered !== undefined && answered !== ruleId)
    throw new UnusableAnswer(`the answer is about another rule, ${quoted(answered)}`);
}

function refusal(attempted: () => string): Refuse {
  return (reason) => {
    throw new MerchantRulesError("RULE_INVALID", `its id cannot be sent: ${reason}`, {
      attempted: attempted(),
      advice: "name the rule by the id that the service gave it; where it gave this one, check rule.id in the contract",
    });
  };
}

function unsupported(attempted: () => string, operation: string, toSet: string): MerchantRulesError {
  const reason = `the contract does not say how the service does ${operation}`;
  const advice = `set ${toSet} in the contract, as the service documents it`;
  return new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", reason, { attempted: attempted(), advice });
}

function quoted(name: string): string {
  return JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}...` : name);
}
