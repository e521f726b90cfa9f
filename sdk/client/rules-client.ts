import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { PageQuery } from "../contract/pagination/paging.ts";
import {
  type Contract,
  drivenFields,
  identityOperation,
  idPointers,
  sentByUpdate,
  servicePointers,
  type Transition,
  withoutDriven,
} from "../contract/schema.ts";
import { fewOf, isMerchantRulesError, MerchantRulesError, shortened } from "../errors.ts";
import {
  defined,
  fieldsLackingIn,
  isJsonObject,
  type Json,
  type JsonObject,
  type Pointer,
  pathOf,
  valueAt,
  wholeNumberText,
  withoutValueAt,
  withoutWriteOnly,
} from "../json/index.ts";
import { UnusableResponse } from "../unusable-response.ts";
import type { Caller } from "./caller.ts";
import type { Connection } from "./connection.ts";
import { notInForm } from "./form.ts";
import { adviceOnPages, pagesOf } from "./pages.ts";
import { hiddenIn } from "./redact.ts";
import { type Additions, identify, type Refuse, type Templates, templatesOf } from "./request-template.ts";
import {
  jsonIfAny,
  jsonObjectOf,
  jsonOf,
  type LiveRule,
  type RulePlaces,
  ruleIdIn,
  ruleIdInHeaders,
  ruleIn,
  withoutId,
} from "./response.ts";
import { versionIn, versionSent } from "./rule-version.ts";
import { baseUrlOf, setUp } from "./set-up.ts";
import { shared } from "./shared.ts";
import type { WireResponse } from "./transport.ts";
import { adviceOnFields, demandOwnFields, updateBody } from "./update-body.ts";

/** Options for a client's waits. */
export interface RulesClientOptions {
  /** The bound of the random wait before the second attempt, in milliseconds; it doubles with each. Default 200. */
  readonly backoffMs?: number;
  /** Hears of every whole response: its status, and the service's clock (the header Date). Default: nobody does. */
  readonly onAnswer?: (response: { readonly status: number; readonly date: string | undefined }) => void;
}

/** Facts of the rule for the messages of one call. */
export interface CallOptions {
  /** The name of the rule in messages, such as the key it has in a set. */
  readonly label?: string;
  /**
   * The rule as it was known. Its values are not printed when the service repeats them in an error; and an update whose body
   * is `merged` does not send back what it has and the new definition has not.
   */
  readonly known?: JsonObject;
}

/** Options for a reading of the list. */
export interface ListOptions {
  /** Called with each page that was read, an empty last one included. */
  readonly onPage?: () => void;
  /** Called where the list may be cut: its last page has a length at which services cut lists, and nothing says that it is the last. */
  readonly onCut?: (length: number) => void;
}

/** Facts of a rule that is to be made. */
export interface CreateOptions extends CallOptions {
  /** The id that it is to have. Needed where the contract has `operations.create.identifyBy`, and there alone. */
  readonly ruleId?: string;
}

/** Facts of a rule before it is updated. */
export interface UpdateOptions extends CallOptions {
  /** The whole rule as it was just read, so that it is not read again. */
  readonly live?: JsonObject;
  /** The same with its version, where the contract has `operations.update.version`. Default: it is read. */
  readonly seen?: LiveRule;
}

/** A rule as the response to its create has it. */
export interface CreatedRule extends LiveRule {
  /** The HTTP status of the response. 201 says that the rule was made (seed, section 4). */
  readonly status: number;
}

/**
 * The rules of one merchant, over the contract of its connection. One client has one pool of sockets, one limiter, one
 * token and one error budget: make one per connection. It keeps no process alive. Every method rejects with a
 * MerchantRulesError, which says what was attempted on which rule and whether that may have taken effect
 * (`outcomeUnknown`). UNSUPPORTED_BY_CONTRACT: the contract lacks the operation; nothing was sent. NOT_TRIED: nothing
 * was sent, because the credentials were refused or the last 20 attempts failed.
 */
