import type { Contract, Operations } from "../contract/schema.ts";
import { MerchantRulesError } from "../errors.ts";
import {
  canonical,
  field,
  findInexactNumber,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonObject,
  type Pointer,
  project,
  withValueAt,
} from "../rules/index.ts";
import type { Call } from "./caller.ts";
import { headerValue, type Refuse } from "./encode.ts";
import { identify } from "./identify.ts";
import type { Templates } from "./operations.ts";
import { nextPosition, type Page, type Position, pageIn, pageQuery } from "./pages.ts";
import type { Hidden } from "./redact.ts";
import type { WireRequest } from "./request-template.ts";
import { isJsonAnswer, jsonObjectOf, jsonOf, type LiveRule, ruleIdIn, ruleIn, UnusableAnswer } from "./response.ts";
import { hiddenIn } from "./secret-fields.ts";

export interface CallOptions {
  /** What messages call the rule, such as the key it has in a set. */
  readonly label?: string;
  /** What the rule is known to hold: where the service repeats it in an error, it is not printed. */
  readonly known?: JsonObject;
}

export interface CreateOptions extends CallOptions {
  /** Sent where the contract has `idempotency`, the same with every attempt; without it a lost answer is not asked for again. */
  readonly idempotencyKey?: string;
}

/** What a rule should be, and what it is. */
export interface Change {
  readonly declared: JsonObject;
  readonly live: JsonObject;
}

/** The calls of the rule operations, as the contract describes them. Each throws before a request what cannot be one. */
export class RuleCalls {
  readonly #contract: Contract;
  readonly #templates: Templates;
  readonly #on: string;

  constructor(contract: Contract, templates: Templates, connectionName: string) {
    this.#contract = contract;
    this.#templates = templates;
    this.#on = connectionName === "default" ? "" : ` on connection ${quoted(connectionName)}`;
  }

