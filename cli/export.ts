import { type Command, Option } from "commander";
import { connectionName } from "../provider/state/state.ts";
import { defined } from "../sdk/json/index.ts";
import { isEngineError } from "../stack/errors.ts";
import type { StackIdentity } from "../stack/open/stack-identity.ts";
import { callCode, exiting } from "./exit-code.ts";
import { memoryIn, type StoredMemory } from "./export/connection.ts";
import { readRules } from "./export/rules.ts";
import { type ExportOptions, writeExport } from "./export/write-export.ts";
import { withSession } from "./live-session.ts";
import { andPattern } from "./patterns.ts";
import { readStackSettings, readState, withStackOptions } from "./stack.ts";

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
  const { read, place } = await withSession(sources, false, async (session) => {
    const place = session.place(connectionName(defined({ connection })));
    return { place, read: await readRules(place, { include, exclude, isSet }) };
  });
  const into = identity === undefined ? undefined : { identity, memory: await storedMemory(options, identity) };
  const lines = await writeExport(options, read, place, into);
  console.log(lines.join("\n"));
  return 0;
}

/** Reads the stack's state, and returns the Owner and the connection in it. */
async function storedMemory(options: ExportOptions, { isFirst }: StackIdentity): Promise<StoredMemory> {
  if (isFirst) return memoryIn([]);
  try {
    return memoryIn((await readState(options)).resources, options.connection);
  } catch (error) {
    if (isEngineError(error) && error.code === "STACK_NOT_FOUND") return memoryIn([]);
    throw error;
  }
}
