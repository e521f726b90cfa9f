import { format, parse } from "node:path";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { findNotJson, type JsonObject, pathOf } from "../../sdk/json/index.ts";
import { Replays } from "./idempotency.ts";
import { ruleIdMaker, sequentialRuleIds } from "./rule-id.ts";
import { RuleOperations, type RuleOperationsOptions } from "./rule-operations.ts";
import { ruleShape } from "./rule-shape.ts";
import { RuleStore, type StoredRule } from "./store.ts";

/** A merchant that a service has rules of, and the token by which it is known. */
export interface LocalMerchant {
  readonly name: string;
  /** Never expires. */
  readonly token: string;
}

/** Changes by hand to the rules of one merchant, past the contract. */
export interface RulesByHand {
  /** Returns every rule as declared, oldest first, without what the service adds, and without rules that are gone. */
  rules(): StoredByHand[];
  /** Returns what {@link RulesByHand.rules} does, and the rules that are gone (`rule.gone` of the contract). */
  rows(): StoredByHand[];
  /** Edits or adds a rule past schema, natural key and immutable fields. @returns its id @throws TypeError: no JSON */
  put(ruleId: string | undefined, rule: JsonObject): string;
  /** Removes a rule as somebody does by hand, so that no row is left. Returns whether there was one. */
  remove(ruleId: string): boolean;
}

export interface StoredByHand {
  readonly ruleId: string;
  readonly rule: JsonObject;
}

/** One merchant's rules, and what is done with them. */
export interface Merchant {
  readonly name: string;
  readonly store: RuleStore;
  readonly operations: RuleOperations;
  readonly replays: Replays;
  readonly byHand: RulesByHand;
  /** Decides whether a rule was deleted and is still kept, as the contract's `rule.gone` says. */
  isGone(rule: StoredRule): boolean;
}

export interface MerchantsOptions
  extends Pick<RuleOperationsOptions, "contract" | "etags" | "allowDuplicates" | "now"> {
  /** At least one. */
  readonly merchants: readonly LocalMerchant[];
  /** The first merchant's file; the others have files beside it, named after them. */
  readonly dataFile: string;
  readonly ruleIds: "ordered" | "sequential";
  readonly answers: "id" | "rule";
}

/** The merchants of a service; each has rules and idempotency keys of its own. */
export class Merchants {
  readonly first: Merchant;
  readonly #merchants = new Map<string, Merchant>();

  /** @throws MerchantRulesError SETTINGS_INVALID: two merchants have one name or token, or a data file cannot be used. */
  constructor(options: MerchantsOptions) {
    demandDistinct(options.merchants);
    const [first, ...others] = options.merchants;
    if (first === undefined) throw refused("found no merchant; allowed: at least one");
    try {
      this.first = this.#open(first.name, options.dataFile, options);
      for (const { name } of others) this.#open(name, fileOf(options.dataFile, name), options);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get stores(): readonly RuleStore[] {
    return [...this.#merchants.values()].map(({ store }) => store);
  }

  /** Returns the merchant with a name. @throws TypeError for a name that no merchant has */
  of(name: string): Merchant {
    const merchant = this.#merchants.get(name);
    if (merchant !== undefined) return merchant;
    throw new TypeError(`no merchant ${JSON.stringify(name)}; allowed: ${[...this.#merchants.keys()].join(", ")}`);
  }

  close(): void {
    for (const store of this.stores) store.close();
  }

  #open(name: string, file: string, options: MerchantsOptions): Merchant {
    const merchant = openMerchant(name, new RuleStore(file), options);
    this.#merchants.set(name, merchant);
    return merchant;
  }
}

function openMerchant(name: string, store: RuleStore, options: MerchantsOptions): Merchant {
  const { contract, ruleIds, answers, etags, allowDuplicates, now } = options;
  const shape = ruleShape(contract, answers);
  const newRuleId = ruleIds === "sequential" ? sequentialRuleIds(store) : ruleIdMaker(now);
  const operations = new RuleOperations({ contract, store, shape, newRuleId, etags, allowDuplicates, now });
  const byHand: RulesByHand = {
    rules: () => store.after(0, -1).flatMap((stored) => (shape.isGone(stored) ? [] : shown(stored))),
    rows: () => store.after(0, -1).map(shown),
    put: (given, rule) => {
      const fault = findNotJson(rule);
      if (fault !== undefined) throw new TypeError(`${pathOf(fault.path) || "the rule"} is not JSON: ${fault.found}`);
      return store.transaction(() => {
        const ruleId = given ?? newRuleId();
        const entry = operations.entry(ruleId, shape.withoutManaged(rule));
        if (!store.replace(entry)) store.insert(entry);
        return ruleId;
      });
    },
    remove: (ruleId) => store.remove(ruleId),
  };
  return { name, store, operations, replays: new Replays(store, now), byHand, isGone: shape.isGone };
}

function shown({ ruleId, definition }: StoredRule): StoredByHand {
  return { ruleId, rule: definition };
}

/** Returns the data file of another merchant than the first: `rules.globex.db` beside `rules.db`. */
function fileOf(dataFile: string, merchant: string): string {
  if (dataFile === ":memory:") return dataFile;
  const { dir, name, ext } = parse(dataFile);
  return format({ dir, base: `${name}.${encodeURIComponent(merchant)}${ext}` });
}

function demandDistinct(merchants: readonly LocalMerchant[]): void {
  for (const field of ["name", "token"] as const) {
    const values = merchants.map((merchant) => merchant[field]);
    if (values.includes("")) throw refused(`found an empty ${field}; allowed: a text`);
    // Not the value: it may be a token.
    if (new Set(values).size < values.length) throw refused(`found two merchants with one ${field}; allowed: one each`);
  }
}

function refused(reason: string): MerchantRulesError {
  return new MerchantRulesError("SETTINGS_INVALID", reason, {
    attempted: "use the merchants",
    advice: "give every merchant a name and a token of its own",
  });
}
