import { type JsonObject, type Pointer, withoutValueAt } from "../json/index.ts";
import type { Contract } from "./schema.ts";

type Spoken = { readonly rule: Pick<Contract["rule"], "transitions"> };

/** Returns the fields that the service changes by requests of their own (contract `rule.transitions`). */
export function drivenFields({ rule }: Spoken): Pointer[] {
  return [...new Set(rule.transitions.map(({ at }) => at))];
}

/** Returns a definition without these fields, as create and update send it. */
export function withoutDriven(definition: JsonObject, contract: Spoken): JsonObject {
  return drivenFields(contract).reduce(withoutValueAt, definition);
}
