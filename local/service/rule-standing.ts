import type { Contract } from "../../sdk/contract/index.ts";
import { isEqual, isJsonObject, type JsonObject, segmentsOf, valueAt, withValueAt } from "../../sdk/json/index.ts";
import type { RuleShape } from "./rule-shape.ts";
import type { StoredRule } from "./store.ts";

/** The standing of a stored row, by the contract's `rule.gone` and `rule.foreign`. */
export interface RuleStanding {
  /** Decides whether a rule was deleted, and is still kept and shown. */
  isGone(rule: StoredRule): boolean;
  /** Decides whether a rule is the service's own, which no client may change. */
  isForeign(rule: StoredRule): boolean;
  /** Returns a definition as a delete leaves it; undefined where the contract has no `rule.gone`, so that no row is kept. */
  whenDeleted(definition: JsonObject): JsonObject | undefined;
}

export function ruleStanding({ rule }: Contract, shape: RuleShape): RuleStanding {
  const { gone, foreign } = rule;
  const [mark] = gone;
  const matches =
    (rows: Rows) =>
    (stored: StoredRule): boolean => {
      if (rows.length === 0) return false;
      const document = shape.document(stored);
      return rows.some(({ at, is }) => {
        const value = valueAt(document, at);
        return value !== undefined && is.some((each) => isEqual(each, value, rule, segmentsOf(at)));
      });
    };
  return {
    isGone: matches(gone),
    isForeign: matches(foreign),
    whenDeleted: (definition) => {
      const [value] = mark?.is ?? [];
      if (mark === undefined || value === undefined) return undefined;
      const marked = withValueAt(definition, mark.at, value);
      return isJsonObject(marked) ? marked : undefined;
    },
  };
}

type Rows = Contract["rule"]["gone"];
