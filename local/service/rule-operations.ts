import { type Contract, definitionChecker, type IdentifyBy } from "../../sdk/contract/index.ts";
import {
  differences,
  field,
  isJsonObject,
  type Json,
  type JsonObject,
  project,
  segmentsOf,
  touches,
  valueAt,
  withValueAt,
} from "../../sdk/rules/index.ts";
import { cursorAfter, type PageRequest, pageRequest } from "./pagination.ts";
import { badRequest, Refusal, type RefusalDetail } from "./refusal.ts";
import type { IncomingRequest } from "./request.ts";
import type { RuleShape } from "./rule-shape.ts";
import type { RuleEntry, RuleList, RuleStore, StoredRule } from "./store.ts";

/** What an operation answers; the status is the first that the contract lists. */
export interface Outcome {
  readonly status: number;
  readonly body: Json;
}

export interface RuleOperationsOptions {
  readonly contract: Contract;
  readonly store: RuleStore;
  readonly shape: RuleShape;
  readonly newRuleId: () => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * The five operations on rules, as the contract describes them. Each takes what the request says and throws a Refusal
 * for what cannot be done. None begins a transaction: who calls decides what belongs together.
 */
export class RuleOperations {
  readonly #contract: Contract;
  readonly #store: RuleStore;
  readonly #shape: RuleShape;
  readonly #newRuleId: () => string;
  readonly #now: () => number;
  readonly #check: ((definition: Json) => { path: string; reason: string }[]) | undefined;

  constructor({ contract, store, shape, newRuleId, now }: RuleOperationsOptions) {
    this.#contract = contract;
    this.#store = store;
    this.#shape = shape;
    this.#newRuleId = newRuleId;
    this.#now = now;
    this.#check = contract.rule.schema === null ? undefined : definitionChecker(contract.rule.schema);
  }

