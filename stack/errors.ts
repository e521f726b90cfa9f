import type { z } from "zod";
import { inPlainWords } from "../sdk/files/described-file.ts";
import { isError } from "../sdk/json/json.ts";
import { printable } from "../sdk/json/printable.ts";

export { reasonOf as messageOf } from "../sdk/json/json.ts";

/** Every code that an error of the local engine can have. docs/reference/errors.md explains each. */
export const engineErrorCodes = [
  "BAD_CALL",
  "PROJECT_INVALID",
  "STACK_NOT_FOUND",
  "STATE_INVALID",
  "LOCKED",
  "PASSPHRASE",
  "UNSUPPORTED",
  "PROGRAM_FAILED",
  "PROVIDER_FAILED",
  "POLICY_PACK",
  "POLICY_VIOLATED",
  "FAILED",
] as const;

/**
 * The kind of an error, as a stable word: `BAD_CALL` flags or choices of the caller; `PROJECT_INVALID` Pulumi.yaml, a
 * stack file or the program's folder; `STACK_NOT_FOUND`; `STATE_INVALID` a state file or backend; `LOCKED`;
 * `PASSPHRASE`; `UNSUPPORTED` something only the Pulumi CLI handles; `PROGRAM_FAILED`; `PROVIDER_FAILED` the provider
 * host; `POLICY_PACK` a policy pack or its configuration; `POLICY_VIOLATED` a mandatory policy; `FAILED` an operation
 * of the run.
 */
export type EngineErrorCode = (typeof engineErrorCodes)[number];

/** The Pulumi CLI's exit codes, for the errors that have one of their own; every other error is 1. */
const exitCodes: Partial<Record<EngineErrorCode, number>> = { BAD_CALL: 2, STACK_NOT_FOUND: 6 };

/** Every error of the local engine. The message can be acted on; `code` is stable. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: EngineErrorCode;
  /** The resource that the error is about, when there is one. */
  readonly urn: string | undefined;

  constructor(code: EngineErrorCode, message: string, options: { urn?: string | undefined; cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
    this.urn = options.urn;
  }

  get exitCode(): number {
    return exitCodes[this.code] ?? 1;
  }
}

/** Decides whether a value is an error of the local engine, of any copy of the class: both packages carry one. */
export function isEngineError(value: unknown): value is EngineError {
  return value instanceof Error && value.name === "EngineError" && "exitCode" in value;
}

/** Thrown by what comes too late. The program is told that the engine is gone, and ends quietly. */
export class RunIsOver extends Error {
  override readonly message = "the run has stopped";
}

/** Returns the error code of a failed system call (ENOENT, EEXIST, …), if it is one. */
export function systemCode(error: unknown): string | undefined {
  return isError(error) && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

const mostShown = 5;

/** Writes the refusals of a schema on one line: the first five places, and the number of the others. */
export function describeIssues(error: z.ZodError): string {
  const { issues } = inPlainWords(error);
  const shown = issues.slice(0, mostShown).map(({ path, message }) => {
    const place = path.map(String).join(".");
    return `${place === "" ? "the whole" : printable(place, 100)}: ${printable(message, 200)}`;
  });
  const more = issues.length > mostShown ? `, and ${issues.length - mostShown} more` : "";
  return shown.join("; ") + more;
}
