import type { Contract, sentByUpdate } from "../contract/index.ts";
import { fewOf, MerchantRulesError, shortened } from "../errors.ts";
import {
  type CompareOptions,
  differsUnseen,
  field,
  fieldsLackingIn,
  fieldsShown,
  formerFields,
  isEqual,
  isInArray,
  isJsonObject,
  type JsonObject,
  laidOver,
  type Path,
  type Pointer,
  pointerOf,
  project,
  withFieldAt,
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

/**
 * Returns the likeliest advice after an update was refused: one that sends the live rule back also sends what the service alone
 * sets, and not every service takes null.
 */
export function adviceOnFields(sent: JsonObject, declared: JsonObject): string | undefined {
  const more = fieldsLackingIn(declared, sent);
  const [nulls = [], undeclared = []] = [true, false].map((isNull) =>
    more.flatMap(({ path, value }) => ((value === null) === isNull ? [shortened(pointerOf(path), 60)] : [])),
  );
  if (undeclared.length > 0)
    return `the update also sends fields that the service has and the program does not declare (${fewOf(undeclared, 12)}): name those that the service alone sets in operations.update.omit of the contract, and in rule.readOnly`;
  if (nulls.length === 0) return undefined;
  return `the update sends null for what is no longer declared (${fewOf(nulls, 12)}): where the service does not take that, correct operations.update.removal in the contract`;
}

/**
 * Returns the body that an update sends; undefined when there is nothing to say: the live rule is as the definition says already,
 * and has nothing that was declared before and is no more. Declared write-only values are always sent, and never what a reading
 * shows in their place.
 * @param live undefined: it was not read, which `declared` alone does without
 */
export function updateBody(
  definition: JsonObject,
  live: JsonObject | undefined,
  { body, omit, removal, former }: UpdateParts,
  by: CompareOptions,
): JsonObject | undefined {
  const gone =
    live === undefined ? formerFields(former, former, definition, by) : goneFrom(live, former, definition, by);
  const places = gone.filter((path) => !isInArray(path)).map(pointerOf);
  const removing = (sent: JsonObject): JsonObject =>
    removal === null ? places.reduce((each, at) => withFieldAt(each, at, null), sent) : sent;
  if (body === "declared" || live === undefined) return removing(definition);
  const seen = project(live, definition, by);
  if (gone.length === 0 && isEqual(seen, definition, by) && !differsUnseen({}, definition, by)) return undefined;
  const kept = [...omit, ...places].reduce(withoutValueAt, withoutWriteOnly(live, by));
  const merged = removing(laidOver(kept, definition));
  if (body === "merged") return merged;
  const isChanged = (key: string): boolean => {
    const [before, value] = [isJsonObject(seen) ? field(seen, key) : undefined, field(definition, key)];
    if (gone.some(([top]) => top === key)) return true;
    if (value === undefined) return false;
    return before === undefined || !isEqual(before, value, by, [key]) || differsUnseen({}, { [key]: value }, by);
  };
  const changed = Object.entries(merged).filter(([key]) => isChanged(key));
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

interface UpdateParts extends Pick<NonNullable<Contract["operations"]["update"]>, "removal"> {
  readonly body: ReturnType<typeof sentByUpdate>;
  /** Places of the live rule that are not sent back, unless they are declared. */
  readonly omit: readonly Pointer[];
  /** The definition before: what it has and the new one has not is removed as `removal` says. */
  readonly former: JsonObject;
}

/** Returns the paths of what is to be removed from a live rule, with the write-only values that no reading shows. */
function goneFrom(live: JsonObject, former: JsonObject, definition: JsonObject, by: CompareOptions): Path[] {
  const unseen = fieldsLackingIn(withoutWriteOnly(former, by), former).reduce<JsonObject>(
    (each, { path, value }) => withFieldAt(each, pointerOf(path), value),
    {},
  );
  return formerFields(laidOver(live, unseen), former, definition, by);
}
