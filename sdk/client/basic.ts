import { MerchantRulesError } from "../errors.ts";
import type { Credentials } from "./connection.ts";

type Client = Extract<Credentials, { kind: "client" }>;

/**
 * Encodes client id and secret for HTTP Basic (RFC 7617). For a token operation both are form-encoded first (RFC 6749,
 * 2.3.1).
 * @throws MerchantRulesError SETTINGS_INVALID: an id with a colon, which nobody could tell from the secret
 */
export function basicOf({ clientId, clientSecret }: Client, { isForToken = false } = {}): string {
  const encode = (text: string): string => (isForToken ? new URLSearchParams({ "": text }).toString().slice(1) : text);
  const id = encode(clientId);
  if (id.includes(":"))
    throw new MerchantRulesError("SETTINGS_INVALID", "the client id has a colon, which HTTP Basic cannot carry", {
      advice: "give the client id without a colon, as the service wrote it",
    });
  return Buffer.from(`${id}:${encode(clientSecret)}`).toString("base64");
}
