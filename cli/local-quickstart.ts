import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Command, Option } from "commander";
import type { QuickstartOptions } from "pulumi-merchant-rules-local/quickstart";
import { exiting } from "./exit-code.ts";
import { localPackage } from "./local-package.ts";

/**
 * Defines `merchant-rules local quickstart`: shows the life of three rules on a local service, by examples/quickstart.
 * @param words how the user starts it, up to its options
 */
export function localQuickstartCommand(
  command: Command,
  words = "npx --no-install merchant-rules local quickstart",
): Command {
  return command
    .description("see it all in a minute: three rules on a local service, which drift, heal and go away")
    .option("--keep", "leave the rules and the service there, and say what to try next")
    .addOption(
      new Option("--engine <name>", "the engine (default: pulumi where it is on the PATH, else local)").choices([
        "pulumi",
        "local",
      ]),
    )
    .addOption(
      new Option("--clean", "remove what --keep has left: the service, its rules, the project").conflicts([
        "keep",
        "engine",
      ]),
    )
    .showHelpAfterError("(add --help for the list of options)")
    .addHelpText(
      "after",
      `
Exit codes: 0 done; 1 a step failed, or an earlier quickstart is still there; 2 called wrongly;
130 interrupted by Ctrl-C, 143 by SIGTERM, 129 by the end of the terminal.

Example:
  ${words} --keep`,
    )
    .exitOverride()
    .action(
      exiting(async (options: QuickstartOptions) => {
        const { quickstart } = await localPackage("quickstart");
        const home = dirname(createRequire(import.meta.url).resolve("pulumi-merchant-rules/package.json"));
        return await quickstart(options, { program: join(home, "examples/quickstart"), command: words });
      }),
    );
}
