/**
 * What went wrong, as a stable word: `BAD_CALL` flags or choices of the caller; `PROJECT_INVALID` Pulumi.yaml, a stack
 * file or the program's folder; `STACK_NOT_FOUND`; `STATE_INVALID` a state file or backend; `LOCKED`; `PASSPHRASE`;
 * `UNSUPPORTED` something only the Pulumi CLI handles; `PROGRAM_FAILED`; `PROVIDER_FAILED` the provider host;
 * `UNEXPECTED_CHANGES`; `CANCELLED`; `FAILED` an operation of the run.
 */
export type EngineErrorCode =
  | "BAD_CALL"
  | "PROJECT_INVALID"
  | "STACK_NOT_FOUND"
  | "STATE_INVALID"
  | "LOCKED"
  | "PASSPHRASE"
  | "UNSUPPORTED"
  | "PROGRAM_FAILED"
  | "PROVIDER_FAILED"
  | "UNEXPECTED_CHANGES"
  | "CANCELLED"
  | "FAILED";

/** The Pulumi CLI's exit codes, for the errors that have one of their own; every other error is 1. */
const exitCodes: Partial<Record<EngineErrorCode, number>> = {
  BAD_CALL: 2,
  STACK_NOT_FOUND: 6,
  UNEXPECTED_CHANGES: 7,
  CANCELLED: 8,
};

/** Every error of the local engine. The message can be acted on; `code` is stable. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: EngineErrorCode;
  /** The resource that the error is about, when there is one. */
  readonly urn: string | undefined;

  constructor(code: EngineErrorCode, message: string, options: { urn?: string | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.urn = options.urn;
  }

  get exitCode(): number {
    return exitCodes[this.code] ?? 1;
  }
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The error code of a failed system call (ENOENT, EEXIST, …), if it is one. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
