import type { MerchantRulesError } from "../../sdk/errors.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import type { Place } from "./place.ts";
import type { KnownRule } from "./plan.ts";
import type { Resource } from "./resource.ts";

/** One rule of a resource, and where it is. */
export interface Task {
  readonly key: string;
  readonly of: Resource;
  readonly place: Place;
}

/** A rule was written, and something is wrong with what is there now: the state must know it as it is. */
export class Written extends Error {
  readonly known: KnownRule;
  readonly error: MerchantRulesError;

  constructor(known: KnownRule, error: MerchantRulesError) {
    super(error.message);
    this.known = known;
    this.error = error;
  }
}

export function naming(known: { definition: JsonObject }, { key, of }: Task): { label?: string; known: JsonObject } {
  const label = of.label(key);
  return { known: known.definition, ...(label === undefined ? {} : { label }) };
}
