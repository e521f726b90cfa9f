import { loadSemantics, readValueLists, type Semantics, type ValueList } from "../../meaning/index.ts";
import { semanticsFile } from "../../sdk/contract/index.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import { optionalPath } from "./configuration.ts";
import { callersFile, withPlainStack } from "./host.ts";

/** The option that names what rules mean, for policies that decide payments. */
export const semanticsOption = optionalPath.describe(
  "What rules mean: a file of semantics, from the folder in which pulumi was started, or semantics that come with the package, by name",
);

/** The note of a policy that needs semantics and has none. */
export const noSemantics = "no semantics are configured: name the file that `semantics` in the contract names";

export interface ReadSemantics {
  readonly semantics: Semantics;
  /** The value lists that files hold. */
  readonly valueLists: readonly ValueList[];
}

/** Read once in a run. */
const read = new Map<string, ReadSemantics>();

/** Reads semantics, once in a run. @throws MerchantRulesError SEMANTICS_INVALID, with its message as the stack, which the policy host prints */
export function readSemantics(named: string): ReadSemantics {
  const file = semanticsFile(named, callersFile("."));
  try {
    return getOrMake(read, file, () => {
      const semantics = loadSemantics(file);
      return { semantics, valueLists: readValueLists(semantics, file) };
    });
  } catch (error) {
    throw withPlainStack(error);
  }
}
