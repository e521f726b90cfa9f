import { relative, resolve } from "node:path";
import {
  type Contract,
  contractFileIn,
  contractFileNames,
  contractLikeFilesIn,
  isPreset,
  loadContract,
  loadPreset,
  type Preset,
  parseContractOnce,
  presets,
} from "../../sdk/contract/index.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import { projectFolder } from "./project-folder.ts";
import { defaultConnection } from "./setting-names.ts";
import { type SettingsSources, settingsReader } from "./sources.ts";

/** Where the contract of a connection comes from. */
export interface ContractSource {
  /** The file, or the preset. */
  readonly found: { readonly file: string } | { readonly preset: Preset };
  /** The folders in which a file was looked for, because none was named. */
  readonly searched: readonly string[];
}

/** A connection's contract. */
export interface FoundContract {
  readonly contract: Contract;
  /** Says that no contract was found, and where it was looked for; undefined where there is one. */
  readonly noContract: string | undefined;
}

/**
 * Finds out where a connection's contract comes from, without reading it: the preset or the file that is named for the
 * connection, else for the default one; else the file in the folder or the project's.
 * @throws MerchantRulesError as settingsReader; CONTRACT_INVALID: a folder has two
 */
export function contractSource(sources: SettingsSources, name: string = defaultConnection): ContractSource {
  const nameOf = (connection: string): string | undefined => settingsReader(sources, connection)("contract").value;
  const named = nameOf(name) ?? nameOf(defaultConnection);
  const project = projectFolder(sources.folder);
  if (named !== undefined)
    return { found: isPreset(named) ? { preset: named } : { file: resolve(project, named) }, searched: [] };
  const searched = [...new Set([resolve(sources.folder), project])];
  const [file] = searched.flatMap((each) => contractFileIn(each) ?? []);
  return { found: file === undefined ? { preset: presets[0] } : { file }, searched };
}

/** Returns the name of a connection's contract for people: the file, from the project's folder on, or `preset whop`. */
export function contractName(sources: SettingsSources, name: string): string {
  const { found } = contractSource(sources, name);
  if ("preset" in found) return `preset ${found.preset}`;
  const own = relative(projectFolder(sources.folder), found.file);
  return own.startsWith("..") ? found.file : own;
}

/** Returns ` (did you mean X?)` for the files that are nearly named as a contract; "" where there are none. */
export function meantContract(folders: readonly string[]): string {
  const like = folders.flatMap(contractLikeFilesIn);
  return like.length === 0 ? "" : ` (did you mean ${like.join(" or ")}? It has to be named ${contractFileNames[0]})`;
}

/** Loads a connection's contract; where none is found, the preset of what the specification documents. */
export function findContract({ folder, ...use }: SettingsSources, name: string): FoundContract {
  const { found, searched } = contractSource({ folder, ...use }, name);
  if ("file" in found) return { contract: loadContract(found.file, use, parseContractOnce), noContract: undefined };
  const contract = loadPreset(found.preset, use, parseContractOnce);
  if (searched.length === 0) return { contract, noContract: undefined };
  return {
    contract,
    noContract: `no contract was found (looked for ${contractFileNames.join(" and ")} in ${searched.join(" and ")})${meantContract(searched)}, so only what the service's specification documents is known. Write one (\`npx --no-install merchant-rules contract init\` asks for what it needs), or name a file or a preset in merchant-rules:contract`,
  };
}

/**
 * Returns how to find the contract of a connection, each loaded once; for who holds no definition against its schema.
 * @returns undefined: none is found. @throws MerchantRulesError as declaredContract
 */
export function contractsBy(sources: SettingsSources): (connection: string) => Contract | undefined {
  const known = new Map<string, { readonly contract: Contract | undefined }>();
  const load = (connection: string) => ({
    contract: declaredContract({ ...sources, checksDefinitions: false }, connection),
  });
  return (connection) => getOrMake(known, connection, () => load(connection)).contract;
}

/** Loads a connection's contract, if one is found. @throws MerchantRulesError CONTRACT_INVALID, SETTINGS_INVALID */
export function declaredContract(sources: SettingsSources, name: string = defaultConnection): Contract | undefined {
  const { contract, noContract } = findContract(sources, name);
  return noContract === undefined ? contract : undefined;
}
