import { isMerchantRulesError } from "../../sdk/errors.ts";

/**
 * Runs a hook so that what it throws can be shown as it is. The provider host prints an error's text and its stack
 * next to what it answers, which would show every failure twice and a stack trace once.
 */
export async function atBoundary<T>(hook: string, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isMerchantRulesError(error)) throw new HookError(hook, error.message);
    throw error;
  }
}

/** The message alone; without `code`, `details` or `id`, which the host and gRPC give meanings of their own. */
export class HookError extends Error {
  readonly #hook: string;

  constructor(hook: string, message: string) {
    super(message);
    this.#hook = hook;
    this.stack = `${hook} failed; the reason stands with the resource`;
  }

  override toString(): string {
    return `merchant-rules: ${this.#hook}`;
  }
}
