import { MerchantRulesError } from "../../sdk/errors.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { named, type Owner } from "./mark.ts";
import type { KnownRule } from "./plan.ts";
import type { Resource } from "./resource.ts";

type Holder = Pick<Resource, "holder" | "owner">;

interface Holding {
  by?: Holder;
  /** The natural key that the rule is to have, as its keeper declares it. */
  identity?: string | undefined;
  /** The holder deletes or replaces the rule in this run. */
  isLeaving?: boolean;
  /** The holder has taken the rule over again, as its own replacement. */
  isPassedOn?: boolean;
}

/** A rule that a resource's state knows. */
export interface Held {
  readonly known: KnownRule;
  readonly of: Resource;
}

/**
 * The holders of the rules of one place, as the resources of this process have said so far. In memory, without requests.
 */
export class Holders {
  readonly #holdings = new Map<string, Holding>();
  readonly #known = new Map<string, Held>();
  readonly #firstToKnow = new Map<string, string>();
  readonly #byMark = new Map<string, Map<string, Held>>();
  /** The identities that resources declare, as `check` saw them. */
  readonly #declared = new Map<string, ReadonlySet<string>>();
  /** Resources whose rule the engine replaces, as they were, and what is to come: their creates know no rule. */
  readonly replaced = new Map<string, { readonly of: Resource; readonly next: JsonObject }>();
  /** The ids of rules that were said to be in no state. */
  readonly leftovers = new Set<string>();

  /** A resource says which rules its state knows. */
  hear(of: Resource): void {
    for (const known of of.known.values()) {
      const held = { known, of };
      this.#known.set(known.ruleId, held);
      if (!this.#firstToKnow.has(known.ruleId)) this.#firstToKnow.set(known.ruleId, of.holder);
      if (typeof known.mark === "string")
        getOrMake(this.#byMark, known.mark, () => new Map<string, Held>()).set(known.ruleId, held);
    }
  }

  /** The rules that states know. */
  known(): IteratorObject<Held> {
    return this.#known.values();
  }

  /** True where the state of another resource of this run knows the rule as well. */
  isKnownToOther(ruleId: string, { holder }: Holder): boolean {
    const first = this.#firstToKnow.get(ruleId);
    return first !== undefined && first !== holder;
  }

  /** True where a state of this run knows the rule as another's, or under another key. */
  isKnownAsOther(ruleId: string, { holder }: Holder, key: string): boolean {
    const held = this.#known.get(ruleId);
    return held !== undefined && (held.of.holder !== holder || held.of.known.get(key)?.ruleId !== ruleId);
  }

  /** The rule as a state of this run knows it. */
  knownBy(ruleId: string): KnownRule | undefined {
    return this.#known.get(ruleId)?.known;
  }

  /** True where a state of this run knows the rule. */
  isKnown(ruleId: string): boolean {
    return this.#known.has(ruleId);
  }

  /** The rules that states know by the place in a mark. */
  knownAs(place: string): readonly Held[] {
    const heard = this.#byMark.get(place)?.values() ?? [];
    return [...heard].filter((held) => this.#known.get(held.known.ruleId) === held);
  }

  /**
   * The holder keeps the rule, and declares it with this natural key.
   * @throws MerchantRulesError RULE_CONFLICT: another one holds it
   */
  hold(ruleId: string, by: Holder, identity: string | undefined): void {
    const holding = this.#of(ruleId);
    if (this.isHeldByOther(ruleId, by)) throw conflict(ruleId, holding.by?.owner);
    this.#holdings.set(ruleId, { by, identity });
  }

  /** True where another resource keeps the rule, and has it be another rule than the one with this natural key. */
  isAnotherNow(ruleId: string, by: Holder, identity: string | undefined): boolean {
    const now = this.#of(ruleId).identity;
    return this.isHeldByOther(ruleId, by) && now !== undefined && identity !== undefined && now !== identity;
  }

  /** The holder deletes or replaces the rule in this run, so that another may have it. */
  leave(ruleId: string, by: Holder): void {
    const holding = this.#of(ruleId);
    if (holding.isPassedOn !== true && !this.isHeldByOther(ruleId, by)) Object.assign(holding, { by, isLeaving: true });
  }

  /** A create makes the rule or takes it over. @throws MerchantRulesError RULE_CONFLICT: a resource keeps it */
  claim(ruleId: string, by: Holder, { isReplacement = false } = {}): void {
    const before = this.#of(ruleId);
    if (before.by !== undefined && before.isLeaving !== true) throw conflict(ruleId, before.by.owner);
    const isPassedOn = isReplacement || before.by?.holder === by.holder;
    this.#holdings.set(ruleId, { by, ...(isPassedOn ? { isPassedOn } : {}) });
  }

  /** Nobody holds the rule any more. */
  release(ruleId: string): void {
    delete this.#of(ruleId).by;
  }

  /** The delete that was to take the rule away has spared it. */
  delivered(ruleId: string): void {
    delete this.#of(ruleId).isPassedOn;
  }

  /** True where the holder's replacement has the rule, so that the delete of what it was spares it. */
  isPassedOn(ruleId: string): boolean {
    return this.#of(ruleId).isPassedOn === true;
  }

  /** The resource that keeps the rule. */
  keeperOf(ruleId: string): Holder | undefined {
    const { by, isLeaving } = this.#of(ruleId);
    return isLeaving ? undefined : by;
  }

  /** The resource that gives the rule up in this run. */
  leaverOf(ruleId: string): Holder | undefined {
    const { by, isLeaving } = this.#of(ruleId);
    return isLeaving ? by : undefined;
  }

  isHeldByOther(ruleId: string, by: Holder): boolean {
    const keeper = this.keeperOf(ruleId);
    return keeper !== undefined && keeper.holder !== by.holder;
  }

  /** A resource declares rules, by their identities. */
  declare(by: string, identities: ReadonlySet<string>): void {
    this.#declared.set(by, identities);
  }

  /** True where another resource of this run declares the rule. */
  isDeclaredByOther(identity: string, { holder }: Holder): boolean {
    return this.#declared.entries().some(([by, identities]) => by !== holder && identities.has(identity));
  }

  #of(ruleId: string): Holding {
    return getOrMake(this.#holdings, ruleId, () => ({}));
  }
}

function conflict(ruleId: string, holder: Owner | undefined): MerchantRulesError {
  const advice = "declare the rule once; where one of the two has just been changed to be another rule, run again";
  return new MerchantRulesError("RULE_CONFLICT", `rule ${ruleId} is managed by ${named(holder)} of this stack`, {
    advice,
  });
}
