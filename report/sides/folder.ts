import { defaultConnection } from "../../provider/settings/setting-names.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import { placeOf, readRuleFolder } from "../../sdk/files/rule-folder.ts";
import { asWritten, defined, isJsonObject, masked } from "../../sdk/json/index.ts";
import { identityOf, nameOfRule, type RuleSide } from "./side.ts";

/** Facts that a folder does not have in itself. */
interface FolderOptions {
  /** As of `loadRules`. Default: none. */
  readonly overlay?: string;
  /** The resource that declares the folder's rules, as `MerchantRuleSet all`. Default: not known. */
  readonly resource?: string;
  /** Default: the default connection. */
  readonly connection?: string;
  /** The contract of that connection: it says what the natural key is, and what is secret. */
  readonly contract: Contract | undefined;
}

/** Reads the rules of a folder, as `loadRules` reads them. @throws MerchantRulesError RULE_INVALID, as loadRules */
export function folderSide(
  folder: string,
  { overlay, resource, connection = defaultConnection, contract }: FolderOptions,
): RuleSide {
  const rules = [...readRuleFolder(folder, overlay).values()].map((source) => {
    const { key, rule } = source;
    const definition = masked(rule, contract?.rule.secret ?? [], contract?.rule ?? asWritten);
    return {
      name: nameOfRule(definition, contract, key),
      key,
      ...defined({ resource }),
      connection,
      ...identityOf(rule, contract),
      definition: isJsonObject(definition) ? definition : {},
      ...placeOf(source, []),
    };
  });
  return {
    name: overlay === undefined ? folder : `${folder} with ${overlay}`,
    kind: "folder",
    rules,
    contractOf: (each) => (each === connection ? contract : undefined),
    notes: [],
  };
}
