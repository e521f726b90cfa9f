import { isDeepStrictEqual } from "node:util";
import { addedTo, seenAs } from "../../provider/decide/live-rule.ts";
import type { KnownRule } from "../../provider/decide/plan.ts";
import { judgeRows } from "../../provider/decide/whose.ts";
import { type Observed, readKnown } from "../../provider/hooks/read.ts";
import type { Session } from "../../provider/hooks/session.ts";
import { isOpaqueId } from "../../provider/merchant/identity.ts";
import { markIn, type Owner, ownerIn } from "../../provider/merchant/mark.ts";
import type { Link } from "../../provider/merchant/site.ts";
import type { Place } from "../../provider/run/place.ts";
import { ProvenPlace } from "../../provider/run/proven-place.ts";
import { defaultConnection } from "../../provider/settings/setting-names.ts";
import { isKeyOfLeft } from "../../provider/state/state.ts";
import { lackedKey, naturalKeyText } from "../../sdk/contract/natural-key.ts";
import {
  blindMask,
  type Difference,
  defined,
  differences,
  isAtOrBelow,
  isEqual,
  isMask,
  type Json,
  type JsonObject,
  type Path,
  type Pointer,
  pointerOf,
  segmentsOf,
  valueAt,
} from "../../sdk/json/index.ts";
import {
  atAnyElement,
  declaredDefinition,
  isWithin,
  liveDefinition,
  type PathsByKey,
  pathsOf,
  type RuleName,
  type RuleResource,
  readResources,
  ruleNameOf,
  type StateResource,
} from "../state/state-resource.ts";
import { type LastChange, lastChangeIn } from "./last-change.ts";
import { readUnmanaged, rowsById, type UnmanagedRule } from "./unmanaged-rules.ts";

/** A rule of the stack with what is declared, masks in the place of secrets. */
export interface DeclaredRule extends RuleName {
  readonly declared: JsonObject;
}

export interface ChangedRule extends DeclaredRule, LastChange {
  /** The rule as the service has it, without what the service alone sets; masks in the place of secrets. */
  readonly live: JsonObject;
  /** The same rule as far as the state speaks of it, in the state's order; what a refresh takes into the state. */
  readonly seen: JsonObject;
  /** The natural key that it has at the service, where the contract has one and it is no secret. */
  readonly liveKey: string | undefined;
  /** The contract's natural key, where the rule has nothing there any more, so that no program can declare it as it is. */
  readonly lackedKey: Pointer | undefined;
  /** From the declared rule to the live one. */
  readonly differences: readonly DriftedPath[];
  /** Whose the rule is, as its mark says, where that is another by now. */
  readonly owner: Owner | undefined;
  /** The rule is not this stack's any more: a refresh leaves the state as it is, and no run writes it. */
  readonly isNotOurs: boolean;
}

/** The fields of a rule that no program declares, each with `after` alone. */
export interface UndeclaredFields extends DeclaredRule, LastChange {
  readonly differences: readonly DriftedPath[];
}

/** A difference. In the place of a secret's value stands a mask. */
export interface DriftedPath {
  readonly path: Path;
  readonly before?: Json;
  readonly after?: Json;
  readonly isSecret?: true;
}

/** The differences between the live service and a stack's state. */
export interface Drift {
  /** The number of rules that the stack declares. */
  readonly rules: number;
  readonly changed: readonly ChangedRule[];
  readonly missing: readonly DeclaredRule[];
  /** Rules with fields that no program declares and that came since the last write; the values, masks in the place of secrets. */
  readonly undeclared: readonly UndeclaredFields[];
  /** The number of rules of which no state says which fields nobody declared. */
  readonly unlooked: number;
  /** The rules that are as declared, where these were asked for. */
  readonly same: readonly DeclaredRule[];
  /** Rules at the service that no resource of the state knows. */
  readonly unmanaged: readonly UnmanagedRule[];
  /** Connections over which unmanaged rules cannot be told, because their contract has no list. */
  readonly withoutList: readonly string[];
  /** What was read at the service, a sentence for each place: whose it is, and when. */
  readonly read: readonly string[];
  /** Lists that may not be whole, a sentence each. */
  readonly mayBeCut: readonly string[];
  /** The number of values that were not compared, because nothing here could decrypt them. */
  readonly unreadable: number;
  /** Rules under ids that the state knows, and that are not this stack's by now; and why, as the rest of a sentence. */
  readonly notOurs: readonly { readonly rule: RuleName; readonly why: string }[];
  /** Resources whose last run failed, so that not all of their rules are as the program declares them. Where an update did, what it was to do is in no state. */
  readonly unfinished: readonly string[];
  /** Rules that the program does not declare any more and that are at the service still: the next run deletes them. */
  readonly stillInForce: readonly DeclaredRule[];
}

