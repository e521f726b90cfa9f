/** For one run: the words of a user who knows better. */
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
