import type { Command } from "commander";
import type { ImportResult } from "pulumi-merchant-rules-local/engine";
import { UsageError } from "../contract-tools/usage-error.ts";
import { printable, printableLines } from "../sdk/json/printable.ts";
import { confirmed } from "./confirm.ts";
import { engineCode, exiting } from "./exit-code.ts";
import { localPackage } from "./local-package.ts";
import type { StackOptions } from "./stack.ts";

interface LocalImportOptions extends Omit<StackOptions, "engine"> {
  readonly file: string;
  readonly yes?: boolean;
  readonly previewOnly?: boolean;
}

/** Defines `merchant-rules local import --file FILE`: takes rules that exist already into a stack's state. */
export function localImportCommand(command: Command): void {
  command
    .description("take what exists already into the state, from a file that `merchant-rules export` wrote")
    .option("-f, --file <file>", "a file for `pulumi import --file`, whose entries have inputs and outputs")
    .option("-s, --stack <name>", "the stack (default: as up; it is made where it does not exist)")
    .option("-C, --cwd <dir>", "the project's folder, or one below it")
    .option("--backend <url>", "a file:// URL (default: as up)")
    .option("-y, --yes", "go ahead without asking")
    .option("--preview-only", "show what would be taken in, and do nothing")
    .addHelpText(
      "after",
      `
No service is asked and no rule is changed. Resources are unprotected but where the file says "protect": true.

Exit codes: 0 done, 1 failed, 2 called wrongly or a file that cannot be used, 8 cancelled at the question
Example: npx --no-install merchant-rules local import --file import.json --yes`,
    )
    .action(
      exiting(async ({ file, ...options }: Partial<LocalImportOptions>) => {
        // Not a required one: commander looks for these before it looks for misspelt ones.
        if (file === undefined) command.error("error: required option '-f, --file <file>' not specified");
        return await runImport({ file, ...options });
      }, engineCode),
    );
}

async function runImport(options: LocalImportOptions): Promise<number> {
  if (options.yes === true && options.previewOnly !== true) return await importOnce(options, false);
  if (options.previewOnly === true) return await importOnce(options, true);
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UsageError(
      "import changes the state, and there is nobody here to confirm it: pass --yes to go ahead, or --preview-only to look",
    );
  await importOnce(options, true);
  return await confirmed("import", () => importOnce(options, false));
}

async function importOnce(options: LocalImportOptions, previewOnly: boolean): Promise<number> {
  const { importResources } = await localPackage("engine");
  const { file, stack, cwd, backend: backendUrl } = options;
  const inform = (severity: "info" | "warning", message: string): void =>
    console.error(printableLines(`${severity}: ${message}`).join("\n"));
  show(await importResources({ file, stack, cwd, backendUrl, previewOnly, inform }), previewOnly);
  return 0;
}

function show({ stack, isNewStack, imported }: ImportResult, previewOnly: boolean): void {
  const [importing, create, count] = previewOnly
    ? ["Previewing import", "to create", "to import"]
    : ["Importing", "created", "imported"];
  console.log(`${importing} (${stack}):`);
  for (const { type, urn, id } of imported)
    console.log(printable(` =  ${type} ${urn.split("::").slice(3).join("::")} (${id})`));
  console.log("Resources:");
  if (isNewStack) console.log(`    + 1 ${create}`);
  console.log(`    = ${imported.length} ${count}`);
}
