import { relative, resolve, sep } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { projectFolderAbove } from "../provider/settings/project-folder.ts";
import { DeclaredPlaces, type RuleFolder } from "../report/files/rule-places.ts";
import { MerchantRulesError } from "../sdk/errors.ts";
import { readProject } from "../stack/project/project.ts";
import { plainSetting } from "../stack/project/stack-config.ts";

/** The setting of the same meaning as `--rules`, in the stack's config or in Pulumi.yaml. */
export const rulesSetting = "merchant-rules:rules";

export interface RulesOptions {
  readonly rules?: readonly RuleFolder[];
  readonly cwd?: string;
}

/** Adds the option by which a command finds the files of the rules. */
export function withRulesOption(command: Command): Command {
  return command.option(
    "--rules <[resource=]folder[,overlay]>",
    `the files of the rules, as loadRules reads them; may be repeated, and {stack} is the stack's name (default: the setting ${rulesSetting})`,
    andFolder,
  );
}

/**
 * Reads the files of a stack's rules: of the folders in the option, else of those in the setting.
 * @param stack its name, as the state or the preview has it
 * @returns undefined where neither names a folder
 * @throws MerchantRulesError RULE_INVALID: a folder or a file cannot be read as rules; SETTINGS_INVALID: the setting
 * is of no use
 */
export async function rulePlacesOf(
  { rules, cwd = process.cwd() }: RulesOptions,
  stack: string | undefined,
): Promise<DeclaredPlaces | undefined> {
  const folders = rules ?? (await foldersInSetting(cwd, stack));
  if (folders.length === 0) return undefined;
  return new DeclaredPlaces(folders.map((folder) => ofStack(folder, stack)));
}

function andFolder(text: string, before: readonly RuleFolder[] = []): readonly RuleFolder[] {
  const folder = ruleFolder(text);
  if (folder === undefined)
    throw new InvalidArgumentError(
      "It must be <folder>, <folder>,<overlay>, or one of these with <resource>= in front.",
    );
  return [...before, folder];
}

function ruleFolder(text: string): RuleFolder | undefined {
  const [, resource, folder = "", overlay] = /^(?:([^=]+)=)?([^=,]+)(?:,([^=,]+))?$/.exec(text) ?? [];
  return folder === "" ? undefined : { resource, folder, overlay };
}

function ofStack({ resource, folder, overlay }: RuleFolder, stack: string | undefined): RuleFolder {
  const named = (text: string): string => text.replaceAll("{stack}", stack ?? "{stack}");
  return { resource, folder: named(folder), overlay: overlay === undefined ? undefined : named(overlay) };
}

async function foldersInSetting(cwd: string, stack: string | undefined): Promise<readonly RuleFolder[]> {
  if (projectFolderAbove(resolve(cwd)) === undefined) return [];
  const project = await readProject(cwd);
  const value = await plainSetting(project, stack, rulesSetting);
  if (value === undefined) return [];
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  return texts.map((text) => {
    const found = typeof text === "string" ? ruleFolder(text) : undefined;
    if (found === undefined) throw invalidSetting(text);
    const fromHere = (path: string): string =>
      relative(process.cwd(), resolve(project.root, path)).split(sep).join("/");
    const { resource, folder, overlay } = found;
    return { resource, folder: fromHere(folder), overlay: overlay === undefined ? undefined : fromHere(overlay) };
  });
}

function invalidSetting(found: unknown): MerchantRulesError {
  const reason = `the setting ${rulesSetting} holds ${JSON.stringify(found)}, which names no folder`;
  const advice = "write <folder>, or <resource>=<folder>,<overlay>; several of them as a list";
  return new MerchantRulesError("SETTINGS_INVALID", reason, { attempted: "find the files of the rules", advice });
}
