import { MerchantRulesError } from "../../sdk/errors.ts";
import type { JsonObject } from "../../sdk/rules/index.ts";

/** The version of the state that this package writes. Version 1 carries no number. */
export const stateVersion = 1;

/** Pure functions, the one at index n from version n + 1 to version n + 2. */
const migrations: readonly ((state: JsonObject) => JsonObject)[] = [];

/**
 * State as this version has it, from state of any version so far.
 * @throws MerchantRulesError SETTINGS_INVALID: a newer version of this package wrote it.
 */
export function migrate(state: JsonObject): JsonObject {
  const version = typeof state.stateVersion === "number" ? state.stateVersion : 1;
  if (version > stateVersion) {
    throw new MerchantRulesError(
      "SETTINGS_INVALID",
      `this state has version ${version}, and this pulumi-merchant-rules knows versions up to ${stateVersion}`,
      {
        advice: "install the version of pulumi-merchant-rules that wrote it, or a later one",
      },
    );
  }
  return migrations.slice(version - 1).reduce((migrated, migration) => migration(migrated), state);
}
