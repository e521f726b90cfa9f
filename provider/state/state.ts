import { MerchantRulesError } from "../../sdk/errors.ts";
import {
  defined,
  field,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  type Pointer,
} from "../../sdk/json/index.ts";
import type { DeclaredRule, Known, KnownRule } from "../decide/plan.ts";
import { type OnDrift, onDriftChoices } from "../decide/plan.ts";
import { isUnknown, leaving, leavingDefinition, type Properties, picked, secret } from "../host/wire.ts";
import { markId, type Owner, parsedMark, resourceHash, stackOf } from "../merchant/mark.ts";
import { type Link, linkIn, type Site, siteIn, siteText } from "../merchant/site.ts";
import { defaultConnection } from "../settings/setting-names.ts";
import type { Watch } from "../steps/unmanaged.ts";
import { adoptIn, allowEmptyIn, ownerNames, withoutWords } from "./adoption.ts";
import { definitionsIn, inFormOf } from "./definitions.ts";
import { internalFields, linkField, ownerField, patternsField } from "./names.ts";
import type { ResourceShape } from "./shape.ts";

/** A program's declaration, as `check` passed it. */
export interface Inputs extends Watch {
  /** In a preview all definitions, or one of them, may not be known yet. */
  readonly isUnknown: boolean;
  readonly connection: string;
  /** What it takes from Owner and Connection; undefined in a preview that does not know it. */
  readonly link: Link | undefined;
  readonly owner: Owner;
  /** The word on rules that were changed at the service; undefined: the connection's. */
  readonly onDrift: OnDrift | undefined;
  /** Allows a set to be without rules, or to lose all that it has. */
  readonly allowEmpty: boolean;
}

export function readInputs(shape: ResourceShape, news: Properties): Inputs {
  const { onUnmanaged } = news;
  const definitions = definitionsIn(shape, news[shape.field]);
  const rules = new Map<string, DeclaredRule>();
  const named = adoptIn(news);
  for (const [key, value] of definitions) {
    const definition = isJsonObject(value) ? value : {};
    const adopt = shape.adopt(named, key);
    rules.set(key, adopt === undefined ? { definition } : { definition, adopt });
  }
  return {
    rules,
    isUnknown: isUnknown(news[shape.field]) || [...definitions.values()].some(isUnknown),
    connection: connectionName(news),
    link: linkIn(news[linkField]),
    owner: ownerInput(news),
    onUnmanaged: onUnmanaged === "warn" || onUnmanaged === "fail" ? onUnmanaged : "ignore",
    onDrift: onDriftChoices.find((choice) => choice === news.onDrift),
    allowEmpty: allowEmptyIn(news),
  };
}

/** A resource as its outputs in the state know it. */
export interface State {
  readonly rules: Known;
  readonly connection: string;
  /** What it took from Owner and Connection; undefined where nobody has said it. */
  readonly link: Link | undefined;
  readonly owner: Owner;
  /** The stack that its rows were last made or taken as, `project/stack`; undefined where nobody has said it. */
  readonly names: string | undefined;
  /** Where most of its rules stand. */
  readonly site: Site | undefined;
  /** Ids of other resources' rules that a write of this one has changed, as far as a reading told. */
  readonly harmed: readonly string[];
}

/** Reads a resource's outputs. @throws MerchantRulesError SETTINGS_INVALID: another version of this package wrote the state */
export function readState(shape: ResourceShape, id: string, state: Properties): State {
  demandVersion(state);
  const definitions = definitionsIn(shape, state[shape.field]);
  const [isSealed, isTaken, isNotOurs] = [state.sealed, state.taken, state.notOurs].map(keysIn);
  const doubtful = isJsonObject(state.doubtful) ? state.doubtful : {};
  const marks = isJsonObject(state.marks) ? state.marks : {};
  const elsewhere = isJsonObject(state.elsewhere) ? state.elsewhere : {};
  const undeclared = isJsonObject(state.undeclared) ? state.undeclared : {};
  const [owner, link] = [ownerInput(state), linkIn(state[linkField])];
  // An import knows inputs alone: its rule is where the Connection is.
  const site = siteIn(state.at) ?? (state.stateVersion === undefined ? link?.site : undefined);
  const rules = new Map<string, KnownRule>();
  for (const [key, ruleId] of shape.ids(id, state)) {
    const definition = definitions.get(key);
    const own = field(elsewhere, key);
    rules.set(key, {
      ruleId,
      definition: isJsonObject(definition) ? definition : {},
      ...defined({
        mark: longMark(field(marks, key), { link, owner, key }),
        site: own === undefined ? site : siteIn(own),
        notOurs: isNotOurs?.has(key) || undefined,
        isTaken: isTaken?.has(key) || undefined,
        isSealed: isSealed?.has(key) || undefined,
        doubt: [field(doubtful, key)].find(isJsonObject),
        undeclared: textsIn(field(undeclared, key) === undefined ? undeclared[ofMost] : field(undeclared, key)),
      }),
    });
  }
  const harmed = [...keysIn(state.harmed)].filter((id) => typeof id === "string");
  return { rules, connection: connectionName(state), link, owner, names: stackOf(owner), site, harmed };
}

