/** A mistake in the call itself, such as an option's value that is not allowed. The command ends with exit code 2. */
export class UsageError extends Error {
  readonly exitCode = 2;
}
