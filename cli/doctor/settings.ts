import { contractSource, declaredContract } from "../../provider/settings/contract-source.ts";
import { misspeltVariables } from "../../provider/settings/misspelt-variables.ts";
import { isCredential } from "../../provider/settings/setting-names.ts";
import { type SettingsSources, settingOrigins } from "../../provider/settings/sources.ts";
import { contractFileNames } from "../../sdk/contract/index.ts";
import { printable } from "../../sdk/json/printable.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** Notes where each setting comes from; of credentials only whether they are set. */
export function lookAtSettings(sources: SettingsSources, connection: string | undefined, findings: Diagnosis): void {
  for (const { variable, meant } of misspeltVariables(sources, connection === undefined ? [] : [connection]))
    findings.warning("settings", `${variable} is no setting and has no effect`, `rename it, if ${meant} is meant`);
  try {
    const parameters = Object.keys(declaredOrNone(sources, connection)?.parameters ?? {});
    for (const { setting, origin, value = "" } of settingOrigins(sources, parameters, connection)) {
      const shown = isShown(setting, value) ? printable(value, 200) : "set";
      const isAsked = /^(baseUrl|token|clientId|clientSecret|parameters\..*)$/.test(setting);
      if (origin !== undefined) findings.ok("settings", `${setting}: ${shown} (${origin})`);
      else if (isAsked) findings.skipped("settings", `${setting}: not set`);
    }
  } catch (error) {
    findings.error("settings", error);
  }
}

/** Decides whether a value may be shown: a parameter may be a key, an identity a client id, and an address may hold a password. */
function isShown(setting: string, value: string): boolean {
  if (setting === "baseUrl") return URL.canParse(value) && !/[@?#]/.test(value);
  return !isCredential(setting) && setting !== "identity" && !setting.startsWith("parameters.");
}

/** Reads the contract; undefined also where it is wrong, which `lookAtContract` says. */
function declaredOrNone(sources: SettingsSources, connection: string | undefined) {
  try {
    return declaredContract({ ...sources, checksDefinitions: false }, connection);
  } catch {
    return undefined;
  }
}

/** Notes the contract, and where it was looked for. @returns whether there is one that can work */
export function lookAtContract(sources: SettingsSources, connection: string | undefined, findings: Diagnosis): boolean {
  try {
    const { found, searched } = contractSource(sources, connection);
    declaredContract({ ...sources, checksDefinitions: false }, connection);
    const where = searched.length === 0 ? "" : `, looked for in ${searched.join(" and ")}`;
    if ("file" in found) findings.ok("contract", `${found.file}${where}`);
    else if (searched.length === 0) findings.ok("contract", `preset ${found.preset}`);
    else
      findings.warning(
        "contract",
        `there is no ${contractFileNames.join(" or ")}${where}; only what the specification documents is known, and nothing can be deleted`,
        "write one: npx --no-install merchant-rules contract init",
      );
    return true;
  } catch (error) {
    findings.error("contract", error);
    return false;
  }
}