  create(definition: JsonObject, options: CreateOptions): Call<LiveRule> {
    const { operations, rule, idempotency } = this.#contract;
    const attempted = this.#naming("create", undefined, options);
    const key = this.#idempotencyHeaders(options, attempted);
    return {
      request: this.#templates.create.request({
        body: JSON.stringify(withValueAt(undefined, operations.create.bodyAt, definition)),
        headers: key,
      }),
      attempted,
      isRepeatable: key.length > 0,
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
        const isUnreadable = error.code === "RESPONSE_INVALID";
        const found = "look for the rule at the service and adopt it, or create it again if it is not there";
        const prevented =
          idempotency === null ? "; where the service honours an idempotency key, set idempotency in the contract" : "";
        throw error.with({
          code: isUnreadable ? "RESPONSE_INVALID" : "RULE_OUTCOME_UNKNOWN",
          reason: `${error.reason}; the rule may exist`,
          advice: isUnreadable ? `${error.advice ?? "see the contract"}; ${found}` : found + prevented,
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
        identify(ruleId, { in: "path", name: "ruleId" }, undefined, refusal(attempted, "its id", idAdvice)),
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

  update(ruleId: string, change: Change, options: CreateOptions): Call<LiveRule | undefined> {
    const { rule } = this.#contract;
    const { update } = this.#contract.operations;
    const template = this.#templates.update;
    const attempted = this.#naming("update", ruleId, options);
    if (update === null || template === undefined) throw unsupported(attempted, "update", "operations.update");
    const key = this.#idempotencyHeaders(options, attempted);
    const changed = changeBody(change, update.body, rule.unordered);
    if (update.body !== "declared") expectExact(changed, attempted);
    const body = withValueAt(undefined, update.bodyAt, changed);
    const named = identify(
      ruleId,
      update.identifyBy,
      isJsonObject(body) ? body : {},
      refusal(attempted, "its id", idAdvice),
    );
    return {
      request: template.request({ ...named, headers: [...(named.headers ?? []), ...key] }),
      attempted,
      isRepeatable: update.method === "PUT" || key.length > 0,
      isAboutRule: true,
      writes: true,
      hidden: this.#hidden(options, change.declared, change.live),
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

  /**
   * Answers whether the delete is certain: its success has JSON (seed, section 4) or nothing for a body. It is not after
   * an attempt that lost its answer and another that found nothing: that is how success looks, and how two faults of
   * something in between do.
   */
  delete(ruleId: string, options: CallOptions): Call<boolean> {
    const { identifyBy } = this.#contract.operations.delete;
    const attempted = this.#naming("delete", ruleId, options);
    if (identifyBy === null)
      throw unsupported(attempted, "delete", "operations.delete.identifyBy: query | body | path | header");
    return {
      request: this.#templates.delete.request(
        identify(ruleId, identifyBy, undefined, refusal(attempted, "its id", idAdvice)),
      ),
      attempted,
      isRepeatable: true,
      isAboutRule: true,
      writes: true,
      hidden: this.#hidden(options),
      parse: (answer) => answer.body.length === 0 || isJsonAnswer(answer),
      failed: (error, unknown) => {
        if (error.code !== "RULE_NOT_FOUND" || unknown === undefined) throw error;
        return false;
      },
    };
  }

  /** Of a rule that a delete was to remove and a read still found. */
  stillThere(ruleId: string, options: CallOptions): MerchantRulesError {
    return new MerchantRulesError("SERVICE_FAILED", "by its answers the rule is deleted, but a read still finds it", {
      attempted: this.#naming("delete", ruleId, options)(),
      advice:
        "run it again; if it stays, see whether operations.delete.path and operations.delete.identifyBy in the contract are right",
    });
  }

  /** One page of the list. `check` sees the page and where the next one is, and throws what is wrong with them. */
  page(
    position: Position,
    check: (page: Page, next: Position | undefined) => void,
  ): Call<{ page: Page; next: Position | undefined }> {
    const attempted = this.#naming("list", undefined, {});
    const { list, template } = this.#list(attempted);
    const request: WireRequest = template.request({
      query: pageQuery(list.pagination, this.#contract.limits.pageSize, position),
    });
    const parse: Call<{ page: Page; next: Position | undefined }>["parse"] = (answer) => {
      const page = pageIn(jsonOf(answer), list, this.#contract.rule.id);
      const next = nextPosition(list.pagination, page, position);
      check(page, next);
      return { page, next };
    };
    return { request, attempted, isRepeatable: true, isAboutRule: false, writes: false, parse };
  }

  #list(attempted: () => string): { list: NonNullable<Operations["list"]>; template: NonNullable<Templates["list"]> } {
    const { list } = this.#contract.operations;
    const template = this.#templates.list;
    if (list === null || template === undefined) throw unsupported(attempted, "list", "operations.list");
    return { list, template };
  }

  /** Worked out only when a message needs it. */
  #naming(operation: string, ruleId: string | undefined, { label }: CallOptions): () => string {
    return () => {
      const id = ruleId === undefined ? "" : quoted(ruleId);
      const named = label === undefined ? id : `${quoted(label)}${id === "" || label === ruleId ? "" : ` (id ${id})`}`;
      const what = named === "" ? (operation === "list" ? "rules" : "a rule") : `rule ${named}`;
      return `${operation} ${what}${this.#on}`;
    };
  }

  /** Worked out only when there is a text of the service to print. */
  #hidden({ known }: CallOptions, ...sent: readonly JsonObject[]): () => Hidden[] {
    const definitions = known === undefined ? sent : [...sent, known];
    return () => definitions.flatMap((definition) => hiddenIn(definition, this.#contract.rule));
  }

  #idempotencyHeaders({ idempotencyKey }: CreateOptions, attempted: () => string): string[] {
    const { idempotency } = this.#contract;
    if (idempotency === null || idempotencyKey === undefined) return [];
    return [idempotency.header, headerValue(idempotencyKey, refusal(attempted, "its idempotency key", keyAdvice))];
  }
}

function changeBody(
  { declared, live }: Change,
  body: NonNullable<Operations["update"]>["body"],
  unordered: readonly Pointer[],
): JsonObject {
  if (body === "declared") return declared;
  const merged = laidOver(live, declared);
  if (body === "merged") return merged;
  const seen = project(live, declared, { unordered });
  const changed = Object.entries(declared).filter(([key, value]) => {
    const before = isJsonObject(seen) ? field(seen, key) : undefined;
    return before === undefined || canonical(before, { unordered }, [key]) !== canonical(value, { unordered }, [key]);
  });
  return jsonObject(changed.map(([key, value]) => [key, field(merged, key) ?? value]));
}

/** The live fields with the declared ones in their place; objects in depth, arrays and all else as declared. */
function laidOver(live: JsonObject, declared: JsonObject): JsonObject {
  const laid = Object.entries(declared).map(([key, value]): [string, Json] => {
    const below = field(live, key);
    return [key, isJsonObject(below) && isJsonObject(value) ? laidOver(below, value) : value];
  });
  return jsonObject([...Object.entries(live), ...laid]);
}

/** What nobody declared must go back as it came. */
function expectExact(body: JsonObject, attempted: () => string): void {
  const rounded = findInexactNumber(body);
  if (rounded === undefined) return;
  throw new MerchantRulesError(
    "RULE_INVALID",
    `${rounded.path} of the live rule is a number beyond what can be held exactly, and to send it back would change it`,
    {
      attempted: attempted(),
      advice:
        "declare that field too, with a value that can be; or set operations.update.body in the contract to declared",
    },
  );
}

function expectId(answered: string | undefined, ruleId: string): void {
  if (answered !== undefined && answered !== ruleId)
    throw new UnusableAnswer(`the answer is about another rule, ${quoted(answered)}`);
}

const idAdvice =
  "name the rule by the id that the service gave it; where it gave this one, check rule.id in the contract";
const keyAdvice = "give a key of printable Latin-1 characters, without blanks around it";

function refusal(attempted: () => string, what: string, advice: string): Refuse {
  return (reason) => {
    throw new MerchantRulesError("RULE_INVALID", `${what} cannot be sent: ${reason}`, {
      attempted: attempted(),
      advice,
    });
  };
}

function unsupported(attempted: () => string, operation: string, toSet: string): MerchantRulesError {
  return new MerchantRulesError(
    "UNSUPPORTED_BY_CONTRACT",
    `the contract does not say how the service does ${operation}`,
    {
      attempted: attempted(),
      advice: `set ${toSet} in the contract, as the service documents it`,
    },
  );
}

function quoted(name: string): string {
  return JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}...` : name);
}
