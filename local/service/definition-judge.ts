import { type Contract, definitionChecker } from "../../sdk/contract/index.ts";
import {
  differences,
  isJsonObject,
  type JsonObject,
  pathOf,
  pointerOf,
  project,
  segmentsOf,
  touches,
  valueAt,
  withoutValueAt,
} from "../../sdk/json/index.ts";
import { Refusal, type RefusalDetail } from "./refusal.ts";
import type { RuleShape } from "./rule-shape.ts";

/** Judges the definitions that clients send. The owner's mark stands in a rule, but in no definition: it is never judged. */
export function definitionJudge({ rule }: Contract, shape: RuleShape) {
  const { schema, owner, immutable } = rule;
  const checker = schema === null ? undefined : definitionChecker(schema);
  const check = (definition: JsonObject): RefusalDetail[] =>
    (checker?.(definition) ?? []).map(({ path, reason }) => ({ path: pathOf(path), reason }));
  const schemaFaults = (definition: JsonObject): RefusalDetail[] => {
    if (owner === null || valueAt(definition, owner.at) === undefined) return check(definition);
    // An object that holds nothing but the mark may be the definition's, or made for the mark: either may be valid.
    const kept = check(withoutField(definition, owner.at));
    if (kept.length === 0) return kept;
    const dropped = check(withoutValueAt(definition, owner.at));
    return dropped.length < kept.length ? dropped : kept;
  };
  return {
    /** Refuses what the contract's schema does not allow, and what only the service sets. @throws Refusal 422 */
    demandValid: (definition: JsonObject): void => {
      const managed = shape.managedIn(definition).map((pointer) => segmentsOf(pointer).join("."));
      const faults = [
        ...managed.map((path) => ({ path, reason: "only the service sets this" })),
        ...schemaFaults(definition),
      ];
      if (faults.length === 0) return;
      const said = faults.map(({ path, reason }) => `${path === "" ? "the definition" : path} ${reason}`).join("; ");
      throw new Refusal(422, "VALIDATION_FAILED", `the definition is not valid: ${said}`, { details: faults });
    },
    /** Refuses a change of an immutable field. Fields that `after` leaves out do not count, as in a client's comparison. @throws Refusal 422 */
    demandMutable: (before: JsonObject, after: JsonObject): void => {
      if (immutable.length === 0) return;
      const by = { ...rule, writeOnly: [] };
      const details = differences(project(before, after, by), after, by)
        .filter((difference) => immutable.some((pattern) => touches(difference, pattern, by)))
        .map(({ path }) => ({ path: path.join("."), reason: "cannot be changed" }));
      if (details.length === 0) return;
      const paths = details.map(({ path }) => path).join(", ");
      throw new Refusal(422, "VALIDATION_FAILED", `${paths} cannot be changed; make a new rule`, { details });
    },
  };
}

/** Returns an object without one field; the objects around the field stay, even when they are empty then. */
function withoutField(object: JsonObject, pointer: string): JsonObject {
  const [first, ...rest] = segmentsOf(pointer);
  if (first === undefined || !Object.hasOwn(object, first)) return object;
  const below = object[first];
  if (rest.length > 0)
    return isJsonObject(below) ? { ...object, [first]: withoutField(below, pointerOf(rest)) } : object;
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== first));
}
