import { lackedKey, markIn, naturalKeyText, type Owner, ownerIn, type Place } from "../../provider/reconcile/index.ts";
import { ownFields } from "../../provider/reconcile/live-rule.ts";
import type { LiveRule } from "../../sdk/client/index.ts";
import {
  asWritten,
  canonical,
  isEqual,
  isJsonObject,
  type Json,
  type JsonObject,
  masked,
  type Pointer,
} from "../../sdk/json/index.ts";
import { type LastChange, lastChangeIn } from "./last-change.ts";

/** A rule at the service that no resource of a stack knows. */
export interface UnmanagedRule extends LastChange {
  /** Undefined where the contract has none, or it is secret. */
  readonly naturalKey: string | undefined;
  /** The contract's natural key, where the rule has nothing there, so that no program can declare it. */
  readonly lackedKey: Pointer | undefined;
  readonly ruleId: string;
  readonly connection: string;
  /** Whose the rule is, as its mark says; undefined where there is none, or it names nobody. */
  readonly owner: Owner | undefined;
  /** True where the mark is of another owner id than the stack has: another stack manages the rule. */
  readonly isAnothers: boolean;
  /** The rule as the service has it, without what the service alone sets; masks in the place of secrets. */
  readonly live: JsonObject;
}

/** One place, however many connections reach it. */
interface Reached {
  readonly connections: string[];
  readonly places: Place[];
  readonly known: Set<string>;
}

/**
 * Reads the rules that no resource knows, at each place that the connections reach; without dead rules and the service's
 * own. `known`: the ids that resources know, by place. `own`: the owner ids of the stack.
 */
export async function readUnmanaged(
  connections: ReadonlyMap<string, Place>,
  known: ReadonlyMap<Place, ReadonlySet<string>>,
  own: ReadonlySet<string>,
): Promise<{ unmanaged: UnmanagedRule[]; withoutList: string[] }> {
  const reached: Reached[] = [];
  for (const [connection, place] of connections) {
    let same: Reached | undefined;
    for (const each of reached) if (await meansOneOf(each, place)) same = each;
    if (same === undefined) {
      same = { connections: [], places: [], known: new Set() };
      reached.push(same);
    }
    same.connections.push(connection);
    if (!same.places.includes(place)) same.places.push(place);
    for (const ruleId of known.get(place) ?? []) same.known.add(ruleId);
  }
  const found = await Promise.all(reached.map((each) => unmanagedAt(each, own)));
  return {
    unmanaged: found.flat(),
    withoutList: reached.filter(({ places }) => !places.some(hasList)).flatMap((each) => each.connections),
  };
}

async function unmanagedAt(
  { connections: [connection = ""], places, known }: Reached,
  own: ReadonlySet<string>,
): Promise<UnmanagedRule[]> {
  const found = new Map<string, UnmanagedRule>();
  for (const place of places.filter(hasList)) {
    for (const { ruleId, rule } of await place.live.all()) {
      if (known.has(ruleId) || found.has(ruleId) || place.live.isForeign(rule)) continue;
      const mark = markIn(rule, place.contract);
      const owner = mark === undefined || mark.names === "" ? undefined : ownerIn(mark);
      const isAnothers = mark !== undefined && !own.has(mark.ownerId);
      const naturalKey = naturalKeyText(rule, place.contract);
      const change = lastChangeIn(rule, place.contract);
      found.set(ruleId, {
        naturalKey,
        lackedKey: lackedKey(rule, place.contract),
        ruleId,
        connection,
        owner,
        isAnothers,
        live: shownRule(rule, place),
        ...change,
      });
    }
  }
  return [...found.values()];
}

/** Returns a live rule without what the service adds to it, with masks at what the contract calls secret. */
export function shownRule(rule: JsonObject, place: Place): JsonObject {
  const shown = masked(ownFields(rule, place), place.contract.rule.secret, place.contract.rule);
  return isJsonObject(shown) ? shown : {};
}

/**
 * Finds out whether a place is one of those that were reached before. Different credentials may mean the same merchant, or
 * another one: the service says who they are, or else the rules that they see tell.
 */
async function meansOneOf({ places }: Reached, place: Place): Promise<boolean> {
  if (places.includes(place)) return true;
  const [other] = places;
  if (other === undefined || !isEqual(addressOf(other), addressOf(place), asWritten)) return false;
  const [one, two] = [await other.proof.identity(), await place.proof.identity()];
  if (one !== undefined && two !== undefined) return one === two;
  if (!hasList(other) || !hasList(place)) return true;
  return contentOf(await other.live.all()) === contentOf(await place.live.all());
}

function addressOf({ options: { address, parameters } }: Place): Json {
  return { address, parameters: { ...parameters } };
}

function contentOf(rules: readonly LiveRule[]): string {
  return canonical(Object.fromEntries(rules.map(({ ruleId, rule }) => [ruleId, rule])), asWritten);
}

function hasList({ contract }: Place): boolean {
  return contract.operations.list !== null;
}
