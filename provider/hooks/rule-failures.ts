import { MerchantRulesError } from "../../sdk/errors.ts";
import type { Outcome } from "../reconcile/index.ts";
import type { Properties } from "./wire.ts";

/** A hook that did part of its work: the engine keeps the properties in the state and calls update in the next run. */
export class PartialResult extends Error {
  readonly id: string;
  readonly properties: Properties;

  constructor(cause: MerchantRulesError, id: string, properties: Properties) {
    super(cause.message, { cause });
    this.id = id;
    this.properties = properties;
  }
}

/** One error that names every rule that failed, with what the service said of each; undefined when none did. */
export function errorOfRules(outcomes: readonly Outcome[], total: number): MerchantRulesError | undefined {
  const failures = outcomes.flatMap(({ key, error }) => (error === undefined ? [] : [{ key, error }]));
  const [first] = failures;
  if (first === undefined) return undefined;
  const lines = failures.map(({ key, error }) => `  ${key}: ${error.message}`);
  const rest = total === failures.length ? "" : "; what was done for the others is in the state";
  return new MerchantRulesError(
    first.error.code,
    `${failures.length} of ${total} rules failed${rest}:\n${lines.join("\n")}`,
    {
      advice: "mend the cause and run again: only what is left is done",
    },
  );
}
