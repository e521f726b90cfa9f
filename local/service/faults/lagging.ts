import type { RuleList, RuleStore, StoredRule } from "../store.ts";

/** The lag of a list: so many writes, or so long. Neither: the list stays as it is now. */
interface Lag {
  readonly writesBehind?: number | undefined;
  readonly lagMs?: number | undefined;
}

interface Copy {
  /** From when on the rules were so, in milliseconds. */
  readonly since: number;
  readonly rules: readonly StoredRule[];
}

/** The rules of one store as they were, from the oldest time that a list may still show; nothing older than now is shown. */
export class Past {
  readonly #store: RuleStore;
  readonly #lag: Lag;
  readonly #now: () => number;
  #copies: readonly Copy[];

  constructor(store: RuleStore, lag: Lag, now: () => number) {
    this.#store = store;
    this.#lag = lag;
    this.#now = now;
    this.#copies = [{ since: now(), rules: store.after(0, -1) }];
  }

  seen(): RuleList {
    this.#forget();
    return frozen(this.#copies[0]?.rules ?? []);
  }

  wrote(ruleId: string): void {
    const { writesBehind, lagMs } = this.#lag;
    if (writesBehind === undefined && lagMs === undefined) return;
    const before = this.#copies.at(-1)?.rules ?? [];
    this.#copies = [...this.#copies, { since: this.#now(), rules: after(before, ruleId, this.#store.find(ruleId)) }];
    this.#forget();
  }

  /** Drops the copies that no list shows any more. */
  #forget(): void {
    const { writesBehind, lagMs } = this.#lag;
    if (writesBehind !== undefined) this.#copies = this.#copies.slice(-writesBehind - 1);
    if (lagMs === undefined) return;
    const until = this.#now() - lagMs;
    const shown = this.#copies.findLastIndex(({ since }) => since <= until);
    if (shown > 0) this.#copies = this.#copies.slice(shown);
  }
}

/** Returns the rules after one of them was written: it is `written` now, or no longer there. */
function after(rules: readonly StoredRule[], ruleId: string, written: StoredRule | undefined): readonly StoredRule[] {
  if (written === undefined) return rules.filter((rule) => rule.ruleId !== ruleId);
  const place = rules.findIndex((rule) => rule.ruleId === ruleId);
  return place === -1 ? [...rules, written] : rules.with(place, written);
}

function frozen(rules: readonly StoredRule[]): RuleList {
  return {
    after: (sequence, limit) => {
      const later = rules.filter((rule) => rule.sequence > sequence);
      return limit === -1 ? later : later.slice(0, limit);
    },
    from: (offset, limit) => rules.slice(offset, offset + limit),
  };
}