export class RulesClient {
  /** The contract of the connection. */
  readonly contract: Contract;
  /** The connection's name, as messages print it. */
  readonly connectionName: string;
  /** The service's address, without a slash at its end. */
  readonly baseUrl: string;
  readonly #caller: Caller;
  readonly #places: RulePlaces;
  readonly #templates: Templates;
  readonly #close: () => Promise<void>;
  readonly #clientId: string | undefined;
  readonly #listed = shared(() => this.#readList());
  #identity: Promise<string> | undefined;

  /** @throws MerchantRulesError SETTINGS_INVALID: an address, a parameter or a credential that cannot be used */
  constructor(connection: Connection, { backoffMs, onAnswer }: RulesClientOptions = {}) {
    const { contract, name } = connection;
    const base = baseUrlOf(connection);
    this.contract = contract;
    this.#places = { id: idPointers(contract.rule), envelope: contract.rule.envelope };
    this.connectionName = name;
    this.#clientId = connection.credentials.kind === "client" ? connection.credentials.clientId : undefined;
    this.baseUrl = base.origin + base.prefix;
    this.#templates = templatesOf(connection, base.prefix);
    const heard = ({ status, headers }: Pick<WireResponse, "status" | "headers">): void =>
      onAnswer?.({ status, date: headers.date === undefined ? undefined : String(headers.date) });
    const { caller, close } = setUp(connection, base, defined({ backoffMs, onAnswer: heard }));
    this.#caller = caller;
    this.#close = close;
  }

