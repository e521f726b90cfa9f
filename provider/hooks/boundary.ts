import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { runtimeFault } from "../host/runtime.ts";
import type { Properties } from "../host/wire.ts";
import type { Outcome } from "../steps/outcome.ts";

/** A hook that did part of its work: the engine keeps the properties in the state and calls update in the next run. */
export class PartialResult extends Error {
  override readonly cause: MerchantRulesError;
  readonly id: string;
  readonly properties: Properties;

  constructor(cause: MerchantRulesError, id: string, properties: Properties) {
    super(cause.message);
    this.cause = cause;
    this.id = id;
    this.properties = properties;
  }
}

/**
 * Runs a hook so that a failure is shown once: the host prints an error's message and stack beside its response.
 * @param explain adds what the session knows of an error
 */
export async function atBoundary<T>(
  hook: string,
  explain: (error: MerchantRulesError) => MerchantRulesError,
  run: () => T | Promise<T>,
): Promise<T> {
  try {
    demandRuntime();
    return await run();
  } catch (error) {
    if (error instanceof PartialResult) throw new HookError(hook, explain(error.cause).message, error);
    if (isMerchantRulesError(error)) throw new HookError(hook, explain(error).message);
    throw error;
  }
}

/**
 * The message alone, without `code` or `details`, which gRPC gives meanings of its own. What a partial result carries
 * makes the engine keep it.
 */
export class HookError extends Error {
  readonly id: string | undefined;
  readonly properties: Properties | undefined;
  readonly reasons: readonly string[] | undefined;
  readonly #hook: string;

  constructor(hook: string, message: string, partial?: PartialResult) {
    super(message);
    this.#hook = hook;
    this.stack = `${hook} failed; the reason is shown at the resource`;
    this.id = partial?.id;
    this.properties = partial?.properties;
    this.reasons = partial === undefined ? undefined : [message];
  }

  override toString(): string {
    return `merchant-rules: ${this.#hook}`;
  }
}

/** The most failures of a set that are listed; the others are counted. The message travels with the partial result. */
const mostListed = 20;

/** Returns one error for the rules of a resource that failed, if any did. @param afterwards says what is so of the others */
export function errorOf(
  outcomes: readonly Outcome[],
  isRule: boolean,
  afterwards: string,
): MerchantRulesError | undefined {
  const failures = outcomes.flatMap(({ key, error }) => (error === undefined ? [] : [{ key, error }]));
  const [first] = failures;
  if (first === undefined || isRule) return first?.error;
  const { tried = [], untried = [] } = Object.groupBy(failures, ({ error }) =>
    error.code === "NOT_TRIED" ? "untried" : "tried",
  );
  // A message may have lines of its own.
  const lines = tried.slice(0, mostListed).flatMap(({ key, error }) => {
    const [line, ...more] = error.message.split("\n");
    return [`  ${key}: ${line}`, ...more.map((each) => `    ${each}`)];
  });
  if (tried.length > mostListed) lines.push(`  and ${tried.length - mostListed} more failed`);
  if (untried[0] !== undefined) lines.push(`  ${untried.length} more were not tried: ${untried[0].error.reason}`);
  const others = failures.length === outcomes.length ? "" : `; ${afterwards}`;
  return new MerchantRulesError(
    (tried[0] ?? first).error.code,
    `${tried.length} of ${outcomes.length} rules failed${others}:`,
    { lines, advice: "fix the cause and run again: only what is left is done" },
  );
}

function demandRuntime(): void {
  const fault = runtimeFault("the provider");
  if (fault !== undefined) throw new MerchantRulesError("SETTINGS_INVALID", fault.reason, { advice: fault.advice });
}
