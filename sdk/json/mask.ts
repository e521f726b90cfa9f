import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { mapJson } from "./map-json.ts";

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

/** Returns the hash that tells a mask from another one; "" where its secret is not known here. */
export function hashIn(mask: JsonObject): string {
  const { [maskField]: hash } = mask;
  return typeof hash === "string" ? hash : "";
}

/** Returns a copy of a value for print, with `[secret]` in the place of masks. */
export function withoutMasks(value: Json): Json {
  return mapJson(value, (each) => (isMask(each) ? hidden : undefined));
}
