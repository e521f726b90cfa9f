import { isMerchantRulesError } from "../../sdk/errors.ts";

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
