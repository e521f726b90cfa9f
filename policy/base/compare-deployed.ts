import {
  asWritten,
  canonical,
  differences,
  type Json,
  type Path,
  type Pointer,
  pointerOf,
  valueAt,
  withValueAt,
} from "../../sdk/json/index.ts";
import type { AnalyzedRule } from "./analyzed-rule.ts";
import type { Baseline, DeployedRule } from "./baseline.ts";

/**
 * Returns the places where a rule differs from the deployed one, as far as both are known; none where it does not.
 * Of a secret that cannot be read, only its presence is known.
 */
export function changedPlaces(declared: AnalyzedRule, deployed: DeployedRule): Pointer[] {
  const hidden = [...declared.unknownPaths, ...deployed.sealed];
  const isUnknown = (pointer: Pointer): boolean => declared.unknownPaths.some((path) => pointerOf(path) === pointer);
  const gone = deployed.sealed
    .map(pointerOf)
    .filter((pointer) => valueAt(declared.definition, pointer) === undefined && !isUnknown(pointer));
  const changed = differences(blanked(deployed.definition, hidden), blanked(declared.definition, hidden), asWritten);
  return [...gone, ...changed.map(({ path }) => pointerOf(path))];
}

/** Returns a definition with null in places that are not compared. */
function blanked(definition: Json, places: readonly Path[]): Json {
  return places.reduce<Json>((value, path) => withValueAt(value, pointerOf(path), null), definition);
}

/**
 * Finds the deployed rules that the stack declares no more. One counts as declared when a rule of its connection has its resource
 * and key; else its key; else its resource and definition, for a set renames that one; else, where `naturalKey` is
 * given, its value there. Each declared rule stands for one. Of a resource whose rules are not known yet none is
 * missing for sure.
 */
export function removedRules(
  { rules }: Baseline,
  declared: readonly AnalyzedRule[],
  naturalKey: Pointer | null,
): readonly DeployedRule[] {
  const unknown = declared.filter(({ key }) => key === undefined);
  for (const rule of unknown) rule.isUnknown("");
  const open = new Set(unknown.map(({ resource }) => resource.name));
  const known = declared.filter(({ key }) => key !== undefined);
  const identities: ((rule: Identified) => string | undefined)[] = [
    ({ connection, resource, key }) => JSON.stringify([connection, resource, key]),
    ({ connection, key }) => JSON.stringify([connection, key]),
    ({ connection, resource, definition }) => JSON.stringify([connection, resource, canonical(definition, asWritten)]),
    ({ connection, definition }) => {
      const value = naturalKey === null ? undefined : valueAt(definition, naturalKey);
      return value === undefined || value === null ? undefined : `${connection} ${canonical(value, asWritten)}`;
    },
  ];
  let left: readonly DeployedRule[] = rules.filter(({ resource }) => !open.has(resource));
  let free: readonly Identified[] = known.map(({ connection, resource, key = "", definition }) => ({
    connection,
    resource: resource.name,
    key,
    definition,
  }));
  for (const identity of identities) [left, free] = withoutPairs(left, free, identity);
  return left;
}

type Identified = Pick<DeployedRule, "connection" | "resource" | "key" | "definition">;

function withoutPairs(
  deployed: readonly DeployedRule[],
  declared: readonly Identified[],
  identity: (rule: Identified) => string | undefined,
): [left: readonly DeployedRule[], free: readonly Identified[]] {
  const candidates = Map.groupBy(declared, identity);
  candidates.delete(undefined);
  const taken = new Set<Identified>();
  const left = deployed.filter((rule) => {
    const partner = candidates.get(identity(rule))?.pop();
    if (partner !== undefined) taken.add(partner);
    return partner === undefined;
  });
  return [left, declared.filter((rule) => !taken.has(rule))];
}
