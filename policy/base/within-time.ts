import { createContext, Script } from "node:vm";

/** Only a script can be interrupted, and so can what it calls. */
const script = new Script("work()");
const scope: { work: () => void } = { work: () => undefined };
const context = createContext(scope);

/** Runs work that may not end by itself, such as a regular expression. @throws what `late` makes, after `timeoutMs` */
export function withinTime<Result>(work: () => Result, timeoutMs: number, late: () => Error): Result {
  const results: Result[] = [];
  scope.work = () => results.push(work());
  try {
    // Otherwise the stack of an error gets lines of this source.
    script.runInContext(context, { timeout: timeoutMs, displayErrors: false });
  } catch (error) {
    throw isTimeout(error) ? late() : error;
  }
  for (const result of results) return result;
  throw late();
}

/** Returns whether an error is a timeout; not by instanceof, because the script's context has an Error class of its own. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === "object" && error !== null && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"
  );
}
