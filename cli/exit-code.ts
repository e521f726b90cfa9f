import { type Command, CommanderError } from "commander";
import { UsageError } from "../contract-tools/usage-error.ts";
import { reasonOf } from "../sdk/json/json.ts";
import { printableLines } from "../sdk/json/printable.ts";
import { isEngineError } from "../stack/errors.ts";

/** Exit codes of the command lines that ran, by their outermost command. */
const exitCodes = new WeakMap<Command, number>();

/**
 * Makes an action for commander of a function that returns the exit code: commander itself drops what an action returns.
 * @param codeOf the exit code of a failure. Default: 2 for a {@link UsageError}, else 1
 */
export function exiting<Words extends unknown[]>(
  run: (...words: Words) => number | Promise<number>,
  codeOf: (error: unknown) => number = (error) => (error instanceof UsageError ? 2 : 1),
): (this: Command, ...words: Words) => Promise<void> {
  return async function (...words) {
    try {
      exitCodes.set(outermost(this), await run(...words));
    } catch (error) {
      exitCodes.set(outermost(this), codeOf(error));
      throw error;
    }
  };
}

/** Returns the exit code that the Pulumi CLI has for a failure: 2 for a usage error, 6 where there is no such stack, else 1. */
export function engineCode(error: unknown): number {
  return error instanceof UsageError || isEngineError(error) ? error.exitCode : 1;
}

/** Returns 2 for a usage error, also of the engine; else 1. */
export function callCode(error: unknown): number {
  return engineCode(error) === 2 ? 2 : 1;
}

/** Runs a command line, given without the command's name, and prints its failure. @returns the exit code */
export async function runCommandLine(command: Command, argv: readonly string[]): Promise<number> {
  try {
    await command.parseAsync(argv, { from: "user" });
  } catch (error) {
    // Help, or a usage error: commander has printed it.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    console.error(printableLines(`error: ${reasonOf(error)}`).join("\n"));
    return exitCodes.get(command) ?? 1;
  }
  return exitCodes.get(command) ?? 0;
}

function outermost(command: Command): Command {
  return command.parent === null ? command : outermost(command.parent);
}
