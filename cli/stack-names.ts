import { MerchantRulesError } from "../sdk/errors.ts";
import { stackNames } from "../stack/open/stack-identity.ts";
import { engineOf, folderOf, pulumiStacks, type StackOptions } from "./stack.ts";

/**
 * Returns the names of all stacks of the project, as their engine keeps them.
 * @throws MerchantRulesError SETTINGS_INVALID: it has none; EngineError: they cannot be listed
 */
export async function allStacks({ stack: _, ...options }: StackOptions): Promise<string[]> {
  const names =
    engineOf(options) === "local"
      ? await stackNames({ cwd: options.cwd, backendUrl: options.backend })
      : await pulumiStacks(folderOf(options));
  if (names.length > 0) return names;
  throw new MerchantRulesError("SETTINGS_INVALID", `the project in ${folderOf(options)} has no stacks`, {
    attempted: "list the project's stacks",
    advice: "name the project's folder with --cwd, and who keeps its stacks with --engine and --backend",
  });
}
