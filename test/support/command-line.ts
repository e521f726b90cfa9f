import { type Command, CommanderError } from "commander";

/** The options of a command line; or the exit code, where it asked for help (0) or was wrong (2), which has been printed. */
export function optionsOf<T extends object>(command: Command, argv: readonly string[]): T | number {
  command.showHelpAfterError("(add --help for the list of options)").exitOverride();
  try {
    return command.parse(argv, { from: "user" }).opts<T & Record<string, unknown>>();
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}
