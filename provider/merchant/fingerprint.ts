import { createHmac, scryptSync } from "node:crypto";
import type { Connection, Credentials } from "../../sdk/client/connection.ts";

/** What a place is made of, beside its address. */
export interface PlaceParts {
  /** Values of the contract's parameters, by name. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The names of those that may be secret. */
  readonly secretParameters: ReadonlySet<string>;
  /** Undefined: not given, as in a preview. */
  readonly credentials: Credentials | undefined;
  readonly clientCertificate?: Connection["clientCertificate"];
}

/**
 * A hash of parameters and principal under the owner id, 16 hexadecimal digits; null without credentials, and where a file or
 * a command has them, which a preview does not ask. A principal is no secret, and a machine's key cannot be guessed; a parameter that may be a secret goes through scrypt.
 */
export function placeKey(ownerId: string, { parameters, secretParameters, ...parts }: PlaceParts): string | null {
  const { credentials, clientCertificate } = parts;
  const isByCertificate = credentials?.kind === "none" && clientCertificate !== undefined;
  const principal = credentials === undefined || isByCertificate ? null : principalOf(credentials);
  if (principal === null) return null;
  const own = Object.entries(parameters)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => [name, secretParameters.has(name) ? stretched(ownerId, value) : value]);
  return createHmac("sha256", ownerId)
    .update(JSON.stringify([own, principal]))
    .digest("hex")
    .slice(0, 16);
}

/** A parameter that may be a secret, as people see it: 12 hexadecimal digits. */
export function stretched(ownerId: string, value: string): string {
  return scryptSync(value, ownerId, 6).toString("hex");
}

/**
 * Who the credentials are: the client, issuer and subject of a JWT, else the token; one that changes each time never matches.
 * Null: a file or a command has the token.
 */
export function principalOf(credentials: Credentials): readonly string[] | null {
  if (credentials.kind === "none") return [];
  if (credentials.kind === "client") return ["client", credentials.clientId];
  if (credentials.kind !== "token") return null;
  const claims = claimsIn(credentials.token);
  if (claims === undefined) return ["key", credentials.token];
  const { iss = "", sub } = claims;
  return typeof sub === "string" && sub !== "" ? ["subject", String(iss), sub] : ["key", credentials.token];
}

/** The claims of a JWT; undefined of any other token. */
function claimsIn(token: string): Record<string, unknown> | undefined {
  const [, header, payload] = /^([\w-]+)\.([\w-]+)\.[\w-]*$/.exec(token) ?? [];
  if (objectIn(header)?.alg === undefined) return undefined;
  return objectIn(payload);
}

function objectIn(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text ?? "", "base64url").toString("utf8"));
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    // Any text may stand in a token: what is no JSON has no claims.
    return undefined;
  }
}
