import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { projectFolderAbove } from "../../provider/settings/project-folder.ts";
import { defaultConnection } from "../../provider/settings/setting-names.ts";
import {
  type Contract,
  type ContractInput,
  contractFileNames,
  defineContract,
  isPreset,
  loadContract,
  loadPreset,
  presentsClient,
  presetFile,
} from "../../sdk/contract/index.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import type { Json } from "../../sdk/json/index.ts";
import { type Crypter, newCrypter } from "../../stack/state/crypter.ts";
import { localCredentials } from "../service/index.ts";

export type Config = Readonly<Record<string, Json>>;

/** A contract, and the setting by which a program names the same one. */
export interface NamedContract {
  readonly contract: Contract;
  readonly setting: string;
  /** Names of files in the contract begin at this one's folder. */
  readonly file: string;
}

/**
 * Reads the contract of a world: as given, or the one in the program's folder or project, or the preset `illustrative`.
 * @param scratch a folder where a contract that is given as a value is written
 * @throws MerchantRulesError CONTRACT_INVALID
 */
export function contractOf(
  given: string | ContractInput | undefined,
  programFolder: string,
  scratch: string,
): NamedContract {
  if (typeof given === "object") {
    const contract = defineContract(given);
    const setting = join(scratch, "contract.json");
    writeFileSync(setting, JSON.stringify(given));
    return { contract, setting, file: resolve("contract") };
  }
  const named = given ?? contractIn(programFolder) ?? "illustrative";
  if (isPreset(named)) return { contract: loadPreset(named), setting: named, file: presetFile(named) };
  const setting = resolve(named);
  return { contract: loadContract(setting), setting, file: setting };
}

function contractIn(folder: string): string | undefined {
  const folders = [folder, projectFolderAbove(folder) ?? folder];
  return folders.flatMap((each) => contractFileNames.map((name) => join(each, name))).find((file) => existsSync(file));
}

/** The place of the rules of a world. */
export interface Whereabouts extends NamedContract {
  readonly url: string;
  /** The token of each connection; the default connection's first. */
  readonly tokens: ReadonlyMap<string, string>;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Returns the stack config by which a program reaches the service of its world, whatever its Pulumi.yaml says.
 * @throws MerchantRulesError UNSUPPORTED_BY_CONTRACT: further connections, and no tokens to tell them apart by
 */
export function connectionConfig({ url, contract, setting, tokens, parameters }: Whereabouts): Config {
  const named = Object.fromEntries(Object.keys(contract.parameters).map((name) => [name, parameters[name] ?? "test"]));
  const own = { baseUrl: url, parameters: named };
  const others = [...tokens].filter(([name]) => name !== defaultConnection);
  const hasClient = presentsClient(contract.auth);
  if (hasClient && others.length > 0) {
    const reason = "its contract presents client id and secret, and a world tells connections apart by their tokens";
    throw new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", reason, {
      attempted: `start a world with the connection ${others[0]?.[0]}`,
      advice: "leave the option connections out, or give a contract whose auth.present has {token}",
    });
  }
  const { clientId, clientSecret } = localCredentials;
  const settings = {
    ...own,
    contract: setting,
    ...(hasClient ? { clientId, clientSecret } : { token: tokens.get(defaultConnection) ?? "" }),
    connections: Object.fromEntries(others.map(([name, token]) => [name, { ...own, token }])),
  };
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [`merchant-rules:${name}`, value]));
}

const settingsOfWorld = ["baseUrl", "contract", "token", "client", "parameters", "connections"];

/** Refuses settings that would lead away from the world's own service. @throws MerchantRulesError SETTINGS_INVALID */
export function demandOwnService({ config = {}, env = {} }: { config?: Config; env?: NodeJS.ProcessEnv }): void {
  const taken = Object.keys(config).find((key) =>
    settingsOfWorld.some((name) => key.startsWith(`merchant-rules:${name}`)),
  );
  const led =
    taken ??
    Object.keys(env).find((name) => /^MERCHANT_RULES_(.+__)?(BASE_URL|CONTRACT|TOKEN|CLIENT_|PARAM_)/.test(name));
  if (led === undefined) return;
  throw new MerchantRulesError("SETTINGS_INVALID", "a world has a service of its own, and sets how it is reached", {
    attempted: `set ${led}`,
    advice: "leave it out; startWorld has the options contract, parameters and connections",
  });
}

/** Returns this process's environment without what the product and Pulumi read: no real service is reached. */
export function ownEnvironment(more: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !ofProduct.test(name) && name !== "NODE_TEST_CONTEXT");
  return { ...Object.fromEntries(kept), PULUMI_CONFIG_PASSPHRASE: passphrase, ...more };
}

const ofProduct = /^(MERCHANT_RULES|PULUMI)_/;

/** Refuses an environment with settings: a function runs in this process, and sees it. @throws MerchantRulesError SETTINGS_INVALID */
export function demandBlankEnvironment(): void {
  const seen = Object.keys(process.env).find((name) => name.startsWith("MERCHANT_RULES_"));
  if (seen === undefined) return;
  throw new MerchantRulesError(
    "SETTINGS_INVALID",
    `${seen} is set in the environment of the tests, and a function that runs in this process might reach a real service by it`,
    {
      attempted: "run a function as the program",
      advice: `unset ${seen} for the tests, or give the program as a file`,
    },
  );
}

/** Writes the settings of a stack as `pulumi config set` keeps them. */
export async function writeStackFile(
  folder: string,
  stack: string,
  { config, secrets }: { config: Config; secrets: Readonly<Record<string, string>> },
): Promise<void> {
  const crypter = await theCrypter();
  const sealed = Object.entries(secrets).map(([key, text]) => [key, { secure: crypter.encrypt(text) }]);
  const text = JSON.stringify({ encryptionsalt: crypter.salt, config: { ...config, ...Object.fromEntries(sealed) } });
  writeFileSync(join(folder, `Pulumi.${stack}.json`), text);
}

const passphrase = "testing";
let crypter: Promise<Crypter> | undefined;

/** Returns one crypter for all worlds of a process: to derive its key takes half a second. */
function theCrypter(): Promise<Crypter> {
  crypter ??= newCrypter(passphrase);
  return crypter;
}
