// `npm run quickstart`: the quickstart with this repository's own program.
import { CommanderError } from "commander";
import { localQuickstartCommand } from "../cli/local-quickstart.ts";

const command = localQuickstartCommand((code) => {
  process.exitCode = code;
}, "npm run quickstart --");
try {
  await command.parseAsync(process.argv.slice(2), { from: "user" });
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
