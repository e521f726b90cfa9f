/** Settings for one run: what a user who knows better says. */
const answers = ["acceptAllGone", "moved", "recover"] as const;

export const singleSettings = [
  "baseUrl",
  "contract",
  "token",
  "clientId",
  "clientSecret",
  "identity",
  "onDrift",
  "formerNames",
  ...answers,
] as const;

/** The settings of a connection, as stack config has them. */
export const settingNames: readonly string[] = [...singleSettings, "parameters"];

/** The name of a setting, or of a parameter of the contract. */
export type SettingName = (typeof singleSettings)[number] | `parameters.${string}`;

export const defaultConnection = "default";

/** The input of an explicit provider that holds its name. */
export const providerNameKey = "merchant-rules:provider";

/** Decides whether the value of a setting is a credential, which is never printed. */
export function isCredential(setting: string): boolean {
  return ["token", "clientId", "clientSecret"].includes(setting);
}

/** Returns a setting's name as part of an environment variable: merchantId → MERCHANT_ID, my-sandbox → MY_SANDBOX. */
export function variableName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toUpperCase();
}
