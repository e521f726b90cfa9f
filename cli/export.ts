import { type Command, Option } from "commander";
import { connectionName } from "../provider/state/state.ts";
import { defined } from "../sdk/json/index.ts";
import { isEngineError } from "../stack/errors.ts";
import type { StackIdentity } from "../stack/open/stack-identity.ts";
import { callCode, exiting } from "./exit-code.ts";
import { memoryIn } from "./export/connection.ts";
import { readRules } from "./export/rules.ts";
import { type ExportOptions, writeExport } from "./export/write-export.ts";
import { Invocation } from "./invocation.ts";
import { andPattern } from "./patterns.ts";
import { readStackSettings, readState, type Stack, withStackOptions } from "./stack.ts";

/** Defines `merchant-rules export`: writes every rule at the service as code, and as a file for `pulumi import`. */
export function exportCommand(command: Command): void {
  command
    .option("-o, --out <dir>", "the folder to write to", ".")
    .addOption(
      new Option(
        "--as <form>",
        "files: a YAML file a rule, and a program with one set; program: one TypeScript program with a resource a rule",
      )
        .choices(["files", "program"])
        .default("files"),
    )
    .option("--connection <name>", "the connection to read over (default: the default one)")
    .option("--include <pattern...>", "only rules with such a name: the natural key, else the ruleId", andPattern, [])
    .option("--exclude <pattern...>", "no rules with such a name", andPattern, [])
    .option("--force", "write over files that exist", false);
  withStackOptions(command)
    .addHelpText(
      "after",
      `
A pattern is a name, or id: and a ruleId; * stands for any characters, ? for one.
Nothing is written to the service. Without a project (Pulumi.yaml) there is no import.json: give --cwd, and --stack.

Exit codes: 0 done, 1 failed, or nothing to export, 2 called wrongly
Example: npx --no-install merchant-rules export --stack dev --exclude "test-*"`,
    )
    .action(exiting(exportRules, callCode));
}

async function exportRules(options: ExportOptions): Promise<number> {
  const { sources, identity } = await readStackSettings(options);
  const { connection, include, exclude } = options;
  const isSet = options.as === "files";
  const stack = identity === undefined ? undefined : await storedStack(options, identity);
  const invocation = Invocation.ofSettings(sources, stack);
  const { read, place } = await invocation.reading(async () => {
    const { place } = await invocation.proven(connectionName(defined({ connection })));
    return { place, read: await readRules(place, { include, exclude, isSet }) };
  });
  const memory = memoryIn(stack?.resources ?? [], connection);
  const into = identity === undefined ? undefined : { identity, memory };
  const lines = await writeExport(options, read, place, into);
  console.log(lines.join("\n"));
  return 0;
}

/** Reads the stack's state; undefined where it has none yet. */
async function storedStack(options: ExportOptions, { isFirst }: StackIdentity): Promise<Stack | undefined> {
  if (isFirst) return undefined;
  try {
    return await readState(options);
  } catch (error) {
    if (isEngineError(error) && error.code === "STACK_NOT_FOUND") return undefined;
    throw error;
  }
}
