import { fewOf, MerchantRulesError, shortened } from "../errors.ts";
import {
  type CompareOptions,
  differences,
  differsUnseen,
  field,
  fieldsLackingIn,
  fieldsShown,
  isEqual,
  isJsonObject,
  type Json,
  type JsonObject,
  laidOver,
  type Pointer,
  pointerOf,
  project,
  valueAt,
  withoutValueAt,
  withoutWriteOnly,
} from "../json/index.ts";

/**
 * Refuses a response that has no field of the rule as it is known: whatever its status, it is not that rule. Taken for
 * drift, it would have every field written again; merged into an update, its own fields would be sent.
 * @throws MerchantRulesError RESPONSE_INVALID
 */
export function demandOwnFields(
  answered: JsonObject,
  known: JsonObject,
  by: CompareOptions,
  { ruleId, label }: { readonly ruleId: string; readonly label: string | undefined },
): void {
  const fields = fieldsShown(known, by);
  // Services drop nulls.
  const isAnyNull = Object.values(known).includes(null);
  if (fields.length === 0 || isAnyNull || fields.some((key) => Object.hasOwn(answered, key))) return;
  const reason = "the service's answer has none of the fields that are declared";
  throw new MerchantRulesError("RESPONSE_INVALID", reason, {
    attempted: `read rule ${label ?? ruleId}`,
    advice:
      "check rule.envelope and the path of operations.get in the contract: the answer is not taken for this rule. If the rule has really lost all of them, delete it at the service, so that it is made again",
  });
}

/** Returns the likeliest advice after an update was refused: one that sends the live rule back also sends what the service alone sets. */
export function adviceOnFields(sent: JsonObject, declared: JsonObject): string | undefined {
  const undeclared = fieldsLackingIn(declared, sent).map(({ path }) => shortened(pointerOf(path), 60));
  if (undeclared.length === 0) return undefined;
  return `the update also sends fields that the service has and the program does not declare (${fewOf(undeclared, 12)}): name those that the service alone sets in operations.update.omit of the contract, and in rule.readOnly`;
}

/**
 * Returns the body that an update sends; undefined when the live rule is as the definition says already, and that has no
 * write-only value. Declared ones are always sent, and never what a reading shows in their place.
 * @param omit places of the live rule that are not sent back, unless they are declared
 * @param former the definition before: what it has and the new one has not is not sent back by `merged` either
 */
export function updateBody(
  definition: JsonObject,
  live: JsonObject,
  { body, omit, former = {} }: UpdateParts,
  by: CompareOptions,
): JsonObject | undefined {
  const seen = project(live, definition, by);
  const gone = body === "merged" ? goneFrom(live, former, definition, by) : [];
  if (gone.length === 0 && isEqual(seen, definition, by) && !differsUnseen({}, definition, by)) return undefined;
  const merged = laidOver([...omit, ...gone].reduce(withoutValueAt, withoutWriteOnly(live, by)), definition);
  if (body === "merged") return merged;
  const changed = Object.entries(definition).filter(([key, value]) => {
    const before = isJsonObject(seen) ? field(seen, key) : undefined;
    return before === undefined || !isEqual(before, value, by, [key]) || differsUnseen({}, { [key]: value }, by);
  });
  return Object.fromEntries(changed.map(([key, value]) => [key, field(merged, key) ?? value]));
}

interface UpdateParts {
  readonly body: "changes" | "merged";
  readonly omit: readonly Pointer[];
  readonly former?: JsonObject | undefined;
}

/** Returns the places in a live rule of what was declared before and is no more. Arrays are sent as they are declared. */
function goneFrom(live: JsonObject, former: JsonObject, definition: JsonObject, by: CompareOptions): Pointer[] {
  return differences(former, definition, by).flatMap(({ kind, path, before }) => {
    const isOwn = kind === "delete" && path.every((segment) => typeof segment === "string");
    return isOwn ? placesOf(before, valueAt(live, pointerOf(path)), pointerOf(path)) : [];
  });
}

/** Returns the place of a value; where the live one has more than was declared, those of what was. */
function placesOf(before: Json | undefined, live: Json | undefined, at: Pointer): Pointer[] {
  if (live === undefined) return [];
  if (!isJsonObject(before) || !isJsonObject(live) || fieldsLackingIn(before, live).length === 0) return [at];
  return Object.entries(before).flatMap(([key, child]) =>
    placesOf(child, field(live, key), `${at}${pointerOf([key])}`),
  );
}
