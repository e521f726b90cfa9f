import { definitionOf, hidden, hiddenOther, isJsonObject, type Json } from "../../../sdk/json/index.ts";
import { formatPath, type PropertyPath, parsePath, valueAt } from "../../../stack/values/path.ts";
import { type PropertyMap, type PropertyValue, Secret } from "../../../stack/values/value.ts";
import { type DetailedDiff, differences } from "../deploy/property-diff.ts";
import { formatValue, printable, providerKey } from "./printable.ts";

/** One line beneath a step: what changed where. */
export interface ChangedPath {
  readonly symbol: "+" | "-" | "~";
  readonly text: string;
}

const maxShownLength = 160;

/** Returns the paths that change, with the values before and after. Where it is not said which they are, all that differ. */
export function changedPaths(old: PropertyMap, now: PropertyMap, said: DetailedDiff | null): ChangedPath[] {
  const found: { text: string; path: PropertyPath; kind: string }[] =
    said === null
      ? differences(old, now).map(({ path, kind }) => ({ text: formatPath(path), path, kind }))
      : Object.entries(said).map(([text, { kind }]) => ({ text, path: parsePath(text), kind }));
  const shown = found.filter(({ path }) => !isInternal(path[0]));
  if (shown.length === 0 && found.some(({ path }) => path[0] === providerKey))
    return [{ symbol: "~", text: "the provider's code" }];
  return shown
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .flatMap(({ text, path, kind }) => linesOfChange(text, kind, valueAt(old, path), valueAt(now, path)));
}

/** Returns the lines of a change. From one string of JSON to another it is shown path by path inside them, as the CLI does. */
function linesOfChange(
  path: string,
  kind: string,
  old: PropertyValue | undefined,
  now: PropertyValue | undefined,
): ChangedPath[] {
  const [before, after] = [objectIn(old), objectIn(now)];
  const inside = before === undefined || after === undefined ? [] : changedPaths(before, after, null);
  if (inside.length === 0) return [lineOf(path, kind, old, now)];
  return inside.map(({ symbol, text }) => ({ symbol, text: `${path}: (json) ${text}` }));
}

function objectIn(value: PropertyValue | undefined): PropertyMap | undefined {
  const definition = typeof value === "string" ? definitionOf(value) : undefined;
  return isJsonObject(definition) ? definition : undefined;
}

function lineOf(
  path: string,
  kind: string,
  old: PropertyValue | undefined,
  now: PropertyValue | undefined,
): ChangedPath {
  if (kind.startsWith("add")) return { symbol: "+", text: `${path}: ${formatValue(now, maxShownLength)}` };
  if (kind.startsWith("delete")) return { symbol: "-", text: path };
  const after = formatValue(now, maxShownLength);
  // A value that becomes a secret with this run is one already.
  const before = after === hidden ? hidden : formatValue(old, maxShownLength);
  const isOther = old instanceof Secret && after === hidden;
  return { symbol: "~", text: `${path}: ${before} => ${isOther ? hiddenOther : after}` };
}

/** Decides of a property's key whether it is internal: as for the CLI, one that begins with __. */
function isInternal(key: string | number | undefined): boolean {
  return String(key).startsWith("__");
}

/** Returns every property of a resource, in full, for what is created or deleted. */
export function allProperties(map: PropertyMap, symbol: "+" | "-"): ChangedPath[] {
  return Object.entries(map)
    .filter(([key]) => !isInternal(key))
    .flatMap(([key, value]) => linesOf(formatPath([key]), printable(value), ""))
    .map((text) => ({ symbol, text }));
}

const lineLength = 100;

/** Writes a value on one line; where that gets too long, one line for each of its parts. */
function linesOf(name: string, value: Json, indent: string): string[] {
  const line = `${indent}${name}: ${formatValue(value)}`;
  if (line.length <= lineLength || typeof value !== "object" || value === null) return [line];
  const parts: [string, Json][] = Array.isArray(value)
    ? value.map((part, at) => [`[${at}]`, part])
    : Object.entries(value).map(([key, part]) => [formatPath([key]), part]);
  return [`${indent}${name}:`, ...parts.flatMap(([key, part]) => linesOf(key, part, `${indent}  `))];
}
