import type { PlaceOptions } from "../provider/merchant/place-options.ts";
import { singleSettings } from "../provider/settings/setting-names.ts";
import { type SettingsSources, settingsReader, stackVariable } from "../provider/settings/sources.ts";
import { MerchantRulesError } from "../sdk/errors.ts";

/** The settings by which secrets are sent to the service. */
const secrets = singleSettings.filter((setting) => /^token|^clientSecret$/.test(setting));

/** The variables whose credentials one run of a command uses, each with the address that it is given for. */
export class GivenCredentials {
  readonly #givenFor = new Map<string, string>();

  /**
   * Refuses a variable for a second address: that it is meant for that one, too, nobody has said.
   * @throws MerchantRulesError SETTINGS_INVALID: it would be sent to a second one
   */
  demandOneAddress(sources: SettingsSources, { name, address }: Pick<PlaceOptions, "name" | "address">): void {
    const read = settingsReader(sources, name);
    for (const setting of secrets) {
      const { inEnvironment, variable } = read(setting);
      if (inEnvironment === undefined) continue;
      const before = this.#givenFor.get(variable) ?? address;
      this.#givenFor.set(variable, before);
      if (before === address) continue;
      const own = sources.stack === undefined ? "one of its own" : stackVariable(sources.stack, variable);
      throw new MerchantRulesError(
        "SETTINGS_INVALID",
        `${variable} is used for ${before} in this run, and would be sent to ${address}, too`,
        {
          attempted: `read the credentials of connection "${name}"`,
          advice: `give each address its own credentials: ${own} for ${address}; or by the config of each stack`,
        },
      );
    }
  }
}
