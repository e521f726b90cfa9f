import { getOrMake } from "../../sdk/get-or-make.ts";
import type { KnownRule } from "../decide/plan.ts";
import type { Resource } from "./resource.ts";

/** A resource and key, as far as a claim needs it. */
export type Claimant = Pick<Resource, "holder" | "owner">;

/** A row that a resource of this process has, as a hook of this run saw it. */
export interface Heard {
  readonly of: Claimant;
  readonly key: string;
  readonly row: KnownRule;
  /** The natural key that the resource declares for it; undefined: the contract has none. */
  readonly naturalKey: string | undefined;
  /** Out of the state; else this run made it or took it over. */
  readonly isOfState: boolean;
}

/** A row of a state, with its resource. */
export interface Noted {
  readonly of: Resource;
  readonly key: string;
  readonly row: KnownRule;
}

/**
 * Who has which rule: the rows that the hooks of this process saw in this run, out of the state, made, or taken over. In
 * memory, without requests. It saves a write and never allows one.
 */
export class Claims {
  readonly #heard = new Map<string, Map<string, Heard>>();
  /** The ids of heard rows, by resource and key. */
  readonly #ids = new Map<string, string>();
  readonly #noted = new Map<string, Map<string, Noted>>();

  /** A resource says which rules its state knows: they are known, whatever becomes of them. */
  note(of: Resource): void {
    for (const [key, row] of of.known)
      getOrMake(this.#noted, row.ruleId, () => new Map<string, Noted>()).set(nameOf(of, key), { of, key, row });
  }

  /** A resource has the row under the key that it gets in this run. Another row under that key is its no longer. */
  hear(heard: Heard): void {
    this.drop(heard.of, heard.key);
    const name = nameOf(heard.of, heard.key);
    getOrMake(this.#heard, heard.row.ruleId, () => new Map<string, Heard>()).set(name, heard);
    this.#ids.set(name, heard.row.ruleId);
  }

  /** A resource has no row under that key any more. @param meant the id of that row; undefined: whichever it has */
  drop(of: Claimant, key: string, meant?: string): void {
    const name = nameOf(of, key);
    const ruleId = this.#ids.get(name);
    if (ruleId === undefined || (meant ?? ruleId) !== ruleId) return;
    this.#heard.get(ruleId)?.delete(name);
    this.#ids.delete(name);
  }

  /** The heard rows of other resources and keys with a rule's id. */
  others(ruleId: string, of: Claimant, key: string): Heard[] {
    const name = nameOf(of, key);
    return [...(this.#heard.get(ruleId) ?? [])].flatMap(([who, heard]) => (who === name ? [] : [heard]));
  }

  /** The heard row of this very resource and key that this run made or took over. */
  ownOfRun(ruleId: string, of: Claimant, key: string): Heard | undefined {
    const own = this.#heard.get(ruleId)?.get(nameOf(of, key));
    return own?.isOfState === false ? own : undefined;
  }

  /** The heard row of this very resource and key out of its state: what a create of it makes is another rule. */
  ownOfState(ruleId: string, of: Claimant, key: string): Heard | undefined {
    const own = this.#heard.get(ruleId)?.get(nameOf(of, key));
    return own?.isOfState ? own : undefined;
  }

  /** True where any state of this run knows a rule by this id, or a hook has made or taken it. */
  isKnown(ruleId: string): boolean {
    return this.#noted.has(ruleId) || (this.#heard.get(ruleId)?.size ?? 0) > 0;
  }

  /** True where a state of this run knows the id as that of another resource or key. */
  isKnownToOther(ruleId: string, of: Claimant, key: string): boolean {
    const name = nameOf(of, key);
    return [...(this.#noted.get(ruleId)?.keys() ?? [])].some((who) => who !== name);
  }

  /** The rows of all states that hooks have read in this run. */
  ofStates(): Noted[] {
    return [...this.#noted.values()].flatMap((rows) => [...rows.values()]);
  }
}

function nameOf({ holder }: Claimant, key: string): string {
  return `${holder}\n${key}`;
}
