import type { Contract } from "../../../sdk/contract/index.ts";
import { defined } from "../../../sdk/json/index.ts";
import { Refusal, refusalBody } from "../refusal.ts";
import type { ServedResponse } from "../served-response.ts";
import type { Fault } from "./schema.ts";

/** Makes the response of a `status` fault, in the contract's shape of errors; `nowMs`: milliseconds since 1970. */
export function refused(
  { status, retryAfterSeconds, retryAfterAs }: Extract<Fault, { kind: "status" }>,
  { errors }: Contract,
  nowMs: number,
): ServedResponse {
  const retryAfter =
    retryAfterSeconds === undefined || retryAfterAs === "seconds"
      ? retryAfterSeconds?.toString()
      : new Date(nowMs + retryAfterSeconds * 1000).toUTCString();
  const headers = defined({
    "www-authenticate": status === 401 ? "Bearer" : undefined,
    "retry-after": retryAfter,
  });
  const refusal = new Refusal(status, "FAULT", `a fault that was set answers ${status}`);
  return { status, body: JSON.stringify(refusalBody(refusal, errors, refusal.code)), headers };
}
