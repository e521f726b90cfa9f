import type { JsonObject } from "../../sdk/json/index.ts";
import {
  type ConnectionId,
  isElsewhere,
  judgeRead,
  type KnownRule,
  lookedAtBy,
  markIn,
  type Owner,
  ownerIn,
  type Place,
  type Resource,
  seenAs,
  stackOf,
  successors,
  whoseIs,
} from "../reconcile/index.ts";
import type { ResourceShape } from "../state/shape.ts";
import type { State } from "../state/state.ts";
import type { Session } from "./session.ts";

/** A resource as the program declares it now, beside what its state knows. */
export interface Now {
  readonly owner: Owner;
  /** The id of its connection as its inputs have it. */
  readonly connectionId: ConnectionId | undefined;
}

/** Returns a resource as the reconciler knows it, and tells the run which rules its state knows. */
export function resourceOf(shape: ResourceShape, now: Now, state: State, session: Session): Resource {
  const { holders, options } = session.place(state.connection);
  const heard = session.connectionId(state.connection);
  const before = stackOf(state.owner);
  const ofState = new Set([state.connectionId?.ownerId ?? [], state.formerOwnerIds].flat());
  const isOwnState =
    before === undefined || [session.stackName ?? stackOf(now.owner), ...options.formerNames].includes(before);
  const ofNow = [now.connectionId, heard].flatMap((id) => id?.ownerId ?? []);
  const { label, adopting, isRule } = shape;
  const of = {
    isRule,
    owner: now.owner,
    holder: `${shape.field} ${now.owner}`,
    // The outputs tell the past. In a refresh the connection may be read after its rules.
    get connection() {
      return now.connectionId ?? session.connectionId(state.connection);
    },
    ownerIds: new Set([...ofNow, ...(isOwnState ? ofState : [])]),
    copiedFrom: isOwnState ? undefined : { name: before, ownerIds: ofState },
    identity: state.connectionId?.identity,
    known: state.rules,
    label,
    adopting,
  };
  if (!isElsewhere(of)) holders.hear(of);
  return of;
}

/** A rule that the state knows and that is at the service. */
export interface Observed {
  readonly known: KnownRule;
  /** The live rule, as far as the definition that is known speaks of it. */
  readonly seen: JsonObject;
  /** The whole live rule; of one that is not read the definition that is known. */
  readonly live: JsonObject;
  /** Whose the rule is by now, as its mark says; undefined while it is this resource's. */
  readonly takenBy: Owner | undefined;
  /** Another resource of this run has the rule in its state as well: it is not read for this one. */
  readonly isHeldByOther?: true;
}

/**
 * Reads the rules of a resource at the service, by key. A rule that is not among them is gone, or is not this resource's
 * any more. A refresh and a drift report see the same, because both read here.
 * @throws MerchantRulesError where it cannot be told whether a rule is gone
 */
export async function readObserved(of: Resource, place: Place): Promise<Map<string, Observed>> {
  const found = new Map<string, Observed>();
  for (const { key, known, live } of await readPresent(of, place)) {
    const mark = markIn(live, place.contract);
    const whose = whoseIs(mark, of);
    const verdict = judgeRead({
      isThere: true,
      isHeldByOther: place.holders.isKnownToOther(known.ruleId, of),
      mark: whose,
      isMarkAsLastSeen: true,
      isAdopted: false,
      isAnotherKey: false,
      moved: place.options.moved.isGiven,
    });
    if (verdict === "not here") continue;
    if (verdict === "not read") {
      found.set(key, {
        known,
        seen: known.definition,
        live: known.definition,
        takenBy: undefined,
        isHeldByOther: true,
      });
      continue;
    }
    const kept = place.contract.rule.owner === null || whose === "another's" ? known.mark : (mark?.place ?? null);
    found.set(key, {
      known: kept === undefined ? known : { ...known, mark: kept },
      seen: seenAs(live, lookedAtBy(known), place),
      live,
      takenBy: whose === "another's" && mark !== undefined ? ownerIn(mark) : undefined,
    });
  }
  return found;
}

/** Reads the rules that are there, each by the id that it has now. */
async function readPresent(of: Resource, place: Place) {
  const seen = await place.proof.observe(of);
  const found = [...of.known].map(async ([key, known]) => {
    const live = seen.get(key);
    if (live !== undefined) return [{ key, known, live }];
    const [successor, ...others] = await successors(key, { of, place });
    // Of several nobody can tell which; a create names them.
    if (successor === undefined || others.length > 0) return [];
    return [{ key, known: { ...known, ruleId: successor.ruleId }, live: successor.rule }];
  });
  return (await Promise.all(found)).flat();
}
