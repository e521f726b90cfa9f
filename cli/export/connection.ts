import { connectionType, ownerType } from "../../provider/host/types.ts";
import { isOwnerId } from "../../provider/merchant/identity.ts";
import { type Link, linkIn } from "../../provider/merchant/site.ts";
import type { Place } from "../../provider/run/place.ts";
import { defaultConnection } from "../../provider/settings/setting-names.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import type { ResourceState } from "../../stack/state/resource-state.ts";

/** The memory that a stack's state has already of whose its rules are, and of where. */
export interface StoredMemory {
  /** Its Owner; undefined where no rule was declared before. */
  readonly owner: StoredOwner | undefined;
  /** The connection that is asked for; undefined where no rule of it was declared before. */
  readonly connection: StoredConnection | undefined;
}

/** The Owner of a stack: its id, and the names that it was last used under. */
export interface StoredOwner {
  readonly ownerId: string;
  readonly names: string;
}

/** A connection of a stack, as its state has it. */
export interface StoredConnection {
  readonly link: Link;
  /** Who the credentials were when it was made, for people. */
  readonly identity: string | undefined;
}

/** Finds the Owner and a connection by its name in a state. */
export function memoryIn(resources: readonly ResourceState[], name: string = defaultConnection): StoredMemory {
  const { identity, link: text } = connectionIn(resources, name)?.outputs ?? {};
  const link = linkIn(text);
  return {
    owner: ownerIn(resources),
    connection: link && { link, identity: typeof identity === "string" ? identity : undefined },
  };
}

function ownerIn(resources: readonly ResourceState[]): StoredOwner | undefined {
  const found = resources.find(({ type, id, delete: isOld }) => !isOld && type === ownerType && isOwnerId(id));
  if (found === undefined) return undefined;
  const { names } = found.outputs;
  return { ownerId: found.id, names: typeof names === "string" ? names : "" };
}

/** Returns the names of a state's connections, but for those of explicit providers. */
export function connectionsIn(resources: readonly ResourceState[]): string[] {
  return resources.flatMap((each) => (isConnection(each, each.id) ? [each.id] : []));
}

/** Finds the resource of a connection in a state; one that is still to be deleted does not count. */
export function connectionIn(resources: readonly ResourceState[], name: string): ResourceState | undefined {
  return resources.find((each) => isConnection(each, name));
}

function isConnection({ urn, delete: isOld }: ResourceState, name: string): boolean {
  // One of an explicit provider has that provider's type in its URN, before its own.
  return !isOld && urn.split("::").slice(2).join("::") === `${connectionType}::${name}`;
}

/**
 * Asks the service who the credentials are, for people; undefined where the contract cannot tell.
 * @throws MerchantRulesError CONNECTION_FAILED: somebody else than the setting says, or than the stack's connection is of
 */
export async function readIdentity(place: Place, stored: StoredConnection | undefined): Promise<string | undefined> {
  const told = await place.told();
  const before = stored?.link.site.identity ?? null;
  const now = place.contract.auth.identity === null ? undefined : await (await place.live.client()).identity();
  if (told === null || before === null || told === before) return now;
  const whose = stored?.identity === undefined ? `hash ${before}` : JSON.stringify(stored.identity);
  const reason = `the credentials of connection "${place.options.name}" are those of ${now === undefined ? `hash ${told}` : JSON.stringify(now)}, and the stack's connection was made with those of ${whose}; nothing was written`;
  throw new MerchantRulesError("CONNECTION_FAILED", reason, {
    attempted: "export rules",
    advice: `give the credentials of ${whose}, or name the stack that these rules are for`,
  });
}
