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

/** What is shorter is found everywhere, and is no secret that could be kept. */
const shortestHidden = 4;

/** From this length on a text is hidden within longer words, too. */
const shortestWithinWords = 8;

/**
 * The values of a definition that are not printed where the service repeats them; in their place stands where they
 * stand in the definition, which tells the reader as much. A definition may hold Pulumi secrets, and nothing that
 * reaches a provider says which of its fields they are: so every text of 4 characters or more and every number of 4
 * characters or more is hidden, but for the natural key, by which rules are talked about. What the contract calls
 * secret (`rule.secret`) is hidden however short it is, numbers from two digits on; single digits and truth values,
 * which tell nothing, never.
 */
export function hiddenIn(definition: JsonObject, rule: Pick<Contract["rule"], "secret" | "naturalKey">): Hidden[] {
  const secrets = rule.secret.flatMap((pattern) => below(definition, [], segmentsOf(pattern)));
  const naturalKey = rule.naturalKey === null ? undefined : valueAt(definition, rule.naturalKey);
  const name = typeof naturalKey === "number" ? String(naturalKey) : naturalKey;
  return [
    ...secrets
      .flatMap(({ value, place }) => leavesOf(value, place))
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
  readonly place: readonly (string | number)[];
}

function hidden({ text, isText, place }: Leaf): Hidden {
  const mark = `[${place.reduce<string>(joinPath, "definition")}]`;
  return { text, mark, isWord: !isText || text.length < shortestWithinWords };
}

function isTelling({ text, isText }: Leaf): boolean {
  return isText || /\d\D*\d/.test(text);
}

type Path = Leaf["place"];

function below(value: Json, place: Path, [segment, ...rest]: readonly string[]): { value: Json; place: Path }[] {
  if (segment === undefined) return [{ value, place }];
  return childrenOf(value).flatMap(([key, child]) =>
    segment === "*" || segment === String(key) ? below(child, [...place, key], rest) : [],
  );
}

function leavesOf(value: Json, place: Path): Leaf[] {
  if (typeof value === "string") return [{ text: value, isText: true, place }];
  if (typeof value === "number") return [{ text: String(value), isText: false, place }];
  return childrenOf(value).flatMap(([key, child]) => leavesOf(child, [...place, key]));
}

function childrenOf(value: Json): (readonly [string | number, Json])[] {
  if (isJsonArray(value)) return value.map((child, index) => [index, child] as const);
  return isJsonObject(value) ? Object.entries(value) : [];
}
