import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../rules.ts";

export const rulesOf = (count: number): Record<string, JsonObject> =>
  Object.fromEntries(Array.from({ length: count }, (_, k) => [`r${k}`, rule(k)]));
export const stateOf = (count: number): JsonObject => ({
  rules: rulesOf(count),
  ruleIds: Object.fromEntries(Array.from({ length: count }, (_, k) => [`r${k}`, `id-${k}`])),
});
