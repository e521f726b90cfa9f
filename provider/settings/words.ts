import type { StackWords } from "../merchant/words.ts";
import { type StackSetting, variableName } from "./setting-names.ts";
import type { SettingsSources } from "./sources.ts";

export type { StackWords } from "../merchant/words.ts";

/**
 * Reads the words of the user for this run, each a list with commas: the environment first, then the stack's config, of which
 * a refresh or destroy sees that of the last up. They are the stack's: no connection has its own, and an explicit provider,
 * which sees no stack config, hears them by the environment alone.
 */
export function stackWords({ config, environment }: SettingsSources): StackWords {
  const read = (setting: StackSetting): readonly string[] => {
    const text = environment[wordVariable(setting)] || config(`merchant-rules:${setting}`) || "";
    return text.split(",").flatMap((each) => each.trim() || []);
  };
  return { same: read("same"), moved: read("moved"), recover: read("recover"), formerNames: read("formerNames") };
}

/** Returns the variable of a word: `MERCHANT_RULES_FORMER_NAMES`. */
export function wordVariable(setting: StackSetting): string {
  return `MERCHANT_RULES_${variableName(setting)}`;
}
