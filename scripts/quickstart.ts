// `npm run quickstart`: the quickstart with this repository's own program.
import { Command } from "commander";
import { runCommandLine } from "../cli/exit-code.ts";
import { localQuickstartCommand } from "../cli/local-quickstart.ts";

process.exitCode = await runCommandLine(
  localQuickstartCommand(new Command("quickstart"), "npm run quickstart --"),
  process.argv.slice(2),
);
