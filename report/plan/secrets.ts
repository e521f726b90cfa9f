import { unknownValue } from "../../provider/host/wire.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import {
  isJsonObject,
  type Json,
  type JsonObject,
  mapJson,
  type Path,
  pointerOf,
  valueAt,
} from "../../sdk/json/index.ts";
import { pathIn } from "../../stack/values/path.ts";
import { knownAfterUp } from "../model/content.ts";
import { isWithin } from "../state/state-resource.ts";
import { type ChangedPath, mask } from "./preview.ts";

/** The text in the place of a secret that the engine calls changed. */
export const changedMask = "[secret] (changed)";

/** The text in the place of a secret that was edited by hand. */
export const editedMask = "[secret] (edited)";

export function isMasked(value: Json | undefined): boolean {
  return value === mask || value === changedMask || value === editedMask;
}

/** Returns a value as a report shows it: in words what is not known yet, and `[secret]` for every mask. */
export function asShown(value: Json): Json {
  return mapJson(value, (each) => {
    if (each === unknownValue) return knownAfterUp;
    return isMasked(each) ? mask : undefined;
  });
}

/**
 * The paths of a resource that the engine calls changed. It compared the secrets themselves, so they tell of a secret,
 * which is masked on both sides, whether it changes.
 */
export class ChangedPaths {
  readonly #field: string;
  readonly #changes: readonly Change[];
  /** The same by the key in their paths: a set has thousands of rules, and each is asked for by itself. */
  readonly #byKey = new Map<Path[number] | undefined, Change[]>();
  /** True where the engine said anything at all. */
  readonly areKnown: boolean;

  /** @param field the input that holds the definitions; the paths are in the engine's spelling */
  constructor(field: string, changes: readonly ChangedPath[]) {
    this.#field = field;
    this.areKnown = changes.length > 0;
    this.#changes = changes
      .map(({ path, kind }) => ({ path: pathIn(path) ?? [], kind }))
      .filter(({ path: [first] }) => first === field);
    for (const change of this.#changes) getOrMake(this.#byKey, change.path[1], () => []).push(change);
  }

  /** Decides whether something of a rule changes. */
  isChanged(key: string, isRule: boolean): boolean {
    return this.#of(key, isRule).some(touches(this.#start(key, isRule)));
  }

  /** Returns the changes inside a value of a rule, their paths from the rule's definition: a mask may hide a whole array. */
  within(key: string, isRule: boolean, path: Path): { path: Path; kind: ChangedPath["kind"] }[] {
    const start = this.#start(key, isRule);
    const outer = [...start, ...path];
    return this.#of(key, isRule)
      .filter(({ path: at }) => at.length > outer.length && isWithin(at, outer))
      .map(({ path: at, kind }) => ({ path: at.slice(start.length), kind }));
  }

  /** Returns the declared definition, in which changed secrets have a mask of their own. */
  marked(before: JsonObject, after: JsonObject, key: string, isRule: boolean): JsonObject {
    const start = this.#start(key, isRule);
    const isMaskedBefore = (path: Path): boolean => valueAt(before, pointerOf(path.slice(start.length))) === mask;
    const changes = this.#of(key, isRule);
    const marked = mapJson(
      after,
      (value, path) =>
        value === mask && isMaskedBefore(path) && changes.some(touches(path)) ? changedMask : undefined,
      start,
    );
    return isJsonObject(marked) ? marked : after;
  }

  #start(key: string, isRule: boolean): Path {
    return isRule ? [this.#field] : [this.#field, key];
  }

  /** Returns the changes that can be of a rule: those of its key, and those of all rules. */
  #of(key: string, isRule: boolean): readonly Change[] {
    if (isRule) return this.#changes;
    return [...(this.#byKey.get(undefined) ?? []), ...(this.#byKey.get(key) ?? [])];
  }
}

interface Change {
  readonly path: Path;
  readonly kind: ChangedPath["kind"];
}

/** Returns the test for a change whose path is this one, leads to it, or lies inside it. */
function touches(path: Path): (change: Change) => boolean {
  return ({ path: changed }) => (changed.length < path.length ? isWithin(path, changed) : isWithin(changed, path));
}
