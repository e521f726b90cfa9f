import { createHash, randomBytes } from "node:crypto";

/**
 * A connection's id, `<owner id>.<identity>`: whose the rules of its resources are, and who the credentials were when it
 * was made. Identities are compared by these, never by names.
 */
export interface ConnectionId {
  /** 20 hexadecimal digits, made once at random. Every mark of the connection's rules holds them. */
  readonly ownerId: string;
  /** A hash of who the credentials are, as {@link hashOfIdentity}; undefined where the contract cannot tell. */
  readonly identity: string | undefined;
}

/** A new connection's id. @param identity who the credentials are, where the contract can tell */
export function newConnectionId(identity: string | undefined): ConnectionId {
  return {
    ownerId: randomBytes(10).toString("hex"),
    identity: identity === undefined ? undefined : hashOfIdentity(identity),
  };
}

/** The id as text. */
export function connectionIdText({ ownerId, identity = "" }: ConnectionId): string {
  return `${ownerId}.${identity}`;
}

/** The id in a text; undefined where it is none, as in a preview that does not know it yet. */
export function connectionIdIn(text: unknown): ConnectionId | undefined {
  const [, ownerId, identity] = /^([0-9a-f]{20})\.([0-9a-f]{12})?$/.exec(typeof text === "string" ? text : "") ?? [];
  return ownerId === undefined ? undefined : { ownerId, identity };
}

/** The identity of credentials as 12 hexadecimal digits. Without a key, so that every stack has the same for one merchant. */
export function hashOfIdentity(identity: string): string {
  return createHash("sha256").update(identity).digest("hex").slice(0, 12);
}