  /**
   * Creates a rule. It is sent again only when an earlier attempt cannot have taken effect, or when the contract has
   * `idempotency` or the client chooses the id, so that no second rule can come of it. Fields of `rule.transitions` are
   * not sent. RULE_OUTCOME_UNKNOWN: the rule may exist; so it may with RESPONSE_INVALID and `outcomeUnknown`.
   * @returns the id, and the rule in the response, `{}` where the response has an id alone
   */
  async create(definition: JsonObject, options: CreateOptions = {}): Promise<CreatedRule> {
    const { operations, rule, idempotency } = this.contract;
    const { bodyAt, identifyBy } = operations.create;
    const hasIdInHeader = rule.id.length > this.#places.id.length;
    const messages = this.#messages("create", undefined, options, definition);
    const { attempted } = messages;
    const template = this.#templates.create;
    const own = withoutDriven(definition, this.contract);
    demandOwnNames(own, operations.create, attempted);
    const body = sendable(template.body(options.ruleId, own, bodyAt), operations.create, "create", attempted);
    const additions: Additions =
      identifyBy === null ? { body } : identify(options.ruleId ?? "", identifyBy, body, refusal(attempted));
    return await this.#caller.call({
      request: template.request(this.#written(additions)),
      ...messages,
      isRepeatable: idempotency !== null || identifyBy !== null,
      mayMean: ["exists"],
      writes: true,
      parse: (response) => {
        // Some services say where the new rule is, and nothing else.
        const body = hasIdInHeader ? jsonIfAny(response) : jsonObjectOf(response);
        const json = isJsonObject(body) ? body : {};
        const ruleId = ruleIdIn(json, this.#places) ?? ruleIdInHeaders(response, rule);
        if (ruleId === undefined) throw withoutId("the answer", json, this.#places, { sent: definition });
        return { ruleId, rule: ruleIn(json, this.#places) ?? {}, status: response.status };
      },
      failed: (error, unknown) => {
        if (unknown === undefined) throw error;
        const { code, reason, advice, exchange } = error;
        const isUnreadable = code === "RESPONSE_INVALID" && (exchange?.status ?? 0) < 300;
        const look = "look for the rule at the service; create it again only if it is not there";
        const isKnown = advice !== undefined && code === "RESPONSE_INVALID";
        throw error.with({
          code: isUnreadable ? "RESPONSE_INVALID" : "RULE_OUTCOME_UNKNOWN",
          reason: `${reason}; the rule may exist`,
          // A redirect or an unreadable response comes again until the contract or the address is right.
          advice: isKnown ? (exchange?.isWithoutId ? `${advice}. Then ${look}` : `${look}; ${advice}`) : look,
          cause: unknown,
        });
      },
    });
  }

  /** Reads a rule. RULE_NOT_FOUND when the service answers 404, 410 or what `errors.notFound` says, and only then. */
  async get(ruleId: string, options: CallOptions = {}): Promise<LiveRule> {
    const { rule } = this.contract;
    const places = this.#places;
    const messages = this.#messages("get", ruleId, options);
    const template = this.#templates.get;
    if (template === null) return await this.#readListed(ruleId, messages.attempted);
    const named = identify(ruleId, { in: "path", name: "ruleId" }, undefined, refusal(messages.attempted));
    let shownId: string | undefined;
    const read = await this.#caller.call({
      request: template.request(named),
      ...messages,
      mayMean: ["notFound"],
      parse: (response) => {
        const json = jsonObjectOf(response);
        const live = ruleIn(json, places);
        if (live === undefined)
          throw new UnusableResponse(`the answer has no rule object at ${rule.envelope} (rule.envelope)`);
        shownId = ruleIdIn(json, places);
        expectId(shownId, ruleId);
        const version = versionIn(live, response, this.contract);
        return defined({ ruleId, rule: live, version });
      },
    });
    // With neither its id nor one of its fields it is a page that stands between. With its id, the rule has lost them.
    if (shownId === undefined && options.known !== undefined)
      demandOwnFields(read.rule, options.known, rule, { ruleId, label: options.label });
    return read;
  }

  /**
   * Updates a rule to a definition, but for fields of `rule.transitions`. Where the update sends `changes` or a `merged` rule
   * (`operations.update.body`) the rule is read first, and nothing is sent when it is as the definition says. A PUT is sent again after a lost
   * response, PATCH and POST only when the contract has `idempotency`. RULE_NOT_FOUND when the service answers 404 or 410.
   * @returns the rule in the response, or undefined where it has none with an id. Where the contract has
   * `operations.update.id: new`, always the id that the rule has by now, and `{}` where the response has an id alone
   */
  async update(ruleId: string, declared: JsonObject, options: UpdateOptions = {}): Promise<LiveRule | undefined> {
    const { operations, rule, idempotency } = this.contract;
    const definition = withoutDriven(declared, this.contract);
    const { update } = operations;
    const template = this.#templates.update;
    const { attempted } = this.#messages("update", ruleId, options);
    if (update === null || template === null) throw unsupported(attempted, "update", "operations.update");
    const seen = options.seen ?? (update.version === null ? undefined : await this.get(ruleId, options));
    let live = seen?.rule ?? options.live;
    const kind = sentByUpdate(operations);
    if (kind !== "declared")
      live ??= (await this.get(ruleId, { ...options, known: { ...options.known, ...definition } })).rule;
    const omit = [...update.omit, ...servicePointers(this.contract), ...drivenFields(this.contract)];
    const former = withoutDriven(options.known ?? {}, this.contract);
    const changed = updateBody(definition, live, { ...update, body: kind, omit, former }, rule);
    if (changed === undefined) return { ruleId, rule: live ?? {} };
    const { definition: versioned, headers } = versionSent(changed, seen, { update, ruleId, attempted });
    const namesVersion = update.version !== null && ("at" in update.version || headers.length > 0);
    demandOwnNames(versioned, update, attempted);
    demandFreeField(versioned, ruleId, update, attempted);
    const body = sendable(template.body(ruleId, versioned, update.bodyAt), update, "update", attempted);
    const additions = identify(ruleId, update.identifyBy, body, refusal(attempted));
    return await this.#caller.call({
      request: template.request(this.#written(additions, headers)),
      ...this.#messages("update", ruleId, options, definition, live ?? {}),
      // Of a version or an id that is no more, nothing is written; and a second response to that has no new id.
      isRepeatable: (update.method === "PUT" && update.id === "kept") || idempotency !== null || namesVersion,
      mayMean: ["notFound", "exists"],
      writes: true,
      ifRefused: () => adviceOnFields(changed, definition),
      parse: (response) => {
        const json = response.body.length === 0 ? undefined : jsonOf(response);
        const updated = ruleIn(json, this.#places);
        const inBody = ruleIdIn(json, this.#places);
        const answered = update.id === "new" ? (inBody ?? ruleIdInHeaders(response, rule)) : inBody;
        if (answered === undefined && update.id === "new")
          throw withoutId("the answer", json ?? {}, this.#places, { sent: definition, advice: noNewId });
        if (answered === undefined) return undefined;
        if (update.id === "kept") expectId(answered, ruleId, newId);
        if (update.id === "new") return { ruleId: answered, rule: updated ?? {} };
        return updated === undefined ? undefined : { ruleId, rule: updated };
      },
    });
  }

  /**
   * Sends a request of `rule.transitions`, which gives one field one value. RULE_NOT_FOUND when the service answers 404 or
   * 410. It is sent again after a lost response where it is a PUT or the contract has `idempotency`.
   * @param step one of the contract's own
   * @returns the rule in the response, or undefined where it has none with an id
   */
  async transition(ruleId: string, step: Transition, options: CallOptions = {}): Promise<LiveRule | undefined> {
    const { rule, idempotency } = this.contract;
    const messages = this.#messages(`change ${step.at} to ${String(step.to)} of`, ruleId, options);
    const template = this.#templates.transitions[rule.transitions.indexOf(step)];
    if (template === undefined) throw unsupported(messages.attempted, "this", "rule.transitions");
    const body = template.hasFields ? template.body(ruleId) : undefined;
    const named = identify(ruleId, { in: "path", name: "ruleId" }, body, refusal(messages.attempted));
    return await this.#caller.call({
      request: template.request(this.#written(named)),
      ...messages,
      isRepeatable: step.method === "PUT" || idempotency !== null,
      mayMean: ["notFound"],
      writes: true,
      parse: (response) => {
        const json = response.body.length === 0 ? undefined : jsonIfAny(response);
        const [answered, now] = [ruleIdIn(json, this.#places), ruleIn(json, this.#places)];
        expectId(answered, ruleId);
        return answered === undefined || now === undefined ? undefined : { ruleId, rule: now };
      },
    });
  }

  /**
   * Deletes a rule. RULE_NOT_FOUND when the service answers 404 or 410.
   * @returns "deleted" for a success with JSON (seed, section 4) or without a body; "deleted again" when an attempt before
   * that lost its response, which the service may yet carry out; "unconfirmed" when the response was a page instead of JSON,
   * or when an attempt lost its response and the next was answered 404: read the rule to see whether it is gone
   */
  async delete(ruleId: string, options: CallOptions = {}): Promise<"deleted" | "deleted again" | "unconfirmed"> {
    const { identifyBy } = this.contract.operations.delete;
    const template = this.#templates.delete;
    const messages = this.#messages("delete", ruleId, options);
    if (identifyBy === null)
      throw unsupported(messages.attempted, "delete", "operations.delete.identifyBy: query | body | path | header");
    const body = template.hasFields ? template.body(ruleId) : undefined;
    return await this.#caller.call({
      request: template.request(identify(ruleId, identifyBy, body, refusal(messages.attempted))),
      ...messages,
      isRepeatable: true,
      mayMean: ["notFound", "inUse"],
      writes: true,
      parse: (response, unknown) => {
        if (response.body.length > 0 && jsonIfAny(response) === undefined) return "unconfirmed";
        return unknown === undefined ? "deleted" : "deleted again";
      },
      failed: (error, unknown) => {
        // A lost response and then a 404 look like a delete that worked; so do two faults of a proxy.
        if (error.code === "RULE_NOT_FOUND" && unknown !== undefined) return "unconfirmed";
        throw error;
      },
    });
  }

  /**
   * Yields all rules, page by page, each id once. RESPONSE_INVALID where a page is not as the contract says, pages repeat,
   * the last one says that there is more, a page is at another origin, or there are more than `limits.maxPages`: a list that
   * was not read to its end does not prove that a rule is gone.
   */
  async *list({ onPage = () => {}, onCut }: ListOptions = {}): AsyncGenerator<LiveRule, void, undefined> {
    const { list } = this.contract.operations;
    const template = this.#templates.list;
    const messages = this.#messages("list");
    if (list === null || template === null) throw unsupported(messages.attempted, "list", "operations.list");
    const { origin } = new URL(this.baseUrl);
    const pages = pagesOf(
      list,
      this.contract,
      (added, parse) => {
        const request = template.request(additionsOf(added, list.method === "GET" ? undefined : template.body()));
        return this.#caller.call({
          request,
          ...messages,
          ifRefused: () => adviceOnPages(list, added, this.contract.limits),
          parse: (response) => {
            const isNothing = response.status === 204 && list.empty.includes("noContent");
            const page = isNothing ? undefined : { json: jsonOf(response), headers: response.headers };
            return parse(page, { origin, target: request.target });
          },
        });
      },
      onCut,
    );
    for await (const rules of pages) {
      onPage();
      yield* list.summaries ? await this.#readWhole(rules) : rules;
    }
  }

