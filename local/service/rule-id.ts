import { randomInt } from "node:crypto";
import type { RuleStore } from "./store.ts";

/**
 * Makes ruleIds of 12 letters and digits, short enough to read and to type, that sort by age: the milliseconds since 1970,
 * none used twice, and an ending by which two services differ, so that neither knows the other's rules.
 */
export function ruleIdMaker(now: () => number): () => string {
  const ending = randomInt(36 ** 4)
    .toString(36)
    .padStart(4, "0");
  let last = 0;
  return () => {
    last = Math.max(now(), last + 1);
    return last.toString(36).padStart(8, "0") + ending;
  };
}

/** Counts the rules of a store from 1. An id that was given to a rule by hand is passed over. */
export function sequentialRuleIds(store: RuleStore): () => string {
  let last = 0;
  return () => {
    // From the store, so that ids go on where they stopped when the service starts again.
    last = Math.max(last, store.lastSequence) + 1;
    while (store.find(String(last)) !== undefined) last += 1;
    return String(last);
  };
}
