import { createHmac, randomBytes } from "node:crypto";
import { type CompareOptions, canonical } from "./canonical.ts";
import type { Json, JsonObject } from "./json-types.ts";
import { mapJson } from "./map-json.ts";
import { isMask, maskField } from "./mask.ts";
import { isAt, type Pointer } from "./pointer.ts";
import type { Path } from "./walk.ts";

/** Made once for each process, and never leaves it: without it a hash tells nothing of its secret. */
const processKey = randomBytes(32);

/** Returns the mask of a secret that is known here. Equal secrets have equal masks. `path`: where it stands in its rule. */
export function maskOf(secret: Json, by: CompareOptions, path: Path = []): JsonObject {
  return {
    [maskField]: createHmac("sha256", processKey)
      .update(canonical(secret, by, path))
      .digest("base64url"),
  };
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
