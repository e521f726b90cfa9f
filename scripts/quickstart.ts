// `npm run quickstart`: the quickstart with this repository's own program.
import { runCommandLine } from "../cli/exit-code.ts";
import { localQuickstartCommand } from "../cli/local-quickstart.ts";

process.exitCode = await runCommandLine(localQuickstartCommand("npm run quickstart --"), process.argv.slice(2));