/** What a drift is looked for by. */
export interface DriftOptions {
  /** Default: true. */
  readonly looksForUnmanaged?: boolean;
  /** Tells the rules that are as declared, too. Default: false. */
  readonly withSame?: boolean;
  /** The owner ids that the state has beside its resources of rules. Default: none. */
  readonly ownerIds?: readonly string[];
  /** What the state's Connections remember, by their names. Default: nothing. */
  readonly linkOf?: (connection: string) => Link | undefined;
}

/**
 * Compares a whole state with the rules at the service, as `pulumi refresh --preview-only` does, and looks for rules that the
 * state does not know. Nothing is written. One paged pass over the list of each place; without `operations.list` in the
 * contract one GET a rule, and unmanaged rules cannot be told.
 * @throws MerchantRulesError SETTINGS_INVALID, CONTRACT_INVALID: a connection that the state names cannot be used;
 * CONNECTION_FAILED and others: it cannot be told what is at the service, or whether it is the merchant of the rules
 */
export async function readStateDrift(
  resources: readonly StateResource[],
  session: Session,
  { looksForUnmanaged = true, withSame = false, ownerIds = [], linkOf = () => undefined }: DriftOptions = {},
): Promise<Drift> {
  const all = readResources(resources, session);
  const present = all.filter(({ isLeaving }) => !isLeaving);
  const places = new Map(present.map(({ place }) => [place.options.name, place]));
  if (places.size === 0 && looksForUnmanaged) places.set(defaultConnection, session.place(defaultConnection));
  const compared = await Promise.all(present.map((each) => compare(each, withSame)));
  // After the others, which have the rules that went over to them.
  const left = await Promise.all(all.filter(({ isLeaving }) => isLeaving).map((each) => readLeftRules(each, present)));
  const ofRows = all.flatMap(({ of }) => of.link?.ownerId ?? []);
  const known = {
    // By the id that a rule has now: a restored one may have another.
    rows: rowsById([...all.flatMap(({ of }) => [...of.known.values()]), ...compared.flatMap(({ rows }) => rows)]),
    ownerIds: new Set([...ownerIds, ...ofRows]),
  };
  const linkAt = (at: Place): Link | undefined => all.find(({ of, place }) => place === at && of.link)?.of.link;
  const proven = await Promise.all(
    [...places].map(([name, place]) => ProvenPlace.of(place, linkOf(name) ?? linkAt(place))),
  );
  const { unmanaged, withoutList } = looksForUnmanaged
    ? await readUnmanaged(proven, known)
    : { unmanaged: [], withoutList: [] };
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  return {
    rules: sum(compared.map(({ rules }) => rules)),
    changed: compared.flatMap(({ changed }) => changed),
    missing: compared.flatMap(({ missing }) => missing),
    undeclared: compared.flatMap(({ undeclared }) => undeclared),
    unlooked: sum(compared.map(({ unlooked }) => unlooked)),
    same: compared.flatMap(({ same }) => same),
    unmanaged,
    withoutList,
    mayBeCut: proven.flatMap(({ place }) => place.live.mayBeCut ?? []),
    read: proven.map((each) => each.readFor(liveAt(each.place.options.name))),
    unreadable: sum(compared.map(({ unreadable }) => unreadable)),
    notOurs: compared.flatMap(({ notOurs }) => notOurs),
    unfinished: compared.flatMap(({ unfinished }) => unfinished),
    stillInForce: [...compared.flatMap(({ stillInForce }) => stillInForce), ...left.flat()],
  };
}

/** Returns what reports call the rules that are live at a connection. */
export function liveAt(connection: string): string {
  return connection === defaultConnection ? "the live rules" : `the live rules of connection ${connection}`;
}

/** The findings about one resource. */
interface Compared extends Omit<Drift, "unmanaged" | "withoutList" | "mayBeCut" | "read"> {
  /** Its rows as they were seen. */
  readonly rows: readonly KnownRule[];
}