  /** Reads a rule from the list, where no other operation reads one. RULE_NOT_FOUND when a list read to its end lacks it. */
  async #readListed(ruleId: string, attempted: () => string): Promise<LiveRule> {
    const live = (await this.#listed()).get(ruleId);
    if (live !== undefined) return live;
    throw new MerchantRulesError("RULE_NOT_FOUND", "the list does not have it", { attempted: attempted() });
  }

  /** Waits for the lag of the list, and reads it to its end. Returns the rules by their ids. */
  async #readList(): Promise<ReadonlyMap<string, LiveRule>> {
    const lagMs = this.contract.operations.list?.lagMs ?? 0;
    if (lagMs > 0) await sleep(lagMs);
    const rules = new Map<string, LiveRule>();
    for await (const live of this.list()) rules.set(live.ruleId, live);
    return rules;
  }

  /** Reads the rules whose summaries a list shows; one that is gone meanwhile is left out. */
  async #readWhole(summaries: readonly LiveRule[]): Promise<LiveRule[]> {
    const read = summaries.map(({ ruleId }) => this.get(ruleId).catch(undefinedIfGone));
    return (await Promise.all(read)).filter((live) => live !== undefined);
  }

  /**
   * Refuses a listed rule of which a GET shows more: taken for the whole, it would be exported in part, and what it
   * lacks would be drift. Nothing is asked where the contract says that items are summaries.
   * @returns false where it cannot be told, because the rule is gone
   * @throws MerchantRulesError RESPONSE_INVALID: the list holds summaries
   */
  async demandWhole({ ruleId, rule: listed }: LiveRule): Promise<boolean> {
    const { operations, rule } = this.contract;
    if (operations.list?.summaries !== false || operations.get === null) return true;
    const live = await this.get(ruleId).catch(undefinedIfGone);
    if (live === undefined) return false;
    const whole = withoutWriteOnly([...idPointers(rule), ...rule.readOnly].reduce(withoutValueAt, live.rule), rule);
    const lacking = fieldsLackingIn(listed, whole).filter(({ value }) => value !== null);
    if (lacking.length === 0) return true;
    const shown = fewOf(
      lacking.map(({ path }) => pathOf(path)),
      5,
    );
    throw new MerchantRulesError("RESPONSE_INVALID", `a GET of rule ${ruleId} shows more than the list: ${shown}`, {
      attempted: this.#messages("list").attempted(),
      advice:
        "set operations.list.summaries to true in the contract, so that each rule of the list is read by a GET; or, where the service alone sets these fields, name them in rule.readOnly",
    });
  }

  /** Returns the identity of the credentials (`auth.identity`), found out once; undefined where the contract cannot tell. */
  async identity(): Promise<string | undefined> {
    if (this.contract.auth.identity === null) return undefined;
    this.#identity ??= this.#readIdentity().catch((error: unknown) => {
      this.#identity = undefined;
      throw error;
    });
    return await this.#identity;
  }

  async #readIdentity(): Promise<string> {
    const { identity } = this.contract.auth;
    const attempted = (): string => `find out who the credentials are${this.#on}`;
    const operation = identityOperation(this.contract.auth);
    if (operation !== null && this.#templates.identity !== null)
      return await this.#caller.call({
        request: this.#templates.identity.request(),
        attempted,
        parse: (response) => {
          const found = identityIn(jsonOf(response), operation.at);
          if (found !== undefined) return found;
          const place = operation.at || "the root";
          throw new UnusableResponse(`there is no text or whole number at ${place} (auth.identity.at)`);
        },
      });
    if (identity !== null && "claim" in identity) {
      const claims = claimsOf((await this.#caller.token(attempted)) ?? "");
      const found = claims === undefined ? undefined : identityIn(claims, identity.claim);
      if (found !== undefined) return found;
      const missing = `has no text or whole number at ${identity.claim} (auth.identity.claim)`;
      const reason =
        claims === undefined ? "the token is no JSON Web Token, so it has no claims" : `the token ${missing}`;
      throw new MerchantRulesError("SETTINGS_INVALID", reason, {
        attempted: attempted(),
        advice: "give a token that says who it is for, or correct auth.identity in the contract",
      });
    }
    if (this.#clientId !== undefined) return this.#clientId;
    throw new MerchantRulesError("SETTINGS_INVALID", "the contract tells who by the client id, and a token is given", {
      attempted: attempted(),
      advice: "give the client id and the client secret instead of the token, or correct auth.identity in the contract",
    });
  }

  /** Ends the sockets after the requests under way. A closed client is of no use. */
  async close(): Promise<void> {
    await this.#close();
  }

  get #on(): string {
    return this.connectionName === "default" ? "" : ` on connection ${quoted(this.connectionName)}`;
  }

  /** Returns the words of messages for a call, and the values that they hide: functions, because most calls need no message. */
  #messages(operation: string, ruleId?: string, { label, known = {} }: CallOptions = {}, ...sent: JsonObject[]) {
    const attempted = (): string => {
      const id = ruleId === undefined ? "" : quoted(ruleId);
      const named = label === undefined ? id : `${quoted(label)}${id === "" || label === ruleId ? "" : ` (id ${id})`}`;
      const what = named === "" ? (operation === "list" ? "rules" : "a rule") : `rule ${named}`;
      return `${operation} ${what}${this.#on}`;
    };
    const hidden = () => [...sent, known].flatMap((definition) => hiddenIn(definition, this.contract.rule));
    return { attempted, hidden };
  }

  /** Adds headers to a write, and one key for all its attempts where the contract has idempotency. */
  #written(named: Additions, more: readonly string[] = []): Additions {
    const { idempotency } = this.contract;
    const key = idempotency === null ? [] : [idempotency.header, randomUUID()];
    return { ...named, headers: [...(named.headers ?? []), ...more, ...key] };
  }
}

