import { createRequire } from "node:module";
import { Command, CommanderError } from "commander";
import { diffCommand } from "./diff.ts";
import { driftCommand } from "./drift.ts";
import { exportCommand } from "./export.ts";
import { localCommand } from "./local.ts";
import { planCommand } from "./plan.ts";
import { serveCommand } from "./serve.ts";

/**
 * Runs the `merchant-rules` command. Takes the words after the command's name; gives the exit code:
 * 0 done, 1 failed, 2 called wrongly, and what a subcommand documents (as the Pulumi CLI: 6 no such stack,
 * 7 a change that was not expected, 8 ended at once).
 */
export async function main(argv: readonly string[]): Promise<number> {
  for (const stream of [process.stdout, process.stderr])
    if (!stream.listeners("error").includes(nobodyReads)) stream.on("error", nobodyReads);
  let exitCode = 0;
  const done = (code: number): void => {
    exitCode = code;
  };
  const program = new Command("merchant-rules")
    .description(
      "Payment rules as code: export them, plan changes rule by rule, watch for drift; and try it all locally",
    )
    .version(version(), "--version")
    .showHelpAfterError("(add --help for the list of options)")
    .exitOverride();
  const subcommands = [exportCommand, planCommand, driftCommand, diffCommand, serveCommand, localCommand];
  for (const subcommand of subcommands.map((make) => make(done))) program.addCommand(subcommand);
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
    return exitCode || 1;
  }
  return exitCode;
}

function version(): string {
  const { version }: { version: string } = createRequire(import.meta.url)("pulumi-merchant-rules/package.json");
  return version;
}

/** Ctrl-C ends what the output is piped to, as well; a run must come to its end, and note its results, all the same. */
function nobodyReads(): void {}
