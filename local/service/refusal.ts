import type { Contract } from "../../sdk/contract/index.ts";
import { defined, type Json, valueAt, withValueAt } from "../../sdk/json/index.ts";

/** A response before it is written to the connection. */
export interface ServedResponse {
  readonly status: number;
  /** JSON text; "" for statuses that have no body. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly replayed?: boolean;
}

/** The codes of this service's refusals. The seed shows none (section 7). */
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
  | "RULE_CHANGED"
  | "RULE_IN_USE"
  | "NO_SUCH_STEP"
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
  /** The rule that is in the way, as a response would have it. */
  readonly rule: Json | undefined;

  constructor(
    status: number,
    code: RefusalCode,
    message: string,
    more: { details?: readonly RefusalDetail[]; headers?: Readonly<Record<string, string>>; rule?: Json } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = more.details ?? [];
    this.headers = more.headers ?? {};
    this.rule = more.rule;
  }
}

export function badRequest(message: string, details?: readonly RefusalDetail[]): Refusal {
  return new Refusal(400, "BAD_REQUEST", message, defined({ details }));
}

/** Makes the response of a refusal, with the status and code of its own that the contract's `errors` gives it. */
export function refusalResponse(refusal: Refusal, errors: Contract["errors"]): ServedResponse {
  const meaning = meanings[refusal.code];
  const [told] = meaning === undefined ? [] : errors[meaning];
  const status = told?.status ?? refusal.status;
  const isRule = status < 300 && refusal.rule !== undefined && (told?.code ?? null) === null;
  const body = isRule ? refusal.rule : refusalBody(refusal, errors, told?.code ?? refusal.code);
  return { status, body: JSON.stringify(body), headers: refusal.headers };
}

const meanings: Partial<Record<RefusalCode, "notFound" | "exists" | "inUse">> = {
  RULE_NOT_FOUND: "notFound",
  RULE_EXISTS: "exists",
  RULE_IN_USE: "inUse",
};

/** Makes the body of a refusal, with code, message and details where the contract has them, and marked as a failure (`errors.failure`). */
export function refusalBody(
  { message, details }: Pick<Refusal, "message" | "details">,
  errors: Contract["errors"],
  code: Json,
): Json {
  // Of several places the last one: a client that looks at the first alone finds nothing.
  const messageAt = [errors.message].flat().at(-1) ?? "";
  const said = withValueAt(withValueAt({}, errors.code, code), messageAt, message);
  const [mark] = errors.failure;
  const isMarked = mark === undefined || valueAt(said, mark.at) !== undefined;
  const coded = isMarked ? said : withValueAt(said, mark.at, mark.is?.[0] ?? true);
  if (details.length === 0) return coded;
  return withValueAt(
    coded,
    errors.details,
    details.map(({ path, reason }) => ({ path, reason })),
  );
}
