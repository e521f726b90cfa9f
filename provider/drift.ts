import { isDeepStrictEqual } from "node:util";
import { MerchantRulesError } from "../sdk/errors.ts";
import {
  type Difference,
  differences,
  isAtOrBelow,
  isEqual,
  type Json,
  type Path,
  type Pointer,
  segmentsOf,
  touches,
} from "../sdk/rules/index.ts";
import { getOrMake } from "./get-or-make.ts";
import type { Session } from "./hooks/session.ts";
import { type Observed, observed, resourceOf } from "./observed.ts";
import { naturalKeyText, type Owner, type Place } from "./reconcile/index.ts";
import { defaultConnection } from "./settings.ts";
import { definitionsIn } from "./state/definitions.ts";
import { revealed } from "./state/secrets.ts";
import { ruleShape, type Shape, setShape } from "./state/shape.ts";
import { readState, type State } from "./state/state.ts";
import type { Properties } from "./state/wire.ts";
import { ruleType, setType } from "./types.ts";
import { findUnmanaged, type UnmanagedRule } from "./unmanaged-rules.ts";

/** One resource of a stack's state. Properties are JSON in which secrets have the engine's mark around them. */
export interface StateResource {
  readonly urn: string;
  readonly type: string;
  readonly id: string;
  readonly inputs: Properties;
  readonly outputs: Properties;
  /** The explicit provider by which it goes: its URN, and the settings that it has. Default: the stack's own settings. */
  readonly provider?: { readonly urn: string; readonly settings: ReadonlyMap<string, string> } | undefined;
  /** The option `ignoreChanges`, as pointers into the properties. Default: none. */
  readonly ignoreChanges?: readonly Pointer[];
  /** It was replaced or deleted: the next run removes what is left of it. */
  readonly isLeaving: boolean;
}

/** True of a type whose resources hold rules. */
export function isOfRules(type: string): boolean {
  return type === ruleType || type === setType;
}

/** The names of a rule of the stack. */
export interface RuleName {
  /** Its natural key, where the contract has one and it is no secret. */
  readonly naturalKey: string | undefined;
  /** Its key in a set. */
  readonly key: string | undefined;
  /** Undefined for a rule that was declared and never made, because the last run failed before. */
  readonly ruleId: string | undefined;
  /** `MerchantRuleSet all`. */
  readonly resource: string;
  readonly connection: string;
}

export interface ChangedRule extends RuleName {
  /** From the declared rule to the live one. */
  readonly differences: readonly DriftedPath[];
  /** Whose the rule is, as its mark says, where that is another by now. */
  readonly owner: Owner | undefined;
}

/** A difference; the values of a secret are not in it. */
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
  readonly missing: readonly RuleName[];
  /** Rules at the service that no resource of the state knows. */
  readonly unmanaged: readonly UnmanagedRule[];
  /** Connections over which unmanaged rules cannot be told, because their contract has no list. */
  readonly withoutList: readonly string[];
  /** The number of values that were not compared, because nothing here could decrypt them. */
  readonly unreadable: number;
  /** Rules that the state knows and that are another's by now, as their marks say. */
  readonly takenOver: readonly { readonly rule: RuleName; readonly by: Owner }[];
  /** Resources whose last run failed, so that not all of their rules are as the program declares them. */
  readonly unfinished: readonly string[];
  /** Rules that the program does not declare any more and that are at the service still: the next run deletes them. */
  readonly stillInForce: readonly RuleName[];
}

/** A resource of rules, its properties in plain. */
interface Resource {
  readonly name: string;
  readonly shape: Shape;
  readonly state: State;
  readonly session: Session;
  readonly place: Place;
  /** The definitions that the program declared, by key; undefined where the state does not have them in plain. */
  readonly declared: ReadonlyMap<string, Json> | undefined;
  readonly secrets: PathsByKey;
  readonly unreadable: PathsByKey;
  readonly ignored: readonly Pointer[];
  /** The keys of rules that are declared as texts: no option can name a path inside one. */
  readonly texts: ReadonlySet<string>;
  readonly isLeaving: boolean;
}

/** Paths in the definition of each key. Those of "every rule" lie around the rules. */
type PathsByKey = ReadonlyMap<string | typeof everyRule, readonly Path[]>;
const everyRule = Symbol("every rule");

/**
 * Compares a state with the rules at the service, as `pulumi refresh --preview-only` does, and looks for rules that the
 * state does not know. Nothing is written. One paged pass over the list of each place; without `operations.list` in the
 * contract one GET a rule, and unmanaged rules cannot be told.
 * @throws MerchantRulesError SETTINGS_INVALID, CONTRACT_INVALID: a connection that the state names cannot be used;
 * CONNECTION_FAILED and others: it cannot be told what is at the service
 */
