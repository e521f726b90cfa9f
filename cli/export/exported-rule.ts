import type { JsonObject, Path } from "../../sdk/json/index.ts";

/** A rule at the service, as it is to be declared. */
export interface ExportedRule {
  /** Its key in a set, its resource's name, its file's name. */
  readonly key: string;
  readonly ruleId: string;
  /** The rule as the service has it, without what the service computes; its secrets are in it. */
  readonly definition: JsonObject;
  /** The paths of secrets in the definition. */
  readonly secrets: readonly Path[];
}