function keysIn(keys: Json | undefined): ReadonlySet<Json> {
  return new Set(isJsonArray(keys) ? keys : []);
}

function textsIn(texts: Json | undefined): string[] | undefined {
  return isJsonArray(texts) ? texts.filter((text) => typeof text === "string") : undefined;
}

/** Stands for all rules that are not named beside it. No key of a program begins so. */
const ofMost = "*";
/** The most characters of the paths that differ from rule to rule: what is written back of a failed run is bounded. */
const mostUndeclared = 200_000;

/**
 * Returns the paths that are there and not declared: those of most rules once, the others by key; null where they are not
 * known. Nothing where none are known, or where they would fill the state.
 */
function undeclaredByKey(rules: Known): JsonObject {
  const texts = [...rules].map(([key, { undeclared }]) => [key, undeclared && JSON.stringify(undeclared)] as const);
  const most = mostCommon(texts.flatMap(([, text]) => text ?? []));
  const others = texts.filter(([, text]) => text !== most);
  const size = others.reduce((sum, [key, text = ""]) => sum + key.length + text.length, 0);
  if (most === undefined || size > mostUndeclared) return {};
  const parsed = ([key, text]: (typeof texts)[number]): [string, Json] => [
    key,
    text === undefined ? null : JSON.parse(text),
  ];
  return Object.fromEntries([[ofMost, most] as const, ...others].map(parsed));
}

/** What a mark in a state leaves out, because the resource itself has it. */
interface MarkContext {
  readonly link: Link | undefined;
  readonly owner: Owner;
  readonly key: string;
}

/** Returns what decides in a mark, from the text in a state: `bits`, `hash.bits` or the whole. */
function longMark(text: Json | undefined, { link, owner, key }: MarkContext): string | undefined {
  if (typeof text !== "string") return undefined;
  const short = link === undefined ? [] : [`${resourceHash("", owner, key)}.${text}`, text];
  const texts = [...short.map((each) => `${link?.ownerId}.${each}`), text];
  return texts.map(parsedMark).flatMap((mark) => (mark === undefined ? [] : [markId(mark)]))[0];
}

/** Returns the text of a mark in a state: without the owner id and the hash of the resource, where they are its own. */
function shortMark(mark: string, { link, owner, key }: MarkContext): string {
  const whole = parsedMark(mark);
  if (whole === undefined || whole.ownerId !== link?.ownerId) return mark;
  return whole.resource === resourceHash("", owner, key) ? whole.bits : `${whole.resource}.${whole.bits}`;
}

/** Returns the key of a rule that was replaced or removed and could not be deleted: its own may be another rule's by now. */
export function keyOfLeft(key: string): string {
  return `${key}${left}`;
}

/** Decides whether a key in a state is one that {@link keyOfLeft} has made: no program can have it. */
export function isKeyOfLeft(key: string): boolean {
  return key.endsWith(left);
}

const left = " (to be deleted)";

/**
 * Returns the outputs to keep: the rules as they were written or seen, with their ids, their marks and where they stand.
 * @param from the inputs: the owner and the link in them go into the outputs, and marks are written in relation to these
 * @param secrets patterns as `rule.secret` of a contract has them: what they name is secret to the engine
 * @param harmed as {@link State.harmed}
 */
export function writeState(
  shape: ResourceShape,
  rules: Known,
  from: Properties,
  secrets: readonly Pointer[] = [],
  harmed: readonly string[] = [],
): Properties {
  return leaving(outputsOf(shape, rules, from, secrets, harmed));
}