export async function findDrift(
  resources: readonly StateResource[],
  session: Session,
  { looksForUnmanaged = true } = {},
): Promise<Drift> {
  const sessions = new Map<string, Session>();
  const all = resources.flatMap((resource) => readResource(resource, sessionOf(resource, session, sessions)) ?? []);
  const present = all.filter(({ isLeaving }) => !isLeaving);
  const places = new Map(present.map(({ place }) => [place.options.name, place]));
  if (places.size === 0 && looksForUnmanaged) places.set(defaultConnection, session.place(defaultConnection));
  const compared = await Promise.all(present.map(compare));
  // After the others, which have the rules that went over to them.
  const left = await Promise.all(all.filter(({ isLeaving }) => isLeaving).map((each) => stillThere(each, present)));
  const known = new Map<Place, Set<string>>();
  for (const { state, place } of all) {
    if (places.get(place.options.name) !== place) continue;
    const ids = getOrMake(known, place, () => new Set());
    for (const { ruleId } of state.rules.values()) ids.add(ruleId);
  }
  const { unmanaged, withoutList } = looksForUnmanaged
    ? await findUnmanaged(places, known)
    : { unmanaged: [], withoutList: [] };
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  return {
    rules: sum(compared.map(({ rules }) => rules)),
    changed: compared.flatMap(({ changed }) => changed),
    missing: compared.flatMap(({ missing }) => missing),
    unmanaged,
    withoutList,
    unreadable: sum(compared.map(({ unreadable }) => unreadable)),
    takenOver: compared.flatMap(({ takenOver }) => takenOver),
    unfinished: compared.flatMap(({ unfinished }) => unfinished),
    stillInForce: [...compared.flatMap(({ stillInForce }) => stillInForce), ...left.flat()],
  };
}

/** The session of a resource: an explicit provider has settings of its own. */
function sessionOf({ provider }: StateResource, session: Session, sessions: Map<string, Session>): Session {
  if (provider === undefined) return session;
  return getOrMake(sessions, provider.urn, () => session.under((key) => provider.settings.get(key)));
}

function readResource(resource: StateResource, session: Session): Resource | undefined {
  const { urn, type, id, ignoreChanges: ignored = [], isLeaving, ...properties } = resource;
  const shape = type === ruleType ? ruleShape : type === setType ? setShape : undefined;
  if (shape === undefined) return undefined;
  const name = `${type.split(":").at(-1)} ${urn.split("::").slice(3).join("::")}`;
  const outputs = revealed(properties.outputs);
  const inputs = revealed(properties.inputs);
  const hidden = outputs.unreadable.find(([field]) => field !== shape.field);
  if (hidden !== undefined) throw cannotRead(name, String(hidden[0]));
  const declared = inputs.plain[shape.field];
  const state = readState(shape, id, outputs.plain);
  return {
    name,
    shape,
    state,
    session,
    place: session.place(state.connection),
    declared: declared === undefined ? undefined : definitionsIn(shape, declared),
    texts: new Set(
      [...shape.entries(declared ?? {})].flatMap(([key, rule]) => (typeof rule === "string" ? [key] : [])),
    ),
    secrets: byKey(shape, [outputs.secrets, inputs.secrets].flat().map(outsideArrays)),
    unreadable: byKey(shape, [outputs.unreadable, inputs.unreadable].flat()),
    ignored,
    isLeaving,
  };
}

function byKey({ isRule, field }: Shape, paths: readonly Path[]): PathsByKey {
  const found = new Map<string | typeof everyRule, Path[]>();
  for (const [first, ...rest] of paths) {
    if (first !== field) continue;
    const [key = everyRule, ...path] = isRule ? ["", ...rest] : rest;
    getOrMake(found, typeof key === "number" ? String(key) : key, () => []).push(path);
  }
  return found;
}

/** An array with a secret in it is secret as a whole, as it is to the engine: its elements may have changed places. */
function outsideArrays(path: Path): Path {
  const index = path.findIndex((key) => typeof key === "number");
  return index === -1 ? path : path.slice(0, index);
}

function pathsOf(paths: PathsByKey, key: string): readonly Path[] {
  return [...(paths.get(everyRule) ?? []), ...(paths.get(key) ?? [])];
}

/** The findings about one resource. */
type Compared = Omit<Drift, "unmanaged" | "withoutList">;

