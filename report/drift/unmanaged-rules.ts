import { ownFields } from "../../provider/decide/live-rule.ts";
import type { KnownRule } from "../../provider/decide/plan.ts";
import { markId, markIn, type Owner, ownerIn } from "../../provider/merchant/mark.ts";
import { type Site, sameIdentity } from "../../provider/merchant/site.ts";
import type { Place } from "../../provider/run/place.ts";
import type { ProvenPlace } from "../../provider/run/proven-place.ts";
import type { LiveRule } from "../../sdk/client/index.ts";
import { lackedKey, naturalKeyText } from "../../sdk/contract/natural-key.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
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
  /** True where the mark is the stack's own, and no other listed rule has the same: no state knows the rule any more, or yet. */
  readonly isLeftOver: boolean;
  /** The rule as the service has it, without what the service alone sets; masks in the place of secrets. */
  readonly live: JsonObject;
}

/** One place, however many connections reach it. */
interface Reached {
  readonly connections: string[];
  readonly places: Place[];
}

/** All that a whole state knows of rules and of whose they are. */
export interface KnownToStack {
  /** The ids in the rows of all resources, each with where the rows say that it stands. */
  readonly rows: ReadonlyMap<string, readonly (Site | undefined)[]>;
  /** The owner ids of the stack: one, but where its Owner was made anew. */
  readonly ownerIds: ReadonlySet<string>;
}

/** Returns rows by their ids. */
export function rowsById(rows: Iterable<KnownRule>): KnownToStack["rows"] {
  const found = new Map<string, (Site | undefined)[]>();
  for (const { ruleId, site } of rows) getOrMake(found, ruleId, () => []).push(site);
  return found;
}

/**
 * Reads the rules whose ids stand in no row of a stack, at each place that the connections reach; without dead rules and the
 * service's own. Two merchants may have a rule by one id: a row counts wherever nothing tells that it is another merchant's.
 */
export async function readUnmanaged(
  connections: readonly ProvenPlace[],
  known: KnownToStack,
): Promise<{ unmanaged: UnmanagedRule[]; withoutList: string[] }> {
  const reached: Reached[] = [];
  for (const { place } of connections) {
    let same: Reached | undefined;
    for (const each of reached) if (await meansOneOf(each, place)) same = each;
    if (same === undefined) {
      same = { connections: [], places: [] };
      reached.push(same);
    }
    same.connections.push(place.options.name);
    if (!same.places.some(({ live }) => live === place.live)) same.places.push(place);
  }
  const found = await Promise.all(reached.map((each) => unmanagedAt(each, known)));
  return {
    unmanaged: found.flat(),
    withoutList: reached.filter(({ places }) => !places.some(hasList)).flatMap((each) => each.connections),
  };
}

async function unmanagedAt(
  { connections: [connection = ""], places }: Reached,
  { rows, ownerIds }: KnownToStack,
): Promise<UnmanagedRule[]> {
  const found = new Map<string, UnmanagedRule>();
  for (const place of places.filter(hasList)) {
    const here = await place.here(undefined);
    const isKnown = (ruleId: string): boolean =>
      rows.get(ruleId)?.some((site) => sameIdentity(site, here) !== false) === true;
    const all = await place.live.all();
    const marks = Map.groupBy(all, ({ rule }) => idOfMark(rule, place));
    for (const { ruleId, rule } of all) {
      if (isKnown(ruleId) || found.has(ruleId) || place.live.isForeign(rule)) continue;
      const mark = markIn(rule, place.contract);
      const owner = mark === undefined || mark.names === "" ? undefined : ownerIn(mark);
      const isOwn = mark !== undefined && ownerIds.has(mark.ownerId);
      const naturalKey = naturalKeyText(rule, place.contract);
      const change = lastChangeIn(rule, place.contract);
      found.set(ruleId, {
        naturalKey,
        lackedKey: lackedKey(rule, place.contract),
        ruleId,
        connection,
        owner,
        isAnothers: mark !== undefined && !isOwn,
        isLeftOver: isOwn && marks.get(markId(mark))?.length === 1,
        live: shownRule(rule, place),
        ...change,
      });
    }
  }
  return [...found.values()];
}

function idOfMark(rule: JsonObject, { contract }: Place): string | undefined {
  const mark = markIn(rule, contract);
  return mark === undefined ? undefined : markId(mark);
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
  if (places.some(({ live }) => live === place.live)) return true;
  const [other] = places;
  if (other === undefined || !isEqual(addressOf(other), addressOf(place), asWritten)) return false;
  const isOne = sameIdentity(await other.here(undefined), await place.here(undefined));
  if (isOne !== undefined) return isOne;
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
