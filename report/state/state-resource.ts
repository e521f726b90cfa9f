import { isDeepStrictEqual } from "node:util";
import { ownFields } from "../../provider/decide/live-rule.ts";
import { callOfState } from "../../provider/hooks/call.ts";
import type { Session } from "../../provider/hooks/session.ts";
import type { Properties } from "../../provider/host/wire.ts";
import type { Place } from "../../provider/run/place.ts";
import type { Resource } from "../../provider/run/resource.ts";
import { definitionsIn } from "../../provider/state/definitions.ts";
import { unfinishedField } from "../../provider/state/names.ts";
import { revealed } from "../../provider/state/secrets.ts";
import { type ResourceShape, shapeOf } from "../../provider/state/shape.ts";
import { naturalKeyText } from "../../sdk/contract/natural-key.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import {
  blindMask,
  defined,
  isJsonObject,
  type Json,
  type JsonObject,
  masked,
  type Path,
  type Pointer,
  pointerOf,
  segmentsOf,
  valueAt,
  withValueAt,
} from "../../sdk/json/index.ts";

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

/** Returns the names of a rule as sides have them; `name` is its natural key, else its key, its id or its resource. */
export function namesIn({ naturalKey, key, ruleId, resource, connection }: RuleName) {
  return defined({ name: naturalKey ?? key ?? ruleId ?? resource, key, ruleId, resource, connection });
}

/** Returns a resource's name for people: `MerchantRuleSet all`. */
export function resourceName(type: string, name: string): string {
  return `${type.split(":").at(-1)} ${name}`;
}

/** A resource of rules, its properties in plain. */
export interface RuleResource {
  readonly name: string;
  readonly shape: ResourceShape;
  /** The resource as a read knows it: its rows are in `of.known`. */
  readonly of: Resource;
  readonly place: Place;
  /** The last run's update failed in part. */
  readonly isUnfinished: boolean;
  /** The definitions that the program declared, by key; undefined where the state does not have them, or not in plain. */
  readonly declared: ReadonlyMap<string, Json> | undefined;
  /** The places of Pulumi's secrets. */
  readonly secrets: PathsByKey;
  /** Those of them whose values nothing here can decrypt. */
  readonly unreadable: PathsByKey;
  readonly ignored: readonly Pointer[];
  /** The keys of rules that are declared as JSON in a string: no option can name a path inside one. */
  readonly texts: ReadonlySet<string>;
  readonly isLeaving: boolean;
}

/** Paths in the definition of each key. Those of "every rule" lie around the rules. */
export type PathsByKey = ReadonlyMap<string | typeof everyRule, readonly Path[]>;
const everyRule = Symbol("every rule");

/**
 * Reads the resources of rules in a state; all others are left out. The session hears of all their rows, so that a place is
 * proven by any of them.
 * @throws MerchantRulesError SETTINGS_INVALID, CONTRACT_INVALID: a connection that the state names cannot be used, another
 * version of this package wrote the state, or nothing here can decrypt what is needed
 */
export function readResources(resources: readonly StateResource[], session: Session): RuleResource[] {
  const sessions = new Map<string, Session>();
  return resources.flatMap((resource) => readResource(resource, sessionOf(resource, session, sessions)) ?? []);
}

/** Returns a definition as a resource declares it, with masks at its secrets: Pulumi's own, and those that the contract names. */
export function declaredDefinition(
  { place, secrets, unreadable }: RuleResource,
  key: string,
  definition: Json,
): JsonObject {
  const whole = pathsOf(unreadable, key).reduce<Json>(
    (value, path) => withValueAt(value, pointerOf(path), blindMask),
    definition,
  );
  const patterns = [...pathsOf(secrets, key).map(pointerOf), ...place.contract.rule.secret];
  const hidden = masked(whole, patterns, place.contract.rule);
  return isJsonObject(hidden) ? hidden : {};
}

/**
 * Returns a live rule of a resource without what the service adds to it, with masks at secrets. What the program calls secret in an
 * element of an array is masked in every element: they may have changed places.
 */
