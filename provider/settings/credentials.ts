import { resolve } from "node:path";
import type { Connection, Credentials } from "../../sdk/client/connection.ts";
import { type Contract, presentsClient } from "../../sdk/contract/index.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import type { SettingName } from "./setting-names.ts";
import type { SettingsReader } from "./sources.ts";

/** A place of settings: what a program or the stack's config says, and the environment. */
export type SettingPlace = "inEnvironment" | "configured";

/** Credentials, and where they stand. */
interface FoundCredentials {
  readonly credentials: Credentials | undefined;
  readonly from: SettingPlace | undefined;
  readonly credentialsFrom?: string;
}

/** The settings that credentials are read from. */
interface GivenSettings {
  readonly setting: SettingsReader;
  /** The explicit provider, whose inputs are the configured settings. */
  readonly provider: string | undefined;
  /** The project's folder. */
  readonly folder: string;
}

/** The environment comes first: what a provider or the stack's config gives stands in the state, where it may have ended. */
const places = ["inEnvironment", "configured"] as const;

/** Finds the credentials of a connection, without looking into a file. @throws MerchantRulesError SETTINGS_INVALID: one place gives several */
export function credentialsOf(given: GivenSettings, { auth }: Contract): FoundCredentials {
  if (auth.present === null) return { credentials: { kind: "none" }, from: undefined };
  const { setting, folder } = given;
  for (const from of places) {
    const at = (name: SettingName): string | undefined => setting(name)[from];
    const found: { readonly name: SettingName; readonly credentials: Credentials }[] = [];
    if (!presentsClient(auth)) {
      const [token, file, command] = [at("token"), at("tokenFile"), at("tokenCommand")];
      if (token !== undefined) found.push({ name: "token", credentials: { kind: "token", token } });
      if (file !== undefined)
        found.push({ name: "tokenFile", credentials: { kind: "tokenFile", file: resolve(folder, file) } });
      if (command !== undefined)
        found.push({ name: "tokenCommand", credentials: { kind: "tokenCommand", command, folder } });
    }
    const clientId = at("clientId") ?? setting("clientId").value;
    const clientSecret = at("clientSecret");
    if ((auth.token !== null || presentsClient(auth)) && clientId !== undefined && clientSecret !== undefined)
      found.push({ name: "clientSecret", credentials: { kind: "client", clientId, clientSecret } });
    const [first, second] = found;
    if (first === undefined) continue;
    if (second !== undefined) {
      const names = found.map(({ name }) => nameAt(given, name, from)).join(" and ");
      throw new MerchantRulesError("SETTINGS_INVALID", `there are several credentials: ${names}`, {
        advice: "keep one of them; nobody can tell which is meant",
      });
    }
    const later = `, which refresh and destroy have from the last up; ${setting(first.name).variable} in the environment comes first`;
    const credentialsFrom = `${nameAt(given, first.name, from)}${from === "configured" ? later : ""}`;
    return { credentials: first.credentials, from, credentialsFrom };
  }
  return { credentials: undefined, from: undefined };
}

/** Returns the files of the client certificate. @throws MerchantRulesError SETTINGS_INVALID: one place gives one of the two alone */
export function clientCertificateOf(given: GivenSettings): Connection["clientCertificate"] {
  const names = ["clientCertificate", "clientKey"] as const;
  for (const from of places) {
    const [certificate, key] = names.map((name) => given.setting(name)[from]);
    if (certificate !== undefined && key !== undefined)
      return { certificate: resolve(given.folder, certificate), key: resolve(given.folder, key) };
    if (certificate === undefined && key === undefined) continue;
    const [there, lacking] = certificate === undefined ? (["clientKey", "clientCertificate"] as const) : names;
    const reason = `there is ${nameAt(given, there, from)} without ${nameAt(given, lacking, from)}`;
    throw new MerchantRulesError("SETTINGS_INVALID", reason, {
      advice: "give both in one place, each as the name of a file in PEM",
    });
  }
  return undefined;
}

/** Returns the settings by which missing credentials are given. */
export function describeCredentials(setting: SettingsReader, { auth }: Contract): string {
  const [token, id, secret] = [setting("token").howTo, setting("clientId").howTo, setting("clientSecret").howTo];
  if (presentsClient(auth)) return `${id} and ${secret}`;
  return auth.token === null ? token : `${id} and ${secret}, or instead of both a token: ${token}`;
}

/** Returns a setting as people know it in one place. */
function nameAt({ setting, provider }: GivenSettings, name: SettingName, from: SettingPlace): string {
  const { variable, howTo } = setting(name);
  if (from === "inEnvironment") return `${variable} in the environment`;
  return provider === undefined
    ? `${howTo.split(" ")[0]} in the stack's config`
    : `the input ${name} of the provider "${provider}"`;
}