/** Puts what asks for a page into the query or, where the list is asked for by POST, into the body. */
function additionsOf({ parameters = [], ...others }: PageQuery, fixed: JsonObject | undefined): Additions {
  if (fixed !== undefined) return { ...others, body: { ...fixed, ...Object.fromEntries(parameters) } };
  return { ...others, query: parameters.map((pair) => pair.map(encodeURIComponent).join("=")).join("&") };
}

/** Refuses a definition of which two fields would be sent by one name. @throws MerchantRulesError RULE_INVALID */
function demandOwnNames(
  definition: JsonObject,
  { sentAs }: Pick<Contract["operations"]["create"], "sentAs">,
  attempted: () => string,
): void {
  const isTaken = ([read, sent]: [string, string]): boolean =>
    Object.hasOwn(definition, read) && Object.hasOwn(definition, sent) && !Object.hasOwn(sentAs, sent);
  const taken = Object.entries(sentAs).find(isTaken);
  if (taken === undefined) return;
  const [read, sent] = taken;
  throw new MerchantRulesError("RULE_INVALID", `${read} is sent as ${sent}, and the rule has a field ${sent}, too`, {
    attempted: attempted(),
    advice: `declare ${read} alone, as the service shows the rule`,
  });
}

/** Refuses a rule of which a field has the name by which an update names its rule. @throws MerchantRulesError RULE_INVALID */
function demandFreeField(
  sent: JsonObject,
  ruleId: string,
  { identifyBy: by, bodyAt }: NonNullable<Contract["operations"]["update"]>,
  attempted: () => string,
): void {
  const found = by.in === "body" && bodyAt === "" && Object.hasOwn(sent, by.name) ? sent[by.name] : undefined;
  if (found === undefined || String(found) === ruleId) return;
  throw new MerchantRulesError("RULE_INVALID", `it has a field ${by.name}, in which the update names the rule`, {
    attempted: attempted(),
    advice: `leave the field out of the definition; where the service keeps such a field, correct operations.update.identifyBy in the contract`,
  });
}

