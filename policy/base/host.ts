import { resolve } from "node:path";
import { isMerchantRulesError } from "../../sdk/errors.ts";

/**
 * Returns the full path of a file that a configuration names. A relative path begins at the folder in which pulumi was
 * started: the policy host works in the folder of the pack, but the shell from which pulumi was started leaves its folder in
 * PWD. Without PWD, the path begins at the pack's folder.
 */
export function callersFile(name: string): string {
  return resolve(process.env.PWD ?? "", name);
}

let began: Date | undefined;

/**
 * Returns the time at which this function was first called in this run. The policy host lives as long as one preview or one
 * `up`, so all of its rules are judged by one moment, and an `up` that began in time is not stopped half-way.
 */
export function startOfRun(): Date {
  began ??= new Date();
  return began;
}

/** Returns an error whose stack is its message, because the policy host prints the stack. */
export function plainError(message: string): Error {
  const error = new Error(message);
  error.stack = message;
  return error;
}

/** Makes the message of an error of this package its stack, because the policy host prints the stack. Returns the error, or any other as it is. */
export function withPlainStack<Thrown>(error: Thrown): Thrown {
  if (isMerchantRulesError(error)) error.stack = error.message;
  return error;
}
