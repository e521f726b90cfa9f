import { Command } from "commander";
import { packageVersion } from "../sdk/version.ts";
import { catalogCommand } from "./catalog.ts";
import { contractCommand } from "./contract.ts";
import { diffCommand } from "./diff.ts";
import { doctorCommand } from "./doctor.ts";
import { driftCommand } from "./drift.ts";
import { runCommandLine } from "./exit-code.ts";
import { explainCommand } from "./explain.ts";
import { exportCommand } from "./export.ts";
import { helpCommand } from "./help.ts";
import { projectInitCommand } from "./init.ts";
import { lintCommand } from "./lint.ts";
import { localCommand } from "./local.ts";
import { planCommand } from "./plan.ts";
import { pullCommand } from "./pull.ts";
import { schemaCommand } from "./schema.ts";
import { serveCommand } from "./serve.ts";
import { simulateCommand } from "./simulate.ts";
import { testCommand } from "./test.ts";

/**
 * Runs the `merchant-rules` command. Takes the words after the command's name; gives the exit code:
 * 0 done, 1 failed, 2 called wrongly, and what a subcommand documents (as the Pulumi CLI: 6 no such stack,
 * 7 a change that was not expected, 8 ended at once).
 */
export async function main(argv: readonly string[]): Promise<number> {
  for (const stream of [process.stdout, process.stderr])
    if (!stream.listeners("error").includes(nobodyReads)) stream.on("error", nobodyReads);
  return await runCommandLine(commandLine(), argv);
}

/** All commands with their options. */
export function commandLine(): Command {
  const program = new Command("merchant-rules")
    .description(
      "Payment rules as code: export them, plan changes rule by rule, watch for drift; and try it all locally",
    )
    .version(packageVersion(), "--version")
    .showHelpAfterError("(add --help for the list of options)")
    .addHelpText("after", help)
    .helpCommand(false)
    .exitOverride();
  const subcommands = [
    exportCommand,
    planCommand,
    driftCommand,
    pullCommand,
    diffCommand,
    catalogCommand,
    testCommand,
    explainCommand,
    simulateCommand,
    lintCommand,
    projectInitCommand,
    contractCommand,
    doctorCommand,
    schemaCommand,
    serveCommand,
    localCommand,
    helpCommand,
  ];
  for (const subcommand of subcommands.map((make) => make())) program.addCommand(subcommand);
  return program;
}

const help = `
Exit codes: 0 done; 1 failed; 2 called wrongly; 6 no such stack; 7 a change or a difference; 8 ended at once.
Each command's --help says which it has, and what they mean there. The pages are printed by merchant-rules help.

Example, to see what somebody changed by hand:
  npx --no-install merchant-rules drift --stack dev`;

/** Ctrl-C ends what the output is piped to, as well; a run must come to its end, and note its results, all the same. */
function nobodyReads(): void {}
