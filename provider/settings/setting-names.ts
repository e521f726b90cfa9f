/** The settings of each connection that are one text each. */
export const singleSettings = [
  "baseUrl",
  "contract",
  "token",
  "tokenFile",
  "tokenCommand",
  "clientId",
  "clientSecret",
  "clientCertificate",
  "clientKey",
  "identity",
  "onDrift",
  "insecureTls",
] as const;

/** The settings of a connection, as stack config has them. */
export const settingNames: readonly string[] = [...singleSettings, "parameters"];

/** Settings of the whole stack, for one run: what a user who knows better says. No connection has its own. */
export const stackSettings = ["same", "moved", "recover", "formerNames"] as const;

/** The name of a setting of a connection, or of a parameter of the contract. */
export type SettingName = (typeof singleSettings)[number] | `parameters.${string}`;

/** The name of a setting of the stack. */
export type StackSetting = (typeof stackSettings)[number];

export const defaultConnection = "default";

/** The input of an explicit provider that holds its name. */
export const providerNameKey = "merchant-rules:provider";

/** The input of an explicit provider that names the parameters which its program declares secret: a JSON list; `*` is all. */
export const secretParametersKey = "merchant-rules:secretParameters";

/** Decides whether a setting gives a credential: the environment's comes first, and its value is never printed. */
export function isCredential(setting: string): boolean {
  return /^(token|client)/.test(setting);
}

/** Returns a setting's name as part of an environment variable: merchantId → MERCHANT_ID, my-sandbox → MY_SANDBOX. */
export function variableName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toUpperCase();
}
