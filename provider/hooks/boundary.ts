import { isMerchantRulesError } from "../../sdk/errors.ts";
import { PartialResult } from "./rule-failures.ts";
import type { Properties } from "./wire.ts";

/**
 * Runs a hook so that what it throws can be shown as it is. The provider host prints an error's text and its stack
 * next to what it answers, which would show every failure twice and a stack trace once.
 */
export async function atBoundary<T>(hook: string, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof PartialResult) throw new HookError(hook, error.message, error);
    if (isMerchantRulesError(error)) throw new HookError(hook, error.message);
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
    this.stack = `${hook} failed; the reason stands with the resource`;
    this.id = partial?.id;
    this.properties = partial?.properties;
    this.reasons = partial === undefined ? undefined : [message];
  }

  override toString(): string {
    return `merchant-rules: ${this.#hook}`;
  }
}
