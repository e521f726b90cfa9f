import { createHash, randomBytes } from "node:crypto";

/** A new owner id: 128 random bits as 32 hexadecimal digits. */
export function newOwnerId(): string {
  return randomBytes(16).toString("hex");
}

/** True of an owner id. */
export function isOwnerId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** The identity of a merchant as 12 hexadecimal digits. Without a key, so that every stack has the same for one merchant. */
export function hashOfIdentity(identity: string): string {
  return createHash("sha256").update(identity).digest("hex").slice(0, 12);
}

/** An id by its form: whether a service gives it again at another merchant. */
export type IdScope = "service" | "merchant";

/**
 * True of an id that no other merchant of the service has: by the contract (`rule.idScope`), else by its form: a UUID, a ULID,
 * 64 random bits and more as hexadecimal digits or in letters of both cases and digits, with or without a prefix of its kind
 * (`rule_`). Words and numbers of people are none.
 */
export function isOpaqueId(ruleId: string, idScope: IdScope | null): boolean {
  if (idScope !== null) return idScope === "service";
  const own = ruleId.replace(/^[A-Za-z]{1,12}_/, "");
  return random.some((form) => form.test(own)) && /\d[A-Za-z]|[A-Za-z]\d/.test(own);
}

const random = [
  /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i,
  /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/,
  /^[0-9a-f]{16,}$/,
  /^(?=.*[a-z])(?=.*[A-Z])(?=(?:.*\d[A-Za-z]){2})[0-9A-Za-z]{14,}$/,
];
