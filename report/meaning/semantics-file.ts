import { dirname } from "node:path";
import { loadSemantics, readValueLists, type Semantics, type ValueList } from "../../meaning/index.ts";
import { contractSource, declaredContract } from "../../provider/settings/contract-source.ts";
import { defaultConnection } from "../../provider/settings/setting-names.ts";
import type { SettingsSources } from "../../provider/settings/sources.ts";
import { type Contract, presetFile, semanticsFile } from "../../sdk/contract/index.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";

/** What the rules of a connection mean, as files say it. */
export interface DeclaredSemantics {
  readonly semantics: Semantics;
  /** The file that says it. */
  readonly file: string;
  /** The value lists that files hold. */
  readonly valueLists: readonly ValueList[];
}

/**
 * Reads what the rules of a connection mean: the file that its contract names, from the contract's own folder.
 * @param attempted for messages: `test rules`
 * @throws MerchantRulesError UNSUPPORTED_BY_CONTRACT: the contract names none; SEMANTICS_INVALID; as declaredContract
 */
export function declaredSemantics(
  sources: SettingsSources,
  attempted: string,
  name: string = defaultConnection,
): DeclaredSemantics {
  return semanticsOf(declaredContract(sources, name), sources, attempted, name);
}

/** Reads what rules mean, of a connection whose contract is known. @throws MerchantRulesError as declaredSemantics */
export function semanticsOf(
  contract: Contract | undefined,
  sources: SettingsSources,
  attempted: string,
  name: string,
): DeclaredSemantics {
  const { found } = contractSource(sources, name);
  return semanticsFrom(contract?.semantics ?? null, "file" in found ? found.file : presetFile(found.preset), attempted);
}

/**
 * Reads what the rules of a contract mean.
 * @param named as the contract has it: a file, or semantics that come with the package
 * @param contractFile relative names begin at its folder
 * @throws MerchantRulesError as declaredSemantics
 */
export function semanticsFrom(named: string | null, contractFile: string, attempted: string): DeclaredSemantics {
  if (named === null)
    throw new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", "the contract does not say what its rules mean", {
      attempted,
      advice:
        "describe it in a file that `semantics` in the contract names; `npx --no-install merchant-rules help simulation` is the guide",
    });
  const file = semanticsFile(named, dirname(contractFile));
  const semantics = loadSemantics(file);
  return { semantics, file, valueLists: readValueLists(semantics, file) };
}