  create(body: JsonObject): Outcome {
    const { bodyAt, success } = this.#contract.operations.create;
    const definition = this.#accepted(definitionIn(body, bodyAt, []));
    this.#demandFreeKey(definition, undefined);
    const entry = this.entry(this.#newRuleId(), definition);
    this.#store.insert(entry);
    return { status: first(success), body: this.#shape.answer(storedOf(entry)) };
  }

  get(ruleId: string): Outcome {
    return { status: first(this.#contract.operations.get.success), body: this.#shape.answer(this.#existing(ruleId)) };
  }

  update(ruleId: string, body: JsonObject): Outcome {
    const { update } = this.#contract.operations;
    if (update === null) throw new Refusal(404, "NOT_FOUND", "the contract has no update operation");
    const { in: part, name } = update.identifyBy;
    const stored = this.#existing(ruleId);
    const sent = definitionIn(body, update.bodyAt, part === "body" ? [name] : []);
    // A client that merges sends back what it read, and with it what only the service sets.
    const own = update.body === "merged" ? this.#shape.withoutManaged(sent) : sent;
    const definition = this.#accepted(update.body === "changes" ? { ...stored.definition, ...own } : own);
    this.#demandImmutable(stored.definition, definition);
    this.#demandFreeKey(definition, ruleId);
    const entry = this.entry(ruleId, definition);
    this.#store.replace(entry);
    return { status: first(update.success), body: this.#shape.answer({ ...stored, definition, updatedAt: entry.at }) };
  }

  delete(ruleId: string): Outcome {
    if (!this.#store.remove(ruleId)) throw notFound(ruleId);
    return { status: first(this.#contract.operations.delete.success), body: this.#shape.deleted(ruleId) };
  }

  /** Lists the stored rules, or others in their place. */
  list(query: URLSearchParams, listed: RuleList = this.#store): Outcome {
    const { list } = this.#contract.operations;
    if (list === null) throw new Refusal(404, "NOT_FOUND", "the contract has no list operation");
    const { pagination, items, envelope, success } = list;
    const page = pageRequest(pagination, query, this.#contract.limits);
    const found = foundIn(listed, page);
    const rules = page.kind === "all" ? found : found.slice(0, page.limit);
    const more = found.length > rules.length;
    let body = withValueAt(
      {},
      items,
      rules.map((rule) => withValueAt({}, envelope, this.#shape.document(rule))),
    );
    if (pagination.type === "cursor") {
      const last = rules.at(-1);
      body = withValueAt(body, pagination.next, more && last !== undefined ? cursorAfter(last.sequence) : null);
    }
    if (pagination.type !== "none" && pagination.more !== null) body = withValueAt(body, pagination.more, more);
    return { status: first(success), body };
  }

  /** What is written of a rule now. */
  entry(ruleId: string, definition: JsonObject): RuleEntry {
    const { naturalKey } = this.#contract.rule;
    const key = naturalKey === null ? undefined : valueAt(definition, naturalKey);
    return { ruleId, definition, naturalKey: key, at: new Date(this.#now()).toISOString() };
  }

  #existing(ruleId: string): StoredRule {
    const stored = this.#store.find(ruleId);
    if (stored === undefined) throw notFound(ruleId);
    return stored;
  }

  #accepted(definition: JsonObject): JsonObject {
    const managed = this.#shape
      .managedIn(definition)
      .map((pointer): RefusalDetail => ({ path: segmentsOf(pointer).join("."), reason: "only the service sets this" }));
    const faults = [...managed, ...(this.#check?.(definition) ?? [])];
    if (faults.length === 0) return definition;
    const said = faults.map(({ path, reason }) => `${path === "" ? "the definition" : path} ${reason}`).join("; ");
    throw new Refusal(422, "VALIDATION_FAILED", `the definition is not valid: ${said}`, { details: faults });
  }

  #demandFreeKey(definition: JsonObject, ruleId: string | undefined): void {
    const { naturalKey } = this.#contract.rule;
    const value = naturalKey === null ? undefined : valueAt(definition, naturalKey);
    if (value === undefined || value === null) return;
    const holder = this.#store.holderOf(value, ruleId);
    if (holder === undefined) return;
    const path = segmentsOf(naturalKey ?? "").join(".");
    throw new Refusal(409, "RULE_EXISTS", `a rule with ${path} ${JSON.stringify(value)} exists already`, {
      details: [{ path, reason: "must be unique" }],
    });
  }

  /** Fields that a request leaves out are not looked at, as in a client's comparison. */
  #demandImmutable(before: JsonObject, after: JsonObject): void {
    const { immutable, unordered } = this.#contract.rule;
    if (immutable.length === 0) return;
    const changed = differences(project(before, after, { unordered }), after, { unordered });
    const details = changed
      .filter((difference) => immutable.some((pattern) => touches(difference, pattern)))
      .map(({ path }) => ({ path: path.join("."), reason: "cannot be changed" }));
    if (details.length === 0) return;
    throw new Refusal(
      422,
      "VALIDATION_FAILED",
      `${details.map(({ path }) => path).join(", ")} cannot be changed; make a new rule`,
      { details },
    );
  }
}

/**
 * The id by which a request names its rule.
 * @throws Refusal 400 when it names none. Nothing is ever chosen for it.
 */
export function ruleIdOf(
  place: IdentifyBy,
  request: IncomingRequest,
  names: Readonly<Record<string, string>>,
  body: JsonObject,
): string {
  const { in: part, name } = place;
  const found =
    part === "path"
      ? names.ruleId
      : part === "query"
        ? request.query.get(name)
        : part === "header"
          ? request.header(name)
          : field(body, name);
  if (typeof found === "string" && found !== "") return found;
  throw badRequest(`the ${part === "body" ? "body field" : part} ${name} must name the rule`);
}

/** @throws Refusal 400 for a field that stands beside those that have a meaning. */
export function demandKnownFields(body: JsonObject, known: readonly string[]): void {
  const unknown = Object.keys(body).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw badRequest(`unknown in the body: ${unknown.join(", ")}; allowed: ${known.join(", ")}`);
}

function definitionIn(body: JsonObject, bodyAt: string, beside: readonly string[]): JsonObject {
  const [outermost] = segmentsOf(bodyAt);
  if (outermost !== undefined) demandKnownFields(body, [outermost, ...beside]);
  const definition = valueAt(body, bodyAt);
  if (isJsonObject(definition)) return definition;
  throw badRequest(`the body must have the definition, an object, at ${bodyAt}`);
}

/** Of a page, one rule more than it holds: whether there is one tells whether another page follows. */
function foundIn(listed: RuleList, page: PageRequest): StoredRule[] {
  switch (page.kind) {
    case "all":
      return listed.after(0, -1);
    case "after":
      return listed.after(page.sequence, page.limit + 1);
    case "from":
      return listed.from(page.offset, page.limit + 1);
  }
}

function storedOf({ ruleId, definition, at }: RuleEntry): StoredRule {
  return { sequence: 0, ruleId, definition, createdAt: at, updatedAt: at };
}

function notFound(ruleId: string): Refusal {
  return new Refusal(404, "RULE_NOT_FOUND", `there is no rule ${ruleId}`);
}

function first(success: readonly number[]): number {
  return success[0] ?? 200;
}
