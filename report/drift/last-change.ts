import type { Contract } from "../../sdk/contract/index.ts";
import { defined, type JsonObject, numberText, valueAt } from "../../sdk/json/index.ts";

/** Who changed a rule last, and when, in the service's own words. What the contract does not say is absent. */
export interface LastChange {
  readonly changedBy?: string;
  readonly changedAt?: string;
}

/** Returns the last change of a live rule, where the contract says which fields hold it (`rule.changedBy`, `rule.changedAt`). */
export function lastChangeIn(rule: JsonObject, { rule: { changedBy, changedAt } }: Contract): LastChange {
  const at = (pointer: string | null): string | undefined => {
    const value = pointer === null ? undefined : valueAt(rule, pointer);
    return typeof value === "string" ? value : numberText(value);
  };
  return defined({ changedBy: at(changedBy), changedAt: at(changedAt) });
}