/** Returns the outputs of {@link writeState}, unchecked: they may hold what cannot leave a hook. */
export function outputsOf(
  shape: ResourceShape,
  rules: Known,
  from: Properties,
  secrets: readonly Pointer[] = [],
  harmed: readonly string[] = [],
): Properties {
  const keysOf = (isSo: (known: KnownRule) => boolean | undefined): string[] =>
    [...rules].flatMap(([key, known]) => (isSo(known) ? [key] : []));
  const valuesOf = (partOf: (known: KnownRule, key: string) => Json | undefined): JsonObject =>
    Object.fromEntries(
      [...rules].flatMap(([key, known]): [string, Json][] => {
        const value = partOf(known, key);
        return value === undefined ? [] : [[key, value]];
      }),
    );
  const [owner, link] = [ownerInput(from), linkIn(from[linkField])];
  const at = mostCommon([...rules.values()].flatMap(({ site }) => (site === undefined ? [] : [siteText(site)])));
  const parts = {
    elsewhere: valuesOf(({ site }) => {
      const own = site === undefined ? "" : siteText(site);
      return own === (at ?? "") ? undefined : own;
    }),
    marks: valuesOf(({ mark }, key) => (mark === undefined ? undefined : shortMark(mark, { link, owner, key }))),
    sealed: keysOf(({ isSealed }) => isSealed),
    taken: keysOf(({ isTaken }) => isTaken),
    notOurs: keysOf(({ notOurs }) => notOurs),
    doubtful: valuesOf(({ doubt }) => doubt),
    undeclared: undeclaredByKey(rules),
    harmed,
    [patternsField]: secrets,
  };
  return {
    ...inputsOf(shape, rules, from, secrets),
    ...shape.writeIds(new Map([...rules].map(([key, { ruleId }]) => [key, ruleId]))),
    ...defined({ at }),
    ...Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0)),
    stateVersion,
  };
}

/** Returns the text that stands most often in a list, the first of several; undefined of none. */
function mostCommon(texts: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return [...counts].find(([, count]) => count === most)?.[0];
}

/**
 * Returns the inputs that declare a resource as it is seen, each rule in the form that it has in `from`.
 * @param secrets as of {@link writeState}
 */
export function writeInputs(
  shape: ResourceShape,
  rules: Known,
  from: Properties,
  secrets: readonly Pointer[] = [],
): Properties {
  return leaving(inputsOf(shape, rules, from, secrets));
}

function inputsOf(shape: ResourceShape, rules: Known, from: Properties, secrets: readonly Pointer[]): Properties {
  const given = shape.entries(from[shape.field] ?? {});
  const definitions = [...rules].map(([key, { definition, isSealed }]): [string, Json] => [
    key,
    isSealed
      ? secret(inFormOf(given.get(key), definition, []))
      : inFormOf(given.get(key), leavingDefinition(definition), secrets),
  ]);
  return {
    ...withoutWords(picked(from, [...shape.options, ...internalFields])),
    [shape.field]: shape.write(new Map(definitions)),
  };
}

/** The version of the state that this package writes, and the only one that it reads. */
export const stateVersion = 3;

/** Refuses a state that another version of this package wrote. @throws MerchantRulesError SETTINGS_INVALID */
export function demandVersion({ stateVersion: version }: JsonObject): void {
  if (version === undefined || version === stateVersion) return;
  const reason = `this state has version ${JSON.stringify(version)}, and this pulumi-merchant-rules reads version ${stateVersion}`;
  const isOld = typeof version === "number" && version < stateVersion;
  // No version before was ever published, so none is read.
  const advice = isOld
    ? "install the version of pulumi-merchant-rules that wrote it; or begin with an empty state and take the rules over: `npx --no-install merchant-rules export` writes them, adopt takes each"
    : "install the version of pulumi-merchant-rules that wrote it, or a later one that reads it";
  throw new MerchantRulesError("SETTINGS_INVALID", reason, { advice });
}

/** Returns the name of the connection of inputs or outputs. */
export function connectionName({ connection }: Properties): string {
  return typeof connection === "string" ? connection : defaultConnection;
}

/** Returns the names of a resource, as its inputs or outputs have them. */
export function ownerInput({ [ownerField]: owner }: Properties): Owner {
  return ownerNames(owner)[0] ?? "";
}
