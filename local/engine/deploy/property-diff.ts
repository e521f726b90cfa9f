import { formatPath, type PropertyPath, parsePath, pathContains, pathIn } from "../../../stack/values/path.ts";
import {
  equal,
  isArray,
  isMap,
  mapValues,
  type PropertyMap,
  type PropertyValue,
  property,
} from "../../../stack/values/value.ts";

/** The words of the CLI's detailed diff. */
export type DiffKind = "add" | "add-replace" | "delete" | "delete-replace" | "update" | "update-replace";

export interface PropertyDiff {
  readonly kind: DiffKind;
  /** Old and new inputs were compared, not old outputs and new inputs: a dynamic provider names no paths itself. */
  readonly inputDiff: true;
}

/** The paths that differ, as the CLI writes them. */
export type DetailedDiff = { readonly [path: string]: PropertyDiff };

/** A change that a resource's new inputs would make. */
export interface Difference {
  readonly changed: boolean;
  /** Top-level keys that require a replacement. */
  readonly replaceKeys: readonly string[];
  /** Top-level keys that changed, where known. */
  readonly changedKeys: readonly string[];
  readonly deleteBeforeReplace: boolean;
  /** Null where the provider says that something changed, but not what. */
  readonly detailedDiff: DetailedDiff | null;
}

/** Returns a replacement that something else than the provider's comparison requires. */
export function replacementFor(replaceKeys: readonly string[]): Difference {
  return { changed: true, replaceKeys, changedKeys: [], deleteBeforeReplace: false, detailedDiff: null };
}

/** One path that differs between two property maps. */
export interface PathDifference {
  readonly path: PropertyPath;
  readonly kind: "add" | "delete" | "update";
  readonly old: PropertyValue | undefined;
  readonly new: PropertyValue | undefined;
}

/** Returns the paths at which two property maps differ, deepest possible, keys in order. Null is the same as absent. */
export function differences(old: PropertyMap, now: PropertyMap, path: PropertyPath = []): PathDifference[] {
  const keys = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...keys]
    .sort()
    .flatMap((key) => diffValues(property(old, key) ?? null, property(now, key) ?? null, [...path, key]));
}

function diffValues(old: PropertyValue, now: PropertyValue, path: PropertyPath): PathDifference[] {
  if (isMap(old) && isMap(now)) return differences(old, now, path);
  if (isArray(old) && isArray(now)) {
    return Array.from({ length: Math.max(old.length, now.length) }, (_, i): PathDifference[] => {
      const at = [...path, i];
      if (i >= old.length) return [{ path: at, kind: "add", old: undefined, new: now[i] }];
      if (i >= now.length) return [{ path: at, kind: "delete", old: old[i], new: undefined }];
      return diffValues(old[i] ?? null, now[i] ?? null, at);
    }).flat();
  }
  if (equal(old, now)) return [];
  if (old === null) return [{ path, kind: "add", old: undefined, new: now }];
  if (now === null) return [{ path, kind: "delete", old, new: undefined }];
  return [{ path, kind: "update", old, new: now }];
}

/** Writes differences of inputs as a detailed diff. */
export function detailedDiffOf(found: readonly PathDifference[]): DetailedDiff {
  return Object.fromEntries(found.map(({ path, kind }) => [formatPath(path), { kind, inputDiff: true }]));
}

/** Turns a diff round: a refresh shows what happened to the resource, not what an update would do. */
export function invert(diff: DetailedDiff | null): DetailedDiff | null {
  // A resource that is only read requires no replacement.
  const opposite: Partial<Record<DiffKind, DiffKind>> = { add: "delete", delete: "add" };
  return diff && mapValues(diff, ({ kind }) => ({ kind: opposite[kind] ?? kind, inputDiff: true }));
}

export function requiresReplace(difference: Difference): boolean {
  return (
    difference.replaceKeys.length > 0 ||
    Object.values(difference.detailedDiff ?? {}).some(({ kind }) => kind.endsWith("-replace"))
  );
}

/**
 * Applies the `replaceOnChanges` option: a change at or below one of its paths replaces. `#initerror` names init errors.
 * Fails on a changed path that has no text, that of an empty key.
 */
export function applyReplaceOnChanges(
  difference: Difference,
  options: readonly string[],
  hasInitErrors: boolean,
): Difference {
  if (!difference.changed && !hasInitErrors) return difference;
  const paths = options.map(parsePath);
  const hit = (path: PropertyPath | undefined): boolean =>
    path !== undefined && paths.some((option) => pathContains(option, path));
  const replaceKeys = new Set([...difference.replaceKeys, ...difference.changedKeys.filter((key) => hit(pathIn(key)))]);
  const detailedDiff =
    difference.detailedDiff &&
    mapValues(difference.detailedDiff, (diff, text) =>
      hit(parsePath(text)) ? { ...diff, kind: replaceKind(diff.kind) } : diff,
    );
  let { changed } = difference;
  if (hasInitErrors && hit(["#initerror"])) {
    replaceKeys.add("#initerror");
    changed = true;
  }
  return { ...difference, changed, replaceKeys: [...replaceKeys], detailedDiff };
}

function replaceKind(kind: DiffKind): DiffKind {
  if (kind === "add") return "add-replace";
  if (kind === "delete") return "delete-replace";
  return kind === "update" ? "update-replace" : kind;
}