/** Returns a body as it is. @throws MerchantRulesError RULE_INVALID where its operation cannot send it */
function sendable(
  body: JsonObject,
  { encoding }: Pick<Contract["operations"]["create"], "encoding">,
  operation: "create" | "update",
  attempted: () => string,
): JsonObject {
  const why = encoding === "form" ? notInForm(body) : undefined;
  if (why === undefined) return body;
  throw new MerchantRulesError("RULE_INVALID", why, {
    attempted: attempted(),
    advice: `leave it out of the definition, or give it a value; where the service takes JSON, set operations.${operation}.encoding to json in the contract`,
  });
}

function undefinedIfGone(error: unknown): undefined {
  if (!isMerchantRulesError(error) || error.code !== "RULE_NOT_FOUND") throw error;
}

/** Returns a merchant's name or number at a pointer; undefined where there is neither. */
function identityIn(json: Json, at: Pointer): string | undefined {
  const found = valueAt(json, at);
  if (typeof found === "string" && found !== "") return found;
  return wholeNumberText(found);
}

/** Returns the claims of a JSON Web Token without verifying them, which the service does. Undefined for another token. */
function claimsOf(token: string): Json | undefined {
  const [, claims, ...rest] = token.split(".");
  if (claims === undefined || rest.length !== 1) return undefined;
  try {
    return JSON.parse(Buffer.from(claims, "base64url").toString());
  } catch {
    return undefined;
  }
}

function expectId(answered: string | undefined, ruleId: string, advice?: string): void {
  if (answered !== undefined && answered !== ruleId)
    throw new UnusableResponse(`the answer is about another rule, ${quoted(answered)}`, {
      ...defined({ advice }),
      isOfOther: true,
    });
}

const newId =
  "if an update gives a rule another id, set operations.update.id to new in the contract and run again; else compare the answer with operations.update and rule.id there";
const noNewId =
  "name in rule.id of the contract where the answer to an update has the id; where a rule keeps its id, set operations.update.id to kept";

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
  return JSON.stringify(shortened(name, 120));
}
