/** An error whose stack is its message, because the policy host prints the stack. */
export function plainError(message: string): Error {
  const error = new Error(message);
  error.stack = message;
  return error;
}
