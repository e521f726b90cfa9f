import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { mapJson } from "./map-json.ts";

/**
 * The one field of a mask, which stands in a definition in the place of a secret. Its value is a keyed hash of the secret
 * (see `maskOf`), so that two masks are equal exactly when their secrets are; it is empty where the secret is not known
 * here. No report prints it.
 */
export const maskField = "[secret]";

/** The text in the place of a secret in everything that is printed. */
export const hidden = "[secret]";

/** The text on the second side of a difference between two secrets. */
export const hiddenOther = "[another secret]";

/** A mask of a secret that is not known here: nobody can tell whether it is equal to another one. */
export const blindMask: JsonObject = { [maskField]: "" };

/** True of a mask, of a known secret or of an unknown one. */
export function isMask(value: Json | undefined): value is JsonObject {
  return isJsonObject(value) && typeof value[maskField] === "string" && Object.keys(value).length === 1;
}

/** True of a mask whose secret is not known here. */
export function isBlind(value: Json | undefined): boolean {
  return isMask(value) && hashIn(value) === "";
}

/** The text that tells a mask from another one; empty where its secret is not known here. */
export function hashIn(mask: JsonObject): string {
  const { [maskField]: hash } = mask;
  return typeof hash === "string" ? hash : "";
}

/** A copy of a value for print: the text `[secret]` at masks. */
export function withoutMasks(value: Json): Json {
  return mapJson(value, (each) => (isMask(each) ? hidden : undefined));
}
