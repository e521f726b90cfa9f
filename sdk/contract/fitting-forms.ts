import {
  type CompareOptions,
  differences,
  isJsonArray,
  type Json,
  type JsonObject,
  type Path,
  type Pointer,
  pathOf,
  pointerOf,
  project,
  valueAt,
} from "../json/index.ts";
import type { FormName, NormalForm } from "../json/normal-form.ts";
import type { Contract } from "./schema.ts";

/** What the contract could say so that a rule which the service keeps otherwise is as declared. */
interface Fitting {
  /** Entries of `rule.forms`, as YAML has them. */
  readonly forms: readonly string[];
  /** Pointers for `rule.unordered`, as YAML has them. */
  readonly unordered: readonly Pointer[];
  /** Paths of fields that the service does not show, and that may have their defaults there. */
  readonly missing: readonly string[];
  /** True where a difference is left that none of these explains. */
  readonly isPart: boolean;
}

/** Differences that are looked into. */
const most = 20;

const tried: readonly (readonly FormName[])[] = [
  ["trimmed"],
  ["decimal"],
  ["dateTime"],
  ["lower"],
  ["upper"],
  ["trimmed", "lower"],
  ["trimmed", "upper"],
  ["empty"],
];

/** Looks for the normal forms that fit a live rule and its definition. Values are not told: any of them may be secret. */
export function fittingForms(live: JsonObject, definition: JsonObject, { rule }: Contract): Fitting {
  const forms: NormalForm[] = [];
  const unordered: Pointer[] = [];
  const missing: string[] = [];
  const by = (more: readonly NormalForm[] = [], arrays: readonly Pointer[] = []): CompareOptions => ({
    unordered: [...rule.unordered, ...unordered, ...arrays],
    forms: [...rule.forms, ...forms, ...more],
    writeOnly: rule.writeOnly,
  });
  const left = (options: CompareOptions): string[] =>
    differences(project(live, definition, options), definition, options).map(({ path }) => pointerOf(path));
  const found = differences(project(live, definition, by()), definition, by());
  let isPart = found.length > most;
  for (const { path, kind, before: kept } of found.slice(0, most)) {
    const pointer = pointerOf(path);
    const before = left(by());
    if (!before.includes(pointer)) continue;
    const fits = (options: CompareOptions, within = pointer): boolean => {
      const after = left(options);
      return after.every((each) => before.includes(each) && !`${each}/`.startsWith(`${within}/`));
    };
    const at = anyElement(path);
    const value = tried
      .filter((names) => isTold(names, kept))
      .map((names) => names.map((is) => ({ at, is })))
      .find((entries) => kind === "update" && fits(by(entries)));
    const arrays = arraysAbove(path, definition);
    const once = arrays
      .map((array) => ({ array, entry: { at: anyElement(array), is: "distinct" as const } }))
      .find(({ array, entry }) => fits(by([entry]), pointerOf(array)))?.entry;
    const mixed = arrays.find((array) => fits(by([], [anyElement(array)]), pointerOf(array)));
    if (value !== undefined) forms.push(...value);
    else if (once !== undefined) forms.push(once);
    else if (mixed !== undefined) unordered.push(anyElement(mixed));
    else if (kind === "add" && typeof path.at(-1) === "string") missing.push(pathOf(path));
    else isPart = true;
  }
  return {
    forms: forms.map(({ at, is }) => `{ at: ${asYaml(at)}, is: ${is} }`),
    unordered: unordered.map(asYaml),
    missing,
    isPart,
  };
}

/** Decides, of two forms that fit, which is the one that the service has. */
function isTold(names: readonly FormName[], kept: Json | undefined): boolean {
  return typeof kept !== "string" || !names.includes("lower") || kept === kept.toLowerCase();
}

function asYaml(pointer: Pointer): string {
  return /^[\w/*.~-]+$/.test(pointer) ? pointer : JSON.stringify(pointer);
}

function anyElement(path: Path): Pointer {
  return pointerOf(path.map((key) => (typeof key === "number" ? "*" : key)));
}

/** Returns the arrays in which a path lies, the innermost first. */
function arraysAbove(path: Path, definition: JsonObject): Path[] {
  return path
    .flatMap((key, index) => {
      const above = path.slice(0, index);
      return typeof key === "number" && isJsonArray(valueAt(definition, pointerOf(above))) ? [above] : [];
    })
    .reverse();
}
