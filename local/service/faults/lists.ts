import { isJsonArray, type Json, valueAt, withValueAt } from "../../../sdk/json/index.ts";
import type { RuleList, RuleStore } from "../store.ts";

/** Shows the first page, whatever page is asked for. */
export function onlyFirstPage(store: RuleStore): RuleList {
  return {
    after: (_sequence, limit) => store.after(0, limit),
    from: (_offset, limit) => store.from(0, limit),
  };
}

/** Shows a list as if a rule had come before all others: a later page begins with the last rule of the page before. */
export function oneRuleMore(store: RuleStore): RuleList {
  return {
    after: (sequence, limit) => store.after(sequence - 1, limit),
    from: (offset, limit) => store.from(Math.max(0, offset - 1), limit),
  };
}

/** Shows a list as if the first of all rules had gone: a later page passes over the rule that it should begin with. */
export function lessOneRule(store: RuleStore): RuleList {
  return {
    after: (sequence, limit) => store.after(sequence, limit + 1).slice(1),
    from: (offset, limit) => store.from(offset + 1, limit),
  };
}

/** Repeats the first rule of a page at its end; undefined for an empty page. */
export function withFirstAgain(body: Json, items: string): Json | undefined {
  const rules = valueAt(body, items);
  const first = firstOf(rules);
  return isJsonArray(rules) && first !== undefined ? withValueAt(body, items, [...rules, first]) : undefined;
}

/** Puts the first rule of `early`, the same page begun one rule early, before those of a page; undefined where there is none. */
export function withRuleBefore(body: Json, early: string, items: string): Json | undefined {
  const rules = valueAt(body, items);
  const before = firstOf(valueAt(JSON.parse(early), items));
  return isJsonArray(rules) && before !== undefined ? withValueAt(body, items, [before, ...rules]) : undefined;
}

function firstOf(rules: Json | undefined): Json | undefined {
  return isJsonArray(rules) ? rules[0] : undefined;
}
