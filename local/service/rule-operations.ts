import { type Contract, drivenFields, sentByUpdate, type Transition } from "../../sdk/contract/index.ts";
import {
  canonicalAt,
  contains,
  field,
  isJsonObject,
  type Json,
  type JsonObject,
  laidOver,
  pointerOf,
  segmentsOf,
  valueAt,
  withFieldAt,
  withoutValueAt,
  withValueAt,
} from "../../sdk/json/index.ts";
import { definitionIn } from "./body.ts";
import { definitionJudge } from "./definition-judge.ts";
import { type PageRequest, pageRequest, withNextPage } from "./pagination.ts";
import { badRequest, Refusal } from "./refusal.ts";
import type { IncomingRequest } from "./request.ts";
import { type RuleShape, versionOf } from "./rule-shape.ts";
import type { RuleEntry, RuleList, RuleStore, StoredRule } from "./store.ts";

/** The response of an operation, before its body is text; the status is the first that the contract lists. */
export interface JsonResponse {
  readonly status: number;
  /** undefined: an empty one. */
  readonly body: Json | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RuleOperationsOptions {
  readonly contract: Contract;
  readonly store: RuleStore;
  readonly shape: RuleShape;
  readonly newRuleId: () => string;
  readonly etags: Etags;
  /** True where two rules may have one natural key. */
  readonly allowDuplicates: boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** How a service has versions in ETags. A weak one matches nothing (RFC 9110, 13.1.1), and an update need not name it. */
export type Etags = "strong" | "weak";

/** The words of a create beside its body. */
interface Creation {
  /** The id that the client has chosen; undefined: the service makes one. */
  readonly ruleId: string | undefined;
  /** A rule with that id is a refusal, whatever the method. */
  readonly mustBeNew: boolean;
  readonly amend: Amend;
}

/** What an update says beside its body. */
interface Change {
  readonly ifMatch: string | undefined;
  readonly amend: Amend;
}

/** A fault's change to a definition before it is judged. */
export type Amend = (definition: JsonObject) => JsonObject;

/**
 * The five operations on one merchant's rules, as the contract describes them. Each takes what the request says and
 * throws a Refusal for what cannot be done. None begins a transaction: who calls decides what belongs together.
 */
export class RuleOperations {
  readonly #options: RuleOperationsOptions;
  readonly #contract: Contract;
  readonly #store: RuleStore;
  readonly #shape: RuleShape;
  readonly #judge: ReturnType<typeof definitionJudge>;

  constructor(options: RuleOperationsOptions) {
    this.#options = options;
    this.#contract = options.contract;
    this.#store = options.store;
    this.#shape = options.shape;
    this.#judge = definitionJudge(options.contract, options.shape);
  }

  create(body: JsonObject, { ruleId, mustBeNew, amend }: Creation): JsonResponse {
    const { bodyAt, success, identifyBy, idFormat, method, sentAs } = this.#contract.operations.create;
    if (ruleId !== undefined) demandForm(ruleId, idFormat);
    const beside = identifyBy?.in === "body" ? [identifyBy.name] : [];
    const carried = bodyAt === "" ? beside.map((name) => pointerOf([name])).reduce(withoutValueAt, body) : body;
    const given = amend(asRead(definitionIn(carried, bodyAt, beside), sentAs));
    this.#demandUndriven(given);
    const definition = begun(given, this.#contract.rule.transitions);
    this.#judge.demandValid(definition);
    const there = ruleId === undefined ? undefined : this.#store.find(ruleId);
    this.#demandFreeId(there, mustBeNew);
    this.#demandFreeKey(definition, ruleId);
    const entry = this.entry(ruleId ?? this.#options.newRuleId(), definition);
    const stored = storedOf(entry);
    this.#demandNotForeign(stored);
    if (method !== "PUT" || !this.#store.replace(entry)) this.#store.insert(entry);
    return { status: first(success), ...this.#made(stored) };
  }

  /** Answers with a new rule; where the contract's `rule.id` begins with a header, by that and without a body. */
  #made(stored: StoredRule): Pick<JsonResponse, "body" | "headers"> {
    const { rule, operations } = this.#contract;
    const [place = ""] = rule.id;
    if (typeof place === "string") return { body: this.#shape.written(stored) };
    const id = encodeURIComponent(stored.ruleId);
    const value = place.segment === null ? stored.ruleId : `${operations.create.path}/${id}`;
    return { body: undefined, headers: { [place.header.toLowerCase()]: value } };
  }

  /** Refuses an id that is taken, as most services do: a PUT replaces a rule, unless it says `If-None-Match: *` (RFC 9110). */
  #demandFreeId(there: StoredRule | undefined, mustBeNew: boolean): void {
    if (there === undefined) return;
    if (mustBeNew) throw new Refusal(412, "RULE_EXISTS", `there is a rule ${there.ruleId} already`);
    const isReplaced = this.#contract.operations.create.method === "PUT" && !this.#shape.isGone(there);
    if (isReplaced) this.#demandOwn(there);
    else throw new Refusal(409, "RULE_EXISTS", `there is, or was, a rule ${there.ruleId} already`);
  }

  get(ruleId: string): JsonResponse {
    const stored = this.#existing(ruleId);
    const headers = this.#version !== null && "etag" in this.#version ? { etag: this.#etagOf(stored) } : {};
    return { status: first(this.#contract.operations.get?.success ?? []), body: this.#shape.response(stored), headers };
  }

  #etagOf(stored: StoredRule): string {
    return `${this.#options.etags === "strong" ? "" : "W/"}"${versionOf(stored)}"`;
  }

  get #version() {
    return this.#contract.operations.update?.version ?? null;
  }

  /** Refuses an update that names no version (428, RFC 6585; 422), or another one (412, RFC 9110; 409). */
  #demandVersion(stored: StoredRule, ifMatch: string | undefined, sent: JsonObject): void {
    const version = this.#version;
    if (version === null) return;
    const isField = "at" in version;
    const found = isField ? valueAt(sent, version.at) : ifMatch;
    const isWeak = !isField && this.#options.etags === "weak";
    if (found === undefined && isWeak) return;
    if (found === undefined)
      throw new Refusal(isField ? 422 : 428, "VALIDATION_FAILED", "an update must say which version it changes");
    if (isWeak || found !== (isField ? versionOf(stored) : this.#etagOf(stored)))
      throw new Refusal(isField ? 409 : 412, "RULE_CHANGED", `the rule ${stored.ruleId} has another version by now`);
  }

  update(ruleId: string, body: JsonObject, { ifMatch, amend }: Change): JsonResponse {
    const { update } = this.#contract.operations;
    if (update === null) throw new Refusal(404, "NOT_FOUND", "the contract has no update operation");
    const { in: part, name } = update.identifyBy;
    const stored = this.#changeable(ruleId);
    const isIdWithin = part === "body" && update.bodyAt === "";
    const carried = isIdWithin ? withoutValueAt(body, pointerOf([name])) : body;
    const beside = part === "body" ? [name] : [];
    const given = amend(asRead(definitionIn(carried, update.bodyAt, beside), update.sentAs));
    this.#demandVersion(stored, ifMatch, given);
    const { version } = update;
    const sent = version !== null && "at" in version ? withoutValueAt(given, version.at) : given;
    demandNone(sent, update.omit, "an update must not carry this", (paths) => `an update must not carry ${paths}`);
    // A client that merges sends back what it read, and with it what only the service sets.
    const own = sentByUpdate(this.#contract.operations) === "merged" ? this.#shape.withoutManaged(sent) : sent;
    this.#demandUndriven(own);
    const definition = drivenAs(
      stored.definition,
      changed(stored.definition, own, this.#contract.operations),
      this.#contract,
    );
    this.#judge.demandValid(definition);
    this.#judge.demandMutable(stored.definition, definition);
    this.#demandFreeKey(definition, ruleId);
    const entry = this.entry(update.id === "new" ? this.#options.newRuleId() : ruleId, definition);
    const updated = update.id === "new" ? storedOf(entry) : { ...stored, definition, updatedAt: entry.at };
    this.#demandNotForeign(updated);
    if (update.id === "new") {
      // As after a delete: dead where the contract has such rows, else gone.
      this.#remove(stored);
      this.#store.insert(entry);
    } else this.#store.replace(entry);
    return { status: first(update.success), body: this.#shape.written(updated) };
  }

  /** Sets one field to one value, as the contract's `rule.transitions` say. @throws Refusal 409 for a step that does not lead on */
  transition(ruleId: string, { at, to, from, success }: Transition): JsonResponse {
    const stored = this.#changeable(ruleId);
    const before = valueAt(stored.definition, at);
    if (from.length > 0 && !from.some((each) => each === before))
      throw new Refusal(409, "NO_SUCH_STEP", `${segmentsOf(at).join(".")} is ${JSON.stringify(before ?? null)}`);
    const definition = withFieldAt(stored.definition, at, to);
    const entry = this.entry(ruleId, definition);
    this.#store.replace(entry);
    return { status: first(success), body: this.#shape.written({ ...stored, definition, updatedAt: entry.at }) };
  }

  /** Refuses fields that requests of their own change. @throws Refusal 422 */
  #demandUndriven(sent: JsonObject): void {
    const message = (paths: string): string => `${paths} cannot be sent: a request of its own changes it`;
    demandNone(sent, drivenFields(this.#contract), "is changed by a request of its own", message);
  }

  delete(ruleId: string): JsonResponse {
    const stored = this.#existing(ruleId);
    this.#demandOwn(stored);
    if (this.#shape.isGone(stored)) throw notFound(ruleId);
    this.#demandReady(stored);
    this.#demandNotInUse(stored);
    this.#remove(stored);
    return this.#deleted(ruleId);
  }

  /** Deletes every rule that the merchant may delete, as a service does that does not see which one is meant. */
  deleteAll(): JsonResponse {
    const { isGone, isForeign } = this.#shape;
    for (const stored of this.#store.after(0, -1)) if (!isGone(stored) && !isForeign(stored)) this.#remove(stored);
    return this.#deleted();
  }

  /** Lists the stored rules, or others in their place. */
  list(request: Pick<IncomingRequest, "path" | "query" | "header">, listed: RuleList = this.#store): JsonResponse {
    const { list } = this.#contract.operations;
    if (list === null) throw new Refusal(404, "NOT_FOUND", "the contract has no list operation");
    const { pagination, items, envelope, summaries, success, empty } = list;
    const itemOf = (rule: StoredRule): Json => (summaries ? this.#shape.summary(rule) : this.#shape.document(rule));
    const page = pageRequest(pagination, request.query, this.#contract.limits);
    // Asked only where the contract has it: a page must not cost as much as the whole list.
    const total = (): number => listed.after(0, -1).length;
    // As services do that say how many there are.
    const hasTotal = "total" in pagination && pagination.total !== null;
    if (hasTotal && page.kind === "from" && page.offset > 0 && page.offset >= total())
      throw badRequest(`there are ${total()} rules, and the page begins after ${page.offset}`);
    const found = this.#foundIn(listed, page);
    const rules = page.kind === "all" ? found : found.slice(0, page.limit);
    const more = found.length > rules.length;
    const shown = rules.map((rule) => withValueAt({}, envelope, itemOf(rule)));
    const place = { sequence: rules.at(-1)?.sequence, more, total, request };
    // As the first way says in which the contract's service answers without rules.
    const [none] = shown.length === 0 ? empty : [];
    if (none === "noContent") return { status: 204, body: undefined };
    const body = none === "absent" ? {} : withValueAt({}, items, none === null ? null : shown);
    return { status: first(success), ...withNextPage(body, place, pagination) };
  }

  /** Returns the rules of a page, and one more, which tells that another page follows. */
  #foundIn(listed: RuleList, page: PageRequest): StoredRule[] {
    switch (page.kind) {
      case "all":
        return listed.after(0, -1);
      case "after":
        return listed.after(page.sequence, page.limit + 1);
      case "afterRule": {
        const last = this.#store.find(page.ruleId);
        if (last === undefined) throw badRequest(`there is no rule ${page.ruleId} for a page to begin after`);
        return listed.after(last.sequence, page.limit + 1);
      }
      case "from":
        return listed.from(page.offset, page.limit + 1);
    }
  }

  /** Makes the row of a rule that is written now. A rule that is gone holds no natural key. */
  entry(ruleId: string, definition: JsonObject): RuleEntry {
    const entry = {
      ruleId,
      definition,
      naturalKey: this.#keyOf(definition),
      at: new Date(this.#options.now()).toISOString(),
    };
    return this.#shape.isGone(storedOf(entry)) ? { ...entry, naturalKey: undefined } : entry;
  }

  #keyOf(definition: JsonObject): string | undefined {
    const { rule } = this.#contract;
    return rule.naturalKey === null ? undefined : canonicalAt(definition, rule.naturalKey, rule);
  }

  #existing(ruleId: string): StoredRule {
    const stored = this.#store.find(ruleId);
    if (stored === undefined) throw notFound(ruleId);
    return stored;
  }

  /** Finds a rule that may be changed: one of clients, not deleted. @throws Refusal */
  #changeable(ruleId: string): StoredRule {
    const stored = this.#existing(ruleId);
    this.#demandOwn(stored);
    if (this.#shape.isGone(stored)) throw new Refusal(409, "RULE_DELETED", `the rule ${ruleId} was deleted`);
    return stored;
  }

  #remove({ ruleId, definition }: StoredRule): void {
    const kept = this.#shape.whenDeleted(definition);
    if (kept === undefined) this.#store.remove(ruleId);
    else this.#store.replace(this.entry(ruleId, kept));
  }

  #deleted(ruleId?: string): JsonResponse {
    return { status: first(this.#contract.operations.delete.success), body: this.#shape.deleted(ruleId) };
  }

  #demandOwn(stored: StoredRule): void {
    if (!this.#shape.isForeign(stored)) return;
    throw new Refusal(403, "RULE_FOREIGN", `the rule ${stored.ruleId} is the service's own`);
  }

  #demandNotForeign(stored: StoredRule): void {
    if (!this.#shape.isForeign(stored)) return;
    const details = this.#contract.rule.foreign.map(({ at, is }) => ({
      path: segmentsOf(at).join("."),
      reason: `must not be ${is.map((value) => JSON.stringify(value)).join(" or ")}`,
    }));
    throw new Refusal(422, "VALIDATION_FAILED", "only the service makes rules of its own", { details });
  }

  /** Refuses to delete a rule that is not yet what the contract's `rule.transitions` say that it must be before (`beforeDelete`). */
  #demandReady({ definition, ruleId }: StoredRule): void {
    const steps = this.#contract.rule.transitions.filter(({ beforeDelete }) => beforeDelete);
    const open = steps.find(({ at, to }) => valueAt(definition, at) !== to);
    if (open === undefined) return;
    const path = segmentsOf(open.at).join(".");
    throw badRequest(`the rule ${ruleId} is deleted only once ${path} is ${JSON.stringify(open.to)}`);
  }

  #demandFreeKey(definition: JsonObject, ruleId: string | undefined): void {
    const key = this.#keyOf(definition);
    if (this.#options.allowDuplicates || key === undefined) return;
    const holder = this.#store.holderOf(key, ruleId);
    const existing = holder === undefined ? undefined : this.#store.find(holder);
    if (existing === undefined) return;
    const naturalKey = this.#contract.rule.naturalKey ?? "";
    const [path, value] = [segmentsOf(naturalKey).join("."), valueAt(definition, naturalKey)];
    throw new Refusal(409, "RULE_EXISTS", `a rule with ${path} ${JSON.stringify(value)} exists already`, {
      details: [{ path, reason: "must be unique" }],
      rule: this.#shape.response(existing),
    });
  }

  /** Refuses a delete of a rule whose id stands in another rule, where the contract has `errors.inUse`. */
  #demandNotInUse({ ruleId }: StoredRule): void {
    if (this.#contract.errors.inUse.length === 0) return;
    const uses = (other: StoredRule): boolean =>
      !this.#shape.isGone(other) && contains(other.definition, (value) => value === ruleId);
    const user = this.#store.after(0, -1).find((each) => each.ruleId !== ruleId && uses(each));
    if (user !== undefined)
      throw new Refusal(409, "RULE_IN_USE", `the rule ${ruleId} is used by the rule ${user.ruleId}`);
  }
}

/** Returns what was sent with the names that readings have. @throws Refusal 400 for a field that was sent by such a name */
function asRead(sent: JsonObject, sentAs: Contract["operations"]["create"]["sentAs"]): JsonObject {
  const names = new Map(Object.entries(sentAs).map(([read, name]) => [name, read]));
  const known = Object.keys(sent).filter((name) => Object.hasOwn(sentAs, name) && !names.has(name));
  if (known.length > 0) throw badRequest(`unknown in the body: ${known.join(", ")}`);
  return Object.fromEntries(Object.entries(sent).map(([name, value]) => [names.get(name) ?? name, value]));
}

/** Refuses an id that does not have the form by which clients choose ids. @throws Refusal 400 */
function demandForm(ruleId: string, format: string): void {
  const [before = "", form = "", after = ""] = format.split(/(\{uuid\}|\{hex\})/);
  const within = ruleId.slice(before.length, ruleId.length - after.length);
  const isForm = form === "{uuid}" ? /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i : /^[0-9a-f]{32}$/i;
  if (ruleId !== before + within + after || !isForm.test(within))
    throw badRequest(`the id ${ruleId} must have the form ${format}`);
}

/** Refuses what stands at these pointers. `message`: of the paths at which something does. @throws Refusal 422 */
function demandNone(
  sent: JsonObject,
  pointers: readonly string[],
  reason: string,
  message: (paths: string) => string,
): void {
  const details = pointers
    .filter((pointer) => valueAt(sent, pointer) !== undefined)
    .map((pointer) => ({ path: segmentsOf(pointer).join("."), reason }));
  if (details.length === 0) return;
  throw new Refusal(422, "VALIDATION_FAILED", message(details.map(({ path }) => path).join(", ")), { details });
}

/** Returns a new rule: each field that requests of their own change has the value from which they lead on. */
function begun(definition: JsonObject, transitions: readonly Transition[]): JsonObject {
  const fields = Map.groupBy(transitions, ({ at }) => at);
  return [...fields].reduce((made, [at, own]) => {
    const ends = own.map(({ to }) => to);
    const start = own.flatMap(({ from }) => from).find((value) => !ends.includes(value)) ?? ends.at(-1);
    return start === undefined ? made : withFieldAt(made, at, start);
  }, definition);
}

/** Returns a definition after an update: what is not sent goes away or stays, as the contract says. */
function changed(before: JsonObject, sent: JsonObject, operations: Contract["operations"]): JsonObject {
  const { removal = "omit" } = operations.update ?? {};
  if (removal === "omit") return sentByUpdate(operations) === "changes" ? { ...before, ...sent } : sent;
  return removal === null ? patched(before, sent) : laidOver(before, sent);
}

/** Applies a JSON Merge Patch (RFC 7396). */
function patched(target: JsonObject, patch: JsonObject): JsonObject {
  return Object.entries(patch).reduce<JsonObject>((made, [name, value]) => {
    const at = pointerOf([name]);
    if (value === null) return withoutValueAt(made, at);
    const below = field(made, name);
    return withFieldAt(made, at, isJsonObject(value) ? patched(isJsonObject(below) ? below : {}, value) : value);
  }, target);
}

/** Returns a changed definition with the fields that requests of their own change as they were. */
function drivenAs(before: JsonObject, changed: JsonObject, contract: Contract): JsonObject {
  return drivenFields(contract).reduce((made, at) => {
    const value = valueAt(before, at);
    return value === undefined ? made : withFieldAt(made, at, value);
  }, changed);
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
