import { type Contract, servicePointers, withoutDriven } from "../../sdk/contract/index.ts";
import { withFields } from "../../sdk/json/added-fields.ts";
import type { Json, JsonObject } from "../../sdk/json/index.ts";
import * as json from "../../sdk/json/index.ts";
import { type Mark, markId, markIn, ownerIn } from "../merchant/mark.ts";
import type { KnownRule } from "./plan.ts";

/** Anything that reaches the service by a contract: a place, or its reader. */
export interface Spoken {
  readonly contract: Contract;
}

/** The natural key's value as a text to compare by; undefined where there is none. */
export function naturalKeyIn(rule: JsonObject, { contract }: Spoken): string | undefined {
  const { naturalKey } = contract.rule;
  return naturalKey === null ? undefined : json.canonicalAt(rule, naturalKey, contract.rule);
}

/** A live rule as far as a definition speaks of it. */
export function seenAs(live: JsonObject, definition: JsonObject, { contract }: Spoken): JsonObject {
  const seen = json.project(live, definition, contract.rule);
  return json.isJsonObject(seen) ? seen : {};
}

/** The definition by which a rule is looked at: as it is known, with what a write of no known outcome may have added. */
export function lookedAtBy({ definition, doubt }: Pick<KnownRule, "definition" | "doubt">): JsonObject {
  return doubt === undefined ? definition : withFields(definition, doubt);
}

/** True of a live rule that is as a definition says, whatever else it has. */
export function isAsDeclared(live: JsonObject, definition: JsonObject, place: Spoken): boolean {
  return json.isEqual(seenAs(live, definition, place), definition, place.contract.rule);
}

/** True of a live rule that is as create and update make it, whatever requests of their own have still to change. */
export function isAsSent(live: JsonObject, definition: JsonObject, place: Spoken): boolean {
  return isAsDeclared(live, withoutDriven(definition, place.contract), place);
}

/** True of a live rule that has all declared fields and the mark as a row knows them. A row in doubt knows them not. */
export function isWholeAsKnown(live: JsonObject, { definition, mark, doubt }: KnownRule, place: Spoken): boolean {
  if (doubt !== undefined || Object.keys(definition).length === 0) return false;
  const found = markIn(live, place.contract);
  return (found && markId(found)) === mark && isAsSent(live, definition, place);
}

/** True of a live rule that is the declared one and has nothing besides. Services drop nulls. */
export function isWhole(rule: JsonObject, definition: JsonObject, place: Spoken): boolean {
  return otherwise(rule, definition, place).length === 0;
}

/** The paths at which a live rule is not the declared one, or has something besides. */
export function pathsNotWhole(rule: JsonObject, definition: JsonObject, place: Spoken): string {
  return listed(otherwise(rule, definition, place).map(({ path }) => json.pathOf(path)));
}

function otherwise(rule: JsonObject, definition: JsonObject, place: Spoken): json.Difference[] {
  const { contract } = place;
  // Of a create that was not finished, requests of their own have not changed what they are to change.
  const [live, whole] = [ownFields(rule, place), definition].map((each) =>
    json.withoutWriteOnly(withoutDriven(each, contract), contract.rule),
  );
  const found = json.differences(live, whole, contract.rule);
  return found.filter(({ kind, after }) => kind !== "add" || after !== null);
}

/** A rule without what the service adds to it: its id, the mark, what it alone sets. */
export function ownFields(rule: JsonObject, { contract }: Spoken): JsonObject {
  const { owner } = contract.rule;
  const isMarked = owner !== null && markIn(rule, contract) !== undefined;
  return [...servicePointers(contract), ...(isMarked ? [owner.at] : [])].reduce(json.withoutValueAt, rule);
}

/** The paths of a rule's own values that are not in what a definition speaks of, and are not null. */
export function undeclaredIn(own: JsonObject, seen: JsonObject, { rule }: Contract): json.Path[] {
  return json
    .differences(own, seen, rule)
    .flatMap(({ kind, path, before = null }) => (kind === "delete" ? leavesOf(before, path) : []));
}

function leavesOf(value: Json, path: json.Path): json.Path[] {
  const isObject = json.isJsonObject(value) && Object.keys(value).length > 0;
  if (!isObject) return value === null ? [] : [path];
  return Object.entries(value).flatMap(([key, child]) => leavesOf(child, [...path, key]));
}

function undeclaredAt(live: JsonObject, definition: JsonObject, place: Spoken): json.Path[] {
  const own = ownFields(live, place);
  return undeclaredIn(own, seenAs(own, definition, place), place.contract);
}

/** What a row remembers of the paths that nobody declares; nothing where the contract does not ask for it. */
export function undeclaredOf(live: JsonObject, definition: JsonObject, place: Spoken): Pick<KnownRule, "undeclared"> {
  if (place.contract.rule.undeclared === "ignore") return {};
  return { undeclared: undeclaredAt(live, definition, place).map(json.pointerOf) };
}

/** The undeclared paths that are new in a live rule since its row was written; none where the row does not know. */
export function addedTo(live: JsonObject, row: KnownRule, place: Spoken): json.Path[] {
  const { undeclared } = row;
  if (undeclared === undefined || place.contract.rule.undeclared === "ignore") return [];
  const added = undeclaredAt(live, row.definition, place).filter((path) => !undeclared.includes(json.pointerOf(path)));
  if (added.length === 0) return [];
  const changed = json.differences(row.definition, seenAs(live, row.definition, place), place.contract.rule);
  // In an array that differs nobody can tell which element is which.
  return added.filter((path) => {
    const index = path.findIndex((segment) => typeof segment === "number");
    const isIn = (at: json.Path): boolean => path.slice(0, index).every((each, k) => at[k] === each);
    return index < 0 || !changed.some(({ path: at }) => isIn(at));
  });
}

/** True of an answer that shows nothing of a rule but its id. */
export function isIdAlone(answered: JsonObject, place: Spoken): boolean {
  return Object.keys(ownFields(answered, place)).length === 0;
}

/** True of a live rule that shows what was declared before and is not any more: the write takes it away. A null is nothing to show. */
export function hasFormerFields(live: JsonObject, before: JsonObject, definition: JsonObject, place: Spoken): boolean {
  const by = place.contract.rule;
  return json.formerFields(live, json.withoutWriteOnly(before, by), definition, by).length > 0;
}

/** The paths at which a live rule differs; values may be secret. */
export function pathsOf(live: Json, definition: JsonObject, place: Spoken): string {
  return pathsBetween(json.project(live, definition, place.contract.rule), definition, place);
}

/** The paths at which what was seen of a rule is not as a definition says. */
export function pathsBetween(seen: Json, definition: JsonObject, { contract }: Spoken): string {
  return listed(json.differences(seen, definition, contract.rule).map(({ path }) => json.pathOf(path)));
}

export function listed(paths: readonly string[]): string {
  return paths.length > 10 ? `${paths.slice(0, 10).join(", ")} and ${paths.length - 10} more` : paths.join(", ");
}

/** The names in a mark, for messages. */
export function whoIs(mark: Mark | undefined): string {
  return mark === undefined ? "another" : JSON.stringify(ownerIn(mark));
}
