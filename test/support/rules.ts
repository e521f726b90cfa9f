import { type ContractInput, loadPreset } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";

export { othersMarkBy } from "./stack/owners.ts";

const preset = loadPreset("illustrative");

/** The illustrative contract of a service that keeps with each rule whose it is. */
export const marking: ContractInput = { ...preset, rule: { ...preset.rule, owner: { at: "/metadata/managedBy" } } };

/** The rule number k of the workload that this product is measured by. */
export function rule(k: number, changes: JsonObject = {}): JsonObject {
  return {
    name: `rule-${k}`,
    priority: k,
    isActive: true,
    conditions: [{ field: "amount", operator: "gt", value: 10 * k }],
    actions: [{ type: "decline", reason: "limit 1" }],
    ...changes,
  };
}

/** The definitions of so many rules, by key: r0, r1, … */
export function many(count: number): Record<string, JsonObject> {
  return Object.fromEntries(Array.from({ length: count }, (_, k) => [`r${k}`, rule(k)]));
}
