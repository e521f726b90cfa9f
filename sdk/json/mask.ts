import { createHmac, randomBytes } from "node:crypto";
import { type CompareOptions, canonical } from "./canonical.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { mapJson } from "./map-json.ts";
import { isAt, type Pointer } from "./pointer.ts";
import type { Path } from "./walk.ts";

/**
 * The one field of a mask, which stands in a definition in the place of a secret. Its value is a keyed hash of the secret
 * (see `maskOf`), so that two masks are equal exactly when their secrets are; it is empty where the secret is not known
 * here. No report prints it.
 */
export const maskField = "[secret]";

/** The string that is printed in the place of a secret. */
export const hidden = "[secret]";

/** The string that is printed for the second of two secrets that differ. */
export const hiddenOther = "[another secret]";

/** A mask of a secret that is not known here: nobody can tell whether it is equal to another one. */
export const blindMask: JsonObject = { [maskField]: "" };

/** Decides whether a value is a mask, of a known secret or of an unknown one. */
export function isMask(value: Json | undefined): value is JsonObject {
  return isJsonObject(value) && typeof value[maskField] === "string" && Object.keys(value).length === 1;
}

/** Decides whether a value is a mask whose secret is not known here. */
export function isBlind(value: Json | undefined): boolean {
  return isMask(value) && hashIn(value) === "";
}

/** Decides whether half of a text or more are the characters in which a service hides a secret, as in ****1234. */
export function isMaskedText(value: Json): boolean {
  if (typeof value !== "string") return false;
  const characters = [...value];
  const masks = characters.filter((character) => /[*•●∙·○◦▪■█#xX]/u.test(character));
  return characters.length > 0 && masks.length >= characters.length / 2;
}

/** Returns the hash that tells a mask from another one; "" where its secret is not known here. */
export function hashIn(mask: JsonObject): string {
  const { [maskField]: hash } = mask;
  return typeof hash === "string" ? hash : "";
}

/** Returns a copy of a value for print, with `[secret]` in the place of masks. */
export function withoutMasks(value: Json): Json {
  return mapJson(value, (each) => (isMask(each) ? hidden : undefined));
}

/** Made once for each process, and never leaves it: without it a hash tells nothing of its secret. */
const processKey = randomBytes(32);

/** Returns the mask of a secret that is known here. Equal secrets have equal masks. `path`: where it stands in its rule. */
export function maskOf(secret: Json, by: CompareOptions, path: Path = []): JsonObject {
  const hash = createHmac("sha256", processKey).update(canonical(secret, by, path));
  return { [maskField]: hash.digest("base64url") };
}

/**
 * Returns a copy of a value with masks in the place of secrets; null, and what is masked already, stays as it is.
 * @param patterns as `rule.secret` of a contract has them
 */
export function masked(value: Json, patterns: readonly Pointer[], by: CompareOptions): Json {
  if (patterns.length === 0) return value;
  return mapJson(value, (each, path) => {
    if (isMask(each)) return each;
    return each !== null && patterns.some((pattern) => isAt(path, pattern)) ? maskOf(each, by, path) : undefined;
  });
}
