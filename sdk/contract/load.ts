import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { MerchantRulesError } from "../errors.ts";
import { type DescribedFile, defineDescribed, readDescribed } from "../files/described-file.ts";
import { readTextFile } from "../files/yaml-document.ts";
import { getOrMake } from "../get-or-make.ts";
import { isOneSlip, meant } from "../nearest.ts";
import { type ContractUse, inconsistencies } from "./consistency.ts";
import { type Contract, type ContractInput, contractSchema } from "./schema.ts";

/**
 * The contracts that ship with the package. `illustrative` is an example of a full service, not the seed's. The others are
 * of services that others run: docs/services.md says of each what it was tried against.
 */
export const presets = [
  "seed",
  "illustrative",
  "adyen-transaction-rules",
  "alertmanager-silences",
  "juspay-decision-engine",
  "kinto",
  "stripe-value-list-items",
  "unleash-segments",
  "whop",
  "wiremock",
] as const;
/** The name of a preset. */
export type Preset = (typeof presets)[number];

/** The semantics that ship with the package, by the names that a contract can give. */
export const shippedSemantics = ["decision-engine", "illustrative", "whop", "wiremock"] as const;

/** The names of the contract file that is found in a project's folder without being named; the first that is there. */
export const contractFileNames = ["merchant-rules.contract.yaml", "merchant-rules.contract.yml"] as const;

/** Finds the contract file of a folder. @throws MerchantRulesError CONTRACT_INVALID: it has two */
export function contractFileIn(folder: string): string | undefined {
  const [file, other] = contractFileNames.filter((name) => existsSync(join(folder, name)));
  if (other === undefined) return file === undefined ? undefined : join(folder, file);
  throw new MerchantRulesError("CONTRACT_INVALID", `there are two: ${file} and ${other}`, {
    attempted: `find the contract in ${folder}`,
    advice: "remove one, or name the one that counts in merchant-rules:contract",
  });
}

/** Returns the files of a folder whose names are nearly that of a contract; none where the folder cannot be read. */
export function contractLikeFilesIn(folder: string): string[] {
  const isLike = (name: string): boolean =>
    /contract.*\.(?:ya?ml|json)$/i.test(name) || contractFileNames.some((each) => isOneSlip(name, each));
  try {
    return readdirSync(folder).filter(isLike).sort();
  } catch {
    return [];
  }
}

/**
 * Reads a contract from a YAML or JSON file; `parse` makes it of its text (default: {@link parseContract}).
 * @throws MerchantRulesError CONTRACT_INVALID: the file and, for each fault, its line and path, the value found and the
 * values allowed.
 */
export function loadContract(file: string, use?: ContractUse, parse = parseContract): Contract {
  const read = readTextFile(file);
  if ("text" in read) return parse(read.text, file, use);
  const { what, line, cause } = read.fault;
  throw new MerchantRulesError("CONTRACT_INVALID", `it ${what}${line === undefined ? "" : `, in line ${line}`}`, {
    attempted: `read contract ${file}`,
    advice: `name a file that can be read, or one of the presets: ${presets.join(", ")}${meant(basename(file), presets)}`,
    cause,
  });
}

/** Reads the contract of a preset, as {@link loadContract} reads a file. */
export function loadPreset(preset: Preset, use?: ContractUse, parse = parseContract): Contract {
  return loadContract(presetFile(preset), use, parse);
}

/** Returns the path of a semantics file: by its name one that comes with the package, else a file in `folder`. */
export function semanticsFile(named: string, folder: string): string {
  const isShipped = shippedSemantics.some((each) => each === named);
  return isShipped ? join(dirname(presetFile("seed")), `${named}.semantics.yaml`) : resolve(folder, named);
}

/** Returns the path of a preset's file. */
export function presetFile(preset: Preset): string {
  const home = dirname(createRequire(import.meta.url).resolve("pulumi-merchant-rules/package.json"));
  return join(home, "sdk/contract/presets", `${preset}.contract.yaml`);
}

/** Decides whether a string is the name of a preset. */
export function isPreset(name: string): name is Preset {
  return presets.some((preset) => preset === name);
}

/** Parses a contract: YAML 1.2, or JSON. @throws MerchantRulesError CONTRACT_INVALID, as {@link loadContract}. */
export function parseContract(text: string, file: string, use?: ContractUse): Contract {
  return readDescribed(text, file, kindFor(use));
}

const mostParsed = 32;
const parsed = new Map<string, Contract>();

/** Parses a contract as {@link parseContract}; gives all who read one text one value, which nobody may change: to parse it takes longer than a request. */
export function parseContractOnce(text: string, file: string, use?: ContractUse): Contract {
  if (parsed.size >= mostParsed) parsed.clear();
  return getOrMake(parsed, JSON.stringify([file, use?.checksDefinitions, text]), () => parseContract(text, file, use));
}

/**
 * Makes a contract of a value, with all defaults filled in.
 * @throws MerchantRulesError CONTRACT_INVALID, as {@link loadContract}, with `source` in place of the file.
 */
export function defineContract(input: ContractInput, source = "contract"): Contract {
  return defineDescribed(input, source, kindFor());
}

function kindFor(use?: ContractUse): DescribedFile<Contract> {
  return {
    schema: contractSchema,
    name: "the contract",
    code: "CONTRACT_INVALID",
    advice: "correct the named lines; `npx --no-install merchant-rules help reference/contract` prints every field",
    inconsistencies: (contract) => inconsistencies(contract, use),
  };
}
