import type { Contract } from "../contract/schema.ts";
import {
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  joinPath,
  segmentsOf,
  valueAt,
} from "../rules/index.ts";
import type { Hidden } from "./redact.ts";

/** A shorter text is found everywhere, and could not be kept secret. */
const shortestHidden = 4;

/** From this length on a text is hidden within longer words, too. */
const shortestWithinWords = 8;

/**
 * The values of a definition that are not printed when the service repeats them. Their path in the definition is
 * printed instead. A definition may hold secrets, and nothing says which of its fields do. So every text and number of
 * 4 characters or more is hidden, but for the natural key, by which people know a rule. The fields that the contract
 * calls secret (`rule.secret`) are hidden however short they are, numbers from two digits on. Single digits and truth
 * values are never hidden: they tell nothing.
 */
export function hiddenIn(definition: JsonObject, rule: Pick<Contract["rule"], "secret" | "naturalKey">): Hidden[] {
  const secrets = rule.secret.flatMap((pattern) => below(definition, [], segmentsOf(pattern)));
  const naturalKey = rule.naturalKey === null ? undefined : valueAt(definition, rule.naturalKey);
  const name = typeof naturalKey === "number" ? String(naturalKey) : naturalKey;
  return [
    ...secrets
      .flatMap(({ value, path }) => leavesOf(value, path))
      .filter(isTelling)
      .map(hidden),
    ...leavesOf(definition, [])
      .filter(({ text }) => text.length >= shortestHidden && text !== name)
      .map(hidden),
  ];
}

interface Leaf {
  readonly text: string;
  readonly isText: boolean;
  readonly path: readonly (string | number)[];
}

function hidden({ text, isText, path }: Leaf): Hidden {
  const mark = `[${path.reduce<string>(joinPath, "definition")}]`;
  return { text, mark, isWord: !isText || text.length < shortestWithinWords };
}

function isTelling({ text, isText }: Leaf): boolean {
  return isText || /\d\D*\d/.test(text);
}

type Path = Leaf["path"];

function below(value: Json, path: Path, [segment, ...rest]: readonly string[]): { value: Json; path: Path }[] {
  if (segment === undefined) return [{ value, path }];
  return childrenOf(value).flatMap(([key, child]) =>
    segment === "*" || segment === String(key) ? below(child, [...path, key], rest) : [],
  );
}

function leavesOf(value: Json, path: Path): Leaf[] {
  if (typeof value === "string") return [{ text: value, isText: true, path }];
  if (typeof value === "number") return [{ text: String(value), isText: false, path }];
  return childrenOf(value).flatMap(([key, child]) => leavesOf(child, [...path, key]));
}

function childrenOf(value: Json): (readonly [string | number, Json])[] {
  if (isJsonArray(value)) return value.map((child, index) => [index, child] as const);
  return isJsonObject(value) ? Object.entries(value) : [];
}
