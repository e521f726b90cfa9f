import type { Contract } from "../contract/schema.ts";
import { MerchantRulesError } from "../errors.ts";
import { isExactNumber, type Json, type JsonObject, valueAt, withFieldAt } from "../json/index.ts";
import type { LiveRule } from "./response.ts";
import type { WireResponse } from "./transport.ts";

type Update = NonNullable<Contract["operations"]["update"]>;

/** Returns the version of a rule in the response to its GET; undefined where the contract or the response has none. */
export function versionIn(rule: JsonObject, { headers }: WireResponse, { operations }: Contract): LiveRule["version"] {
  const { version = null } = operations.update ?? {};
  if (version === null) return undefined;
  const found: Json | undefined = "at" in version ? valueAt(rule, version.at) : [headers.etag].flat()[0];
  if (typeof found === "string") return found === "" ? undefined : found;
  return isExactNumber(found) || Number.isSafeInteger(found) ? found : undefined;
}

/**
 * Adds the version that an update changes: a field of the definition, or a header (names and values by turns). A weak ETag is
 * not sent.
 * @throws MerchantRulesError RESPONSE_INVALID: the GET has not told the version
 */
export function versionSent(
  definition: JsonObject,
  seen: LiveRule | undefined,
  { update: { version }, ruleId, attempted }: { update: Update; ruleId: string; attempted: () => string },
): { readonly definition: JsonObject; readonly headers: readonly string[] } {
  if (version === null) return { definition, headers: [] };
  const found = seen?.version;
  if (found === undefined) {
    const place = "at" in version ? `at ${version.at}` : "in the header ETag";
    const reason = `the answer to the GET of rule ${ruleId} has no version ${place} (operations.update.version)`;
    throw new MerchantRulesError("RESPONSE_INVALID", reason, {
      attempted: attempted(),
      advice: "correct operations.update.version in the contract; or leave it out, and the last write wins",
    });
  }
  // A weak one matches nothing (RFC 9110, 13.1.1).
  const isWeak = !("at" in version) && String(found).startsWith("W/");
  if (isWeak) return { definition, headers: [] };
  if (!("at" in version)) return { definition, headers: ["If-Match", String(found)] };
  return { definition: withFieldAt(definition, version.at, found), headers: [] };
}
