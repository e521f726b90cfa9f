import type { Step } from "../deploy/step.ts";
import { differences } from "../values/diff.ts";
import { formatPath, type PropertyPath, parsePath, valueAt } from "../values/path.ts";
import type { PropertyMap, PropertyValue } from "../values/value.ts";
import { formatValue, providerKey, withoutProvider } from "./printable.ts";

/** One line beneath a step: what changed where. */
export interface ChangedPath {
  readonly symbol: "+" | "-" | "~";
  readonly text: string;
}

const maxShownLength = 160;

/** The paths that a step changes, with the values before and after. */
export function changedPaths(step: Step): ChangedPath[] {
  const old = step.old?.inputs ?? {};
  const now = step.new?.inputs ?? {};
  const found: { text: string; path: PropertyPath; kind: string }[] =
    step.detailedDiff === null
      ? differences(old, now).map(({ path, kind }) => ({ text: formatPath(path), path, kind }))
      : Object.entries(step.detailedDiff).map(([text, { kind }]) => ({ text, path: parsePath(text), kind }));
  const shown = found.filter(({ path }) => path[0] !== providerKey);
  if (shown.length === 0 && found.length > 0) return [{ symbol: "~", text: "the provider's code" }];
  return shown
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ text, path, kind }) => lineOf(text, kind, valueAt(old, path), valueAt(now, path)));
}

function lineOf(
  path: string,
  kind: string,
  old: PropertyValue | undefined,
  now: PropertyValue | undefined,
): ChangedPath {
  if (kind.startsWith("add")) return { symbol: "+", text: `${path}: ${formatValue(now, maxShownLength)}` };
  if (kind.startsWith("delete")) return { symbol: "-", text: path };
  return { symbol: "~", text: `${path}: ${formatValue(old, maxShownLength)} => ${formatValue(now, maxShownLength)}` };
}

/** Every property of a resource, in full, for what is created or deleted. */
export function allProperties(map: PropertyMap, symbol: "+" | "-"): ChangedPath[] {
  return Object.entries(withoutProvider(map)).map(([key, value]) => ({
    symbol,
    text: `${formatPath([key])}: ${formatValue(value)}`,
  }));
}
