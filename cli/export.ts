import { type Command, Option } from "commander";
import { Session } from "../provider/hooks/session.ts";
import { connectionName } from "../provider/state/state.ts";
import { isMerchantRulesError } from "../sdk/errors.ts";
import { isEngineError } from "../stack/errors.ts";
import type { StackIdentity } from "../stack/open/stack-identity.ts";
import { callCode, exiting } from "./exit-code.ts";
import { connectionOf, type StoredConnection } from "./export/connection.ts";
import { readRules } from "./export/rules.ts";
import { type ExportOptions, writeExport } from "./export/write-export.ts";
import { andPattern } from "./patterns.ts";
import { withProgress } from "./progress.ts";
import { readState, withStackOptions } from "./stack.ts";
import { settingsOfStack } from "./stack-settings.ts";

/**
 * Defines `merchant-rules export`: every rule at the service into code, and into a file for `pulumi import`. It only reads.
 * Exit codes: 0 done, 1 failed (also: there is no rule to export), 2 usage error.
 */
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
  const { sources, identity } = await settingsOfStack(options);
  const { connection, include, exclude } = options;
  const isSet = options.as === "files";
  const { read, place } = await withProgress("reading rules", async (step) => {
    const session = new Session(sources, step);
    try {
      const place = session.place(connectionName(connection === undefined ? {} : { connection }));
      return { place, read: await readRules(place, { include, exclude, isSet }) };
    } catch (error) {
      throw isMerchantRulesError(error) ? session.explain(error) : error;
    }
  });
  const into = identity === undefined ? undefined : { identity, connection: await storedConnection(options, identity) };
  const lines = await writeExport(options, read, place, into);
  console.log(lines.join("\n"));
  return 0;
}

/** The connection in the stack's state, where rules of it were declared before. */
async function storedConnection(
  options: ExportOptions,
  { isFirst }: StackIdentity,
): Promise<StoredConnection | undefined> {
  if (isFirst) return undefined;
  try {
    return connectionOf((await readState(options)).resources, options.connection);
  } catch (error) {
    if (isEngineError(error) && error.code === "STACK_NOT_FOUND") return undefined;
    throw error;
  }
}
