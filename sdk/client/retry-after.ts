import type { Answer } from "./attempt.ts";

/**
 * How long an answer asks to wait, in milliseconds: `Retry-After` in seconds or as an HTTP date (RFC 9110, 10.2.3),
 * the latter reckoned from the answer's own `Date`, so that clocks may differ. Undefined where it says nothing usable.
 */
export function retryAfterMsOf(headers: Answer["headers"], nowMs: number = Date.now()): number | undefined {
  const text = headers["retry-after"];
  if (typeof text !== "string") return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const at = Date.parse(text);
  if (Number.isNaN(at)) return undefined;
  const sent = typeof headers.date === "string" ? Date.parse(headers.date) : Number.NaN;
  return Math.max(0, at - (Number.isNaN(sent) ? nowMs : sent));
}