async function compare(resource: RuleResource, withSame: boolean): Promise<Compared> {
  const { place, name, shape, of, declared, secrets, unreadable, ignored, texts } = resource;
  const live = await readLive(resource);
  const changed: ChangedRule[] = [];
  const missing: DeclaredRule[] = [];
  const undeclared: UndeclaredFields[] = [];
  let unlooked = 0;
  const same: DeclaredRule[] = [];
  const notOurs: { rule: RuleName; why: string }[] = [];
  const stillInForce: DeclaredRule[] = [];
  let { isUnfinished } = resource;
  for (const [key, known] of of.known) {
    const found = live.get(key);
    // A rule that could not be deleted is still in the state, and no longer in the program.
    if (declared === undefined ? isKeyOfLeft(key) : !declared.has(key)) {
      if (isOurs(found)) stillInForce.push(declaredRule(resource, key, known.definition));
      isUnfinished = true;
      continue;
    }
    if (known.isSealed) isUnfinished = true;
    const wanted = declared?.get(key) ?? known.definition;
    const rule = ruleNameOf(resource, key, wanted);
    if (found === undefined) {
      missing.push(declaredRule(resource, key, wanted));
      continue;
    }
    const marks = { secrets: pathsOf(secrets, key).map(atAnyElement), unreadable: pathsOf(unreadable, key) };
    const wayTo = shape.isRule ? [shape.field] : [shape.field, key];
    const isIgnored = (path: Path): boolean =>
      ignored.some((pattern) => isAtOrBelow(texts.has(key) ? wayTo : [...wayTo, ...path], pattern));
    const drifted = driftOf(wanted, found, marks, place).filter(({ path }) => !isIgnored(path));
    if (drifted.length > 0) {
      const now = liveDefinition(resource, key, found.live);
      const seen = liveDefinition(resource, key, found.seen);
      changed.push({
        ...declaredRule(resource, key, wanted),
        live: now,
        seen,
        ...lastChangeIn(found.live, place.contract),
        liveKey: naturalKeyText(seen, place.contract) ?? naturalKeyText(now, place.contract),
        lackedKey: lackedKey(found.live, place.contract),
        differences: drifted,
        owner: ownerOf(found, place),
        isNotOurs: found.notOurs !== undefined,
      });
    } else if (withSame) same.push(declaredRule(resource, key, wanted));
    const added =
      found.notOurs === undefined ? addedPaths(resource, key, known, found).filter(({ path }) => !isIgnored(path)) : [];
    if (added.length > 0)
      undeclared.push({
        ...declaredRule(resource, key, wanted),
        ...lastChangeIn(found.live, place.contract),
        differences: added,
      });
    if (known.undeclared === undefined && place.contract.rule.undeclared !== "ignore") unlooked += 1;
    if (found.notOurs !== undefined) notOurs.push({ rule, why: found.notOurs });
  }
  for (const [key, definition] of declared ?? []) {
    if (of.known.has(key)) continue;
    missing.push(declaredRule(resource, key, definition));
    isUnfinished = true;
  }
  return {
    rules: new Set([...(declared ?? of.known).keys()]).size,
    changed,
    missing,
    undeclared,
    unlooked,
    same,
    unreadable: countOf(unreadable),
    notOurs,
    unfinished: isUnfinished ? [name] : [],
    stillInForce,
    rows: [...live.values()].map(({ known }) => known),
  };
}

/** Reads which rules of a resource that was replaced or deleted are at the service still, and are no other resource's. */
async function readLeftRules(leaving: RuleResource, present: readonly RuleResource[]): Promise<DeclaredRule[]> {
  const { of, place } = leaving;
  const isKept = (row: KnownRule): boolean => present.some((other) => hasSameRule(other, row, leaving));
  const known = new Map([...of.known].filter(([, row]) => !isKept(row)));
  if (known.size === 0) return [];
  const live = await readLive({ of: { ...of, known }, place });
  return [...known].flatMap(([key, { definition }]) =>
    isOurs(live.get(key)) ? [declaredRule(leaving, key, definition)] : [],
  );
}

