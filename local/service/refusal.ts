import type { Contract } from "../../sdk/contract/index.ts";
import { type Json, withValueAt } from "../../sdk/rules/index.ts";

/** The codes that this service answers failures with. The seed shows none (section 7). */
export type RefusalCode =
  | "BAD_REQUEST"
  | "UNAUTHENTICATED"
  | "INVALID_CLIENT"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "RULE_NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "RULE_EXISTS"
  | "RULE_DELETED"
  | "RULE_FOREIGN"
  | "PAYLOAD_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "VALIDATION_FAILED"
  | "IDEMPOTENCY_CONFLICT"
  | "RATE_LIMITED"
  | "BUSY"
  | "FAULT"
  | "INTERNAL";

/** One place in what was sent that is wrong. */
export interface RefusalDetail {
  readonly path: string;
  readonly reason: string;
}

/** A request that this service does not carry out, thrown where that is known, answered in one place. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly code: RefusalCode;
  readonly details: readonly RefusalDetail[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: RefusalCode,
    message: string,
    more: { details?: readonly RefusalDetail[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = more.details ?? [];
    this.headers = more.headers ?? {};
  }
}

export function badRequest(message: string, details?: readonly RefusalDetail[]): Refusal {
  return new Refusal(400, "BAD_REQUEST", message, details === undefined ? {} : { details });
}

/** The body of a refusal, with code, message and details where the contract has them. */
export function refusalBody({ code, message, details }: Refusal, errors: Contract["errors"]): Json {
  // Of several places the last one: a client that looks at the first alone finds nothing.
  const messageAt = [errors.message].flat().at(-1) ?? "";
  const coded = withValueAt(withValueAt({}, errors.code, code), messageAt, message);
  if (details.length === 0) return coded;
  return withValueAt(
    coded,
    errors.details,
    details.map(({ path, reason }) => ({ path, reason })),
  );
}
