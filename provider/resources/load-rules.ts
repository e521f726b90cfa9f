import type { MerchantRulesError } from "../../sdk/errors.ts";
import { InvalidRules, readRuleFolder } from "../../sdk/files/rule-folder.ts";
import { asWritten, canonical } from "../../sdk/json/canonical.ts";
import type { JsonObject } from "../../sdk/json/json.ts";

/** Options for a folder of rules. */
export interface LoadRulesOptions<As extends "objects" | "texts" = "objects"> {
  /**
   * A second folder, of what one environment has otherwise. Each of its files is merged over the rule of the same name by
   * JSON Merge Patch (RFC 7396): objects are merged field by field, null removes a field, everything else (arrays, too)
   * takes the place of what was there. A file without such a rule adds one. A file that holds `null` alone leaves the rule
   * out; an empty file does not, it is a fault. Default: none.
   */
  readonly overlay?: string;
  /**
   * `texts`: each definition as its JSON text, in the form that `ruleTexts` gives; for sets of thousands of rules. Default:
   * `objects`.
   */
  readonly as?: As;
}

/**
 * Reads one definition from each `.yaml`, `.yml` and `.json` file of a folder: what `rules` of a MerchantRuleSet takes.
 * A rule's key is its file's name without the extension, so renaming a file renames the key and writes nothing.
 *
 * YAML is 1.2; a `.json` file is JSON and nothing more. A file has at most 1 MiB of UTF-8. Other files are passed over,
 * and so is every name that begins with a dot. An empty folder gives no rules.
 *
 * `Definition` is the program's own claim about its files: `loadRules<MyRule>("rules")`. Nothing is checked against it;
 * what checks definitions is the JSON Schema in the contract (`rule.schema`), where there is one.
 *
 * @param folder its path, from the working directory of the program (with Pulumi: where `Pulumi.yaml` is) if relative
 * @param options `overlay`: a folder of the same form, with what differs in one environment; `as`: objects or texts
 * @returns the definitions by key, sorted by key
 * @throws MerchantRulesError RULE_INVALID, with the first fault of each file, and its line where there is one. A file is
 * refused that cannot be read, is not one object, declares a field twice, has a merge key (`<<`) or more than 100
 * aliases, holds anything but JSON or an integer that JSON readers cannot hold exactly, or has the key of another file
 * (upper and lower case are the same). A folder inside the folder is refused, too. So is a file of the overlay that
 * leaves out a rule which is not there, and an option that there is not. A program that does not catch the error ends with its message and without a
 * stack trace.
 */
export function loadRules(
  folder: string,
  options: LoadRulesOptions<"texts"> & { readonly as: "texts" },
): Record<string, string>;
export function loadRules<Definition extends object = JsonObject>(
  folder: string,
  options?: LoadRulesOptions,
): Record<string, Definition>;
export function loadRules(
  folder: string,
  options: LoadRulesOptions<"objects" | "texts"> = {},
): Record<string, JsonObject | string> {
  const { overlay, areTexts } = optionsIn(options, folder);
  const sources = [...readRuleFolder(folder, overlay).values()];
  return Object.fromEntries(sources.map(({ key, rule }) => [key, areTexts ? canonical(rule, asWritten) : rule]));
}

/** Programs run without a check of their types: a misspelt option would leave every rule as another environment has it. */
function optionsIn(
  options: LoadRulesOptions<"objects" | "texts">,
  folder: string,
): { readonly overlay: string | undefined; readonly areTexts: boolean } {
  const refused = (reason: string): MerchantRulesError =>
    new InvalidRules("RULE_INVALID", reason, {
      attempted: `load rules from ${folder}`,
      advice: 'write loadRules("<folder>", { overlay: "<folder>", as: "texts" }), or leave out what is not needed',
    });
  if (typeof options !== "object" || options === null)
    throw refused("the second argument must be an object of options");
  const unknown = Object.keys(options).find((name) => name !== "overlay" && name !== "as");
  if (unknown !== undefined)
    throw refused(`there is no option ${JSON.stringify(unknown)}; the options are overlay and as`);
  const { overlay, as = "objects" } = options;
  if (overlay !== undefined && (typeof overlay !== "string" || overlay === ""))
    throw refused("the option overlay must be the path of a folder");
  if (as !== "objects" && as !== "texts") throw refused('the option as must be "objects" or "texts"');
  return { overlay, areTexts: as === "texts" };
}
