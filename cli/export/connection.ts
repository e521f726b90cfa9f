import { connectionType } from "../../provider/host/types.ts";
import { connectionIdIn, hashOfIdentity, type Place } from "../../provider/reconcile/index.ts";
import { defaultConnection } from "../../provider/settings/setting-names.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import type { ResourceState } from "../../stack/state/resource-state.ts";

/** A connection of a stack, as its state has it. */
export interface StoredConnection {
  readonly id: string;
  /** Who the credentials were when it was made, for people. */
  readonly identity: string | undefined;
}

/** Finds a connection by its name in a state; undefined where no rule of it was declared before. */
export function connectionOf(
  resources: readonly ResourceState[],
  name: string = defaultConnection,
): StoredConnection | undefined {
  const found = connectionIn(resources, name);
  if (found === undefined) return undefined;
  const { identity } = found.outputs;
  return { id: found.id, identity: typeof identity === "string" ? identity : undefined };
}

/** Finds the resource of a connection in a state; one that is still to be deleted does not count. */
export function connectionIn(resources: readonly ResourceState[], name: string): ResourceState | undefined {
  // One of an explicit provider has that provider's type in its URN, before its own.
  return resources.find(
    ({ urn, delete: isOld }) => !isOld && urn.split("::").slice(2).join("::") === `${connectionType}::${name}`,
  );
}

/**
 * Asks the service who the credentials are; undefined where the contract cannot tell.
 * @throws MerchantRulesError CONNECTION_FAILED: somebody else than the setting says, or than the stack's connection is of
 */
export async function readIdentity(place: Place, stored: StoredConnection | undefined): Promise<string | undefined> {
  if (place.contract.auth.identity === null) return undefined;
  const now = await (await place.live.client()).identity();
  const { name, identity: wanted } = place.options;
  if (now === undefined) return undefined;
  const refusal = (who: string, whose: string): MerchantRulesError =>
    new MerchantRulesError(
      "CONNECTION_FAILED",
      `the credentials of connection "${name}" are those of ${JSON.stringify(now)}, and ${who} ${whose}; nothing was written`,
      {
        attempted: "export rules",
        advice: `give the credentials of ${whose}, or name the stack that these rules are for`,
      },
    );
  if (wanted !== undefined && wanted !== now) throw refusal("the setting identity says", JSON.stringify(wanted));
  const before = connectionIdIn(stored?.id)?.identity;
  if (before !== undefined && before !== hashOfIdentity(now)) {
    const whose = stored?.identity === undefined ? `hash ${before}` : JSON.stringify(stored.identity);
    throw refusal("the stack's connection was made with those of", whose);
  }
  return now;
}
