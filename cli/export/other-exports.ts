import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { tryJson } from "../../stack/state/files.ts";
import type { ExportedRule } from "./exported-rule.ts";

/** An export that is about to write over files. */
interface Overwriting {
  readonly folder: string;
  readonly rules: readonly ExportedRule[];
  readonly connection: string | undefined;
  /** True where --include or --exclude left rules out. */
  readonly isPart: boolean;
  /** Rule files beside those of this export. */
  readonly others: readonly string[];
}

const imported = z.object({
  resources: z.array(
    z.object({
      type: z.string(),
      id: z.string(),
      inputs: z.object({ connection: z.string().optional() }).optional(),
      outputs: z.object({ ruleIds: z.record(z.string(), z.string()).optional() }).optional(),
    }),
  ),
});

/**
 * Sees that --force writes over no program and no import file of an export of other rules: they would be lost there.
 * @param program the name and the new content of the program
 * @throws MerchantRulesError SETTINGS_INVALID, naming the file
 */
export function keepOtherExports(
  { folder, rules, connection, isPart, others }: Overwriting,
  importFile: string,
  program: { readonly file: string; readonly text: string },
): void {
  const ids = new Set(rules.map(({ ruleId }) => ruleId));
  const names = new Set(rules.map(({ key }) => JSON.stringify(key)));
  const { data } = imported.safeParse(tryJson(textOf(folder, importFile)));
  const sets = (data?.resources ?? []).filter(({ type }) => /:MerchantRule(?:Set)?$/.test(type));
  const isElsewhere = sets.some(({ inputs }) => inputs?.connection !== connection);
  const left = sets
    .flatMap(({ id, outputs }) => Object.values(outputs?.ruleIds ?? { id }))
    .filter((id) => !ids.has(id));
  if (left.length > 0 && (isPart || isElsewhere)) throw ofOthers(join(folder, importFile), left.length);
  const written = textOf(folder, program.file);
  const declared = [...written.matchAll(/^new MerchantRule\((".*"), \{$/gm)].map(([, name = ""]) => name);
  const lost = declared.filter((name) => !names.has(name)).length;
  if (lost > 0 && isPart) throw ofOthers(join(folder, program.file), lost);
  if (isPart && others.length > 0 && written !== "" && written !== program.text)
    throw ofOthers(join(folder, program.file), others.length);
}

function textOf(folder: string, file: string): string {
  const path = join(folder, file);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

function ofOthers(file: string, count: number): MerchantRulesError {
  const rules = count === 1 ? "1 rule" : `${count} rules`;
  const reason = `${file} is of an export of other rules, too, and would lose ${rules}; nothing was written`;
  const advice =
    "export all of these rules at once, or give a folder of its own with --out; a rule is added to files that exist by `merchant-rules pull --unmanaged <name>`";
  return new MerchantRulesError("SETTINGS_INVALID", reason, { attempted: "export rules", advice });
}
