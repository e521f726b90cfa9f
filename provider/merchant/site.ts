/**
 * Where a rule stands, as a state notes it: the place that was last proven, and by which connection. Two notes are one place
 * only where both have a key; credentials without a stable principal have none.
 */
export interface Site {
  /** The connection's name; an explicit provider's, where that is the connection. No part of the place. */
  readonly connection: string;
  /** The service's address, as the setting has it. */
  readonly address: string;
  /** A keyed hash of the parameters and of who the credentials are, as {@link placeKey}; null: nothing tells. */
  readonly key: string | null;
  /** A hash of the merchant's identity, as {@link hashOfIdentity}; null: nobody has told it. */
  readonly identity: string | null;
}

/** A note as text: `<connection> <key or -> <identity or -> <address>`. */
export function siteText({ connection, key, identity, address }: Site): string {
  return [connection, key ?? "-", identity ?? "-", address].join(" ");
}

/** The note in a text; undefined where it is none, as of a value that a preview does not know yet. */
export function siteIn(text: unknown): Site | undefined {
  const found = /^(\S+) (-|[0-9a-f]{16}) (-|[0-9a-f]{12}) (\S+)$/.exec(typeof text === "string" ? text : "");
  const [, connection, key, identity, address] = found ?? [];
  if (connection === undefined || address === undefined) return undefined;
  return { connection, address, key: orNull(key), identity: orNull(identity) };
}

function orNull(text: string | undefined): string | null {
  return text === undefined || text === "-" ? null : text;
}

/** True of one place by what is remembered, without a request. None equals nothing. */
export function isSamePlace(one: Site | undefined, other: Site | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one.key !== null && one.key === other.key && one.address === other.address;
}

/** Compares two identities: undefined where one of them is not known. */
export function sameIdentity(one: Site | undefined, other: Site | undefined): boolean | undefined {
  if (one === undefined || other === undefined || one.identity === null || other.identity === null) return undefined;
  return one.identity === other.identity;
}

/** All that a rule's resource takes from the stack's Owner and from its Connection. */
export interface Link {
  /** The owner id of the stack: 32 hexadecimal digits. */
  readonly ownerId: string;
  /** `project/stack`, as the owner id was made or last used under. */
  readonly names: string;
  /** The place that the connection remembers. */
  readonly site: Site;
}

/** A link as text: `<owner id> <project>/<stack> <site>`. */
export function linkText({ ownerId, names, site }: Link): string {
  return `${ownerId} ${names} ${siteText(site)}`;
}

/** The link in a text; undefined where it is none, as in a preview that does not know it yet. */
export function linkIn(text: unknown): Link | undefined {
  const [, ownerId, names, rest] = /^([0-9a-f]{32}) (\S+) (.+)$/s.exec(typeof text === "string" ? text : "") ?? [];
  const site = siteIn(rest);
  return ownerId === undefined || names === undefined || site === undefined ? undefined : { ownerId, names, site };
}
