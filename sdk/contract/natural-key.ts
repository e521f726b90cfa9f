import {
  isAtOrBelow,
  type Json,
  type JsonObject,
  numberText,
  type Pointer,
  pointerOf,
  segmentsOf,
  valueAt,
} from "../json/index.ts";
import type { Contract } from "./schema.ts";

/** Decides whether the natural key is, or is part of, what the contract calls secret. */
export function isNaturalKeySecret({ rule: { naturalKey, secret } }: Contract): boolean {
  return naturalKey !== null && secret.some((pattern) => isAtOrBelow(segmentsOf(naturalKey), pattern));
}

/** Returns a rule's natural key as text; undefined where the contract has none, or it is neither text nor number, or secret. */
export function naturalKeyText(definition: Json | undefined, contract: Contract): string | undefined {
  const { naturalKey } = contract.rule;
  if (naturalKey === null || isNaturalKeySecret(contract)) return undefined;
  const value = valueAt(definition, naturalKey);
  return typeof value === "string" ? value : numberText(value);
}

/**
 * Returns the contract's natural key, where a definition has nothing there by which its rule is found again. What the service sets,
 * no program declares.
 * @param isUnknown tells a value that is not known yet, which may be one. Default: every value is known
 */
export function lackedKey(
  definition: JsonObject,
  { rule: { naturalKey, readOnly } }: Contract,
  isUnknown: (value: Json | undefined) => boolean = () => false,
): Pointer | undefined {
  if (naturalKey === null) return undefined;
  const segments = segmentsOf(naturalKey);
  if (readOnly.some((pattern) => isAtOrBelow(segments, pattern))) return undefined;
  const onTheWay = segments.map((_, index) => valueAt(definition, pointerOf(segments.slice(0, index + 1))));
  return !onTheWay.some(isUnknown) && (valueAt(definition, naturalKey) ?? "") === "" ? naturalKey : undefined;
}