export function liveDefinition(
  { place, secrets, unreadable }: RuleResource,
  key: string,
  live: JsonObject,
): JsonObject {
  const patterns = [...pathsOf(secrets, key), ...pathsOf(unreadable, key)].map(atAnyElement);
  const hidden = masked(ownFields(live, place), [...patterns, ...place.contract.rule.secret], place.contract.rule);
  return isJsonObject(hidden) ? hidden : {};
}

/** Returns the pointer of what a path names, at every element of the arrays on the way. */
export function atAnyElement(path: Path): Pointer {
  return pointerOf(path.map((name) => (typeof name === "number" ? "*" : name)));
}

/** Returns the session of a resource, for an explicit provider one of its own settings, made once. */
function sessionOf({ provider }: StateResource, session: Session, sessions: Map<string, Session>): Session {
  if (provider === undefined) return session;
  return getOrMake(sessions, provider.urn, () => session.under((key) => provider.settings.get(key)));
}

function readResource(resource: StateResource, session: Session): RuleResource | undefined {
  const { urn, type, id, ignoreChanges: ignored = [], isLeaving, ...properties } = resource;
  const shape = shapeOf(type);
  if (shape === undefined) return undefined;
  const name = resourceName(type, urn.split("::").slice(3).join("::"));
  const outputs = revealed(properties.outputs);
  const inputs = revealed(properties.inputs);
  const hidden = outputs.unreadable.find(([field]) => field !== shape.field);
  if (hidden !== undefined) throw cannotRead(name, String(hidden[0]));
  const isUnfinished = outputs.plain[unfinishedField] === true;
  const declared = isUnfinished ? undefined : inputs.plain[shape.field];
  const { of, place } = callOfState({ shape, session }, id, outputs.plain);
  // The engine makes an array in outputs secret for one secret in the inputs; those say which element's field it is.
  const isToldByInputs = (path: Path): boolean => {
    const [known, wanted] = [outputs.plain, inputs.plain].map((all) => valueAt(all, pointerOf(path)));
    return known !== undefined && isDeepStrictEqual(known, wanted);
  };
  return {
    name,
    shape,
    of,
    place,
    isUnfinished,
    declared: declared === undefined ? undefined : definitionsIn(shape, declared),
    texts: new Set(
      [...shape.entries(declared ?? {})].flatMap(([key, rule]) => (typeof rule === "string" ? [key] : [])),
    ),
    secrets: byKey(shape, [...inputs.secrets, ...outputs.secrets.filter((path) => !isToldByInputs(path))]),
    unreadable: byKey(shape, [outputs.unreadable, inputs.unreadable].flat()),
    ignored,
    isLeaving,
  };
}

function byKey({ isRule, field }: ResourceShape, paths: readonly Path[]): PathsByKey {
  const found = new Map<string | typeof everyRule, Path[]>();
  for (const [first, ...rest] of paths) {
    if (first !== field) continue;
    const [key = everyRule, ...path] = isRule ? ["", ...rest] : rest;
    getOrMake(found, typeof key === "number" ? String(key) : key, () => []).push(path);
  }
  return found;
}

export function pathsOf(paths: PathsByKey, key: string): readonly Path[] {
  return [...(paths.get(everyRule) ?? []), ...(paths.get(key) ?? [])];
}

export function ruleNameOf(
  { place, name, shape, of, secrets }: RuleResource,
  key: string,
  definition: Json | undefined,
): RuleName {
  const naturalKey = segmentsOf(place.contract.rule.naturalKey ?? "");
  const isSecret = pathsOf(secrets, key).some((path) => isWithin(naturalKey, path));
  return {
    naturalKey: isSecret ? undefined : naturalKeyText(definition, place.contract),
    key: shape.label(key),
    ruleId: of.known.get(key)?.ruleId,
    resource: name,
    connection: place.options.name,
  };
}

/** Decides whether a path is another one, or lies inside it. */
export function isWithin(path: Path, outer: Path): boolean {
  return path.length >= outer.length && outer.every((key, index) => String(key) === String(path[index]));
}

function cannotRead(resource: string, field: string): MerchantRulesError {
  const reason = `the state keeps ${field} as a secret, and nothing here can decrypt it`;
  const advice = "export the state with `pulumi stack export --show-secrets`, or set PULUMI_CONFIG_PASSPHRASE";
  return new MerchantRulesError("SETTINGS_INVALID", reason, { attempted: `read ${resource} in the state`, advice });
}