async function compare(resource: Resource): Promise<Compared> {
  const { place, name, shape, state, declared, secrets, unreadable, ignored, texts } = resource;
  const live = await observedNow(resource);
  const changed: ChangedRule[] = [];
  const missing: RuleName[] = [];
  const takenOver: { rule: RuleName; by: Owner }[] = [];
  const stillInForce: RuleName[] = [];
  let isUnfinished = false;
  for (const [key, known] of state.rules) {
    const found = live.get(key);
    // A rule that could not be deleted is still in the state, and no longer in the program.
    if (declared !== undefined && !declared.has(key)) {
      if (isOurs(found)) stillInForce.push(nameOf(resource, key, known.definition));
      isUnfinished = true;
      continue;
    }
    if (known.isSealed) isUnfinished = true;
    const wanted = declared?.get(key) ?? known.definition;
    const rule = nameOf(resource, key, wanted);
    if (found === undefined) {
      missing.push(rule);
      continue;
    }
    const marks = { secrets: pathsOf(secrets, key), unreadable: pathsOf(unreadable, key) };
    const wayTo = shape.isRule ? [shape.field] : [shape.field, key];
    const isIgnored = (path: Path): boolean =>
      ignored.some((pattern) => isAtOrBelow(texts.has(key) ? wayTo : [...wayTo, ...path], pattern));
    const drifted = driftOf(wanted, found, marks, place).filter(({ path }) => !isIgnored(path));
    if (drifted.length > 0) changed.push({ ...rule, differences: drifted, owner: found.takenBy });
    if (found.takenBy !== undefined) takenOver.push({ rule, by: found.takenBy });
  }
  for (const [key, definition] of declared ?? []) {
    if (state.rules.has(key)) continue;
    missing.push(nameOf(resource, key, definition));
    isUnfinished = true;
  }
  return {
    rules: new Set([...(declared ?? state.rules).keys()]).size,
    changed,
    missing,
    unreadable: countOf(unreadable),
    takenOver,
    unfinished: isUnfinished ? [name] : [],
    stillInForce,
  };
}

/** The rules of a resource that was replaced or deleted which are at the service still, and which no other resource has. */
async function stillThere(leaving: Resource, present: readonly Resource[]): Promise<RuleName[]> {
  const isKept = (ruleId: string): boolean =>
    present.some(
      ({ place, state }) => place === leaving.place && state.rules.values().some((known) => known.ruleId === ruleId),
    );
  const rules = new Map([...leaving.state.rules].filter(([, { ruleId }]) => !isKept(ruleId)));
  if (rules.size === 0) return [];
  const live = await observedNow({ ...leaving, state: { ...leaving.state, rules } });
  return [...rules].flatMap(([key, { definition }]) =>
    isOurs(live.get(key)) ? [nameOf(leaving, key, definition)] : [],
  );
}

/** A rule that is another's by now is not deleted. */
function isOurs(found: Observed | undefined): boolean {
  return found !== undefined && found.takenBy === undefined && found.isHeldByOther === undefined;
}

function observedNow({ shape, state, session, place }: Resource): Promise<Map<string, Observed>> {
  return observed(resourceOf(shape, { owner: state.owner, connectionId: undefined }, state, session), place);
}

function nameOf({ place, name, shape, state, secrets }: Resource, key: string, definition: Json | undefined): RuleName {
  const naturalKey = segmentsOf(place.contract.rule.naturalKey ?? "");
  const isSecret = pathsOf(secrets, key).some((path) => isWithin(naturalKey, path));
  return {
    naturalKey: isSecret ? undefined : naturalKeyText(definition, place.contract),
    key: shape.label(key),
    ruleId: state.rules.get(key)?.ruleId,
    resource: name,
    connection: place.options.name,
  };
}

/** The paths at which a live rule is not as declared. Values that are not known here are left out; those of secrets are not told. */
function driftOf(
  declared: Json,
  { known, seen }: Observed,
  { secrets, unreadable }: { secrets: readonly Path[]; unreadable: readonly Path[] },
  { contract }: Place,
): DriftedPath[] {
  // Most rules are as declared to the letter, which is told several times faster.
  if (isDeepStrictEqual(declared, seen) || isEqual(declared, seen, contract.rule)) return [];
  const isSecret = (difference: Difference): boolean =>
    known.isSealed === true ||
    secrets.some((path) => isWithin(difference.path, path) || isWithin(path, difference.path)) ||
    contract.rule.secret.some((pattern) => touches(difference, pattern));
  // The seen rule is in declared order already, so positions say what differs, as they do to the engine.
  return differences(declared, seen)
    .filter(({ path }) => !unreadable.some((hidden) => isWithin(path, hidden)))
    .map((difference) => {
      const { path, before, after } = difference;
      if (isSecret(difference)) return { path, isSecret: true };
      return { path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
    });
}

/** The number of values, each counted once: those of inputs and outputs lie at the same paths, or within each other. */
function countOf(paths: PathsByKey): number {
  let count = 0;
  for (const each of paths.values())
    count += each.filter(
      (path, index) =>
        !each.some((other, at) => at !== index && isWithin(path, other) && (path.length > other.length || at < index)),
    ).length;
  return count;
}

function isWithin(path: Path, outer: Path): boolean {
  return path.length >= outer.length && outer.every((key, index) => String(key) === String(path[index]));
}

function cannotRead(resource: string, field: string): MerchantRulesError {
  const reason = `the state keeps ${field} as a secret, and nothing here can decrypt it`;
  const advice = "export the state with `pulumi stack export --show-secrets`, or set PULUMI_CONFIG_PASSPHRASE";
  return new MerchantRulesError("SETTINGS_INVALID", reason, { attempted: `read ${resource} in the state`, advice });
}