/** Decides whether a resource has the rule of another one's row, so that its delete passes the rule on. */
function hasSameRule({ of }: RuleResource, row: KnownRule, { of: { link }, place }: RuleResource): boolean {
  const isOpaque = isOpaqueId(row.ruleId, place.contract.rule.idScope);
  return of.known
    .values()
    .some(
      ({ ruleId, site }) =>
        ruleId === row.ruleId &&
        (site === undefined ||
          row.site === undefined ||
          judgeRows({ ...place.facts(link?.ownerId, site, row.site), isOpaque }) === "yes"),
    );
}

/** Decides whether the next run deletes a rule: one that is another's by now stays. */
function isOurs(found: Observed | undefined): boolean {
  return found !== undefined && found.notOurs === undefined;
}

/** Reads as a refresh does; what is not ours is shown as it is live, which a refresh does not take into the state. */
async function readLive({ of, place }: Pick<RuleResource, "of" | "place">): Promise<Map<string, Observed>> {
  const found = await readKnown(of, place);
  return new Map(
    [...found].map(([key, each]) => {
      const { known, live, notOurs } = each;
      return [key, notOurs === undefined ? each : { ...each, seen: seenAs(live, known.definition, place) }];
    }),
  );
}

/** Returns whose a rule is that is not ours, as its mark says. */
function ownerOf({ notOurs, live }: Observed, { contract }: Place): Owner | undefined {
  const mark = notOurs === undefined ? undefined : markIn(live, contract);
  return mark === undefined || mark.names === "" ? undefined : ownerIn(mark);
}

function declaredRule(resource: RuleResource, key: string, definition: Json): DeclaredRule {
  return { ...ruleNameOf(resource, key, definition), declared: declaredDefinition(resource, key, definition) };
}

/** Returns what came to a rule that nobody declares; masks in the place of secrets. */
function addedPaths(resource: RuleResource, key: string, known: KnownRule, { live }: Observed): DriftedPath[] {
  const added = addedTo(live, known, resource.place);
  if (added.length === 0) return [];
  const shown = liveDefinition(resource, key, live);
  return added.map((path) => {
    const after = valueAt(shown, pointerOf(path));
    return defined({
      path,
      after: after ?? blindMask,
      isSecret: after === undefined || isMask(after) ? true : undefined,
    });
  });
}

/** Returns the paths at which a live rule is not as declared. Values that are not known here are left out; those of secrets are masked. */
function driftOf(
  declared: Json,
  { known, seen }: Observed,
  { secrets, unreadable }: { secrets: readonly Pointer[]; unreadable: readonly Path[] },
  { contract }: Place,
): DriftedPath[] {
  // Most rules are as declared to the letter, which is told several times faster.
  if (isDeepStrictEqual(declared, seen) || isEqual(declared, seen, contract.rule)) return [];
  const isSecret = (difference: Difference): boolean =>
    known.isSealed === true || [...secrets, ...contract.rule.secret].some((pattern) => tells(difference, pattern));
  // The seen rule is in declared order already, so positions say what differs, as they do to the engine.
  return differences(declared, seen, { ...contract.rule, unordered: [] })
    .filter(({ path }) => !unreadable.some((hidden) => isWithin(path, hidden)))
    .map((difference) => {
      const { path, before, after } = difference;
      const is = isSecret(difference);
      const side = (value: Json | undefined): Json | undefined => (is && value !== undefined ? blindMask : value);
      return defined({ path, before: side(before), after: side(after), isSecret: is || undefined });
    });
}

/** Decides whether the values of a difference are those that a pattern names, lie in one of them or hold one. */
function tells({ path, before, after }: Difference, pattern: Pointer): boolean {
  const wanted = segmentsOf(pattern);
  const around = pointerOf(wanted.slice(0, path.length));
  if (!isAtOrBelow(path, around)) return false;
  return wanted.length <= path.length || [before, after].some((side) => holds(side, wanted.slice(path.length)));
}

function holds(value: Json | undefined, [segment, ...rest]: readonly string[]): boolean {
  if (segment === undefined) return value !== undefined && value !== null;
  const keys = segment === "*" ? Object.keys(Object(value)) : [segment];
  return keys.some((key) => holds(valueAt(value, pointerOf([key])), rest));
}

/** Counts the values, each once: those of inputs and outputs lie at the same paths, or within each other. */
function countOf(paths: PathsByKey): number {
  let count = 0;
  for (const each of paths.values())
    count += each.filter(
      (path, index) =>
        !each.some((other, at) => at !== index && isWithin(path, other) && (path.length > other.length || at < index)),
    ).length;
  return count;
}
