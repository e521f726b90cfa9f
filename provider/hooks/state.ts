import { MerchantRulesError } from "../../sdk/errors.ts";
import { field, isJsonArray, isJsonObject, type Json, type JsonObject } from "../../sdk/rules/index.ts";
import type { DeclaredRule, Group, Known, KnownRule, Owner, Watch, Whereabouts } from "../reconcile/index.ts";
import { defaultConnection } from "../settings.ts";
import type { Shape } from "./shape.ts";
import { isUnknown, leaving, leavingDefinition, type Properties, picked, secret } from "./wire.ts";

/** The field in which the engine keeps the code of a dynamic provider; see `providerSource`. */
export const providerField = "__provider";
/**
 * The input by which a resource says who it is: an object whose one field has that name and is null. To the engine null
 * and absent are the same, so a resource that is renamed shows no change here.
 */
export const ownerField = "__owner";
/** The input by which the sets of a ShardedMerchantRuleSet know each other: `{ "<name>#<how many sets>": null }`, likewise. */
export const groupField = "__group";
const placeField = "__place";

/** What a program declares, as `check` passed it. */
export interface Inputs extends Watch {
  /** In a preview all definitions, or one of them, may not be known yet. */
  readonly isUnknown: boolean;
  readonly connection: string;
  readonly owner: Owner;
  /** Whether a set may be without rules, or lose all that it has. */
  readonly allowEmpty: boolean;
}

export function readInputs(shape: Shape, news: Properties): Inputs {
  const { onUnmanaged } = news;
  const definitions = shape.read(news[shape.field] ?? {});
  const rules = new Map<string, DeclaredRule>();
  for (const [key, value] of definitions) {
    const definition = isJsonObject(value) ? value : {};
    const adopt = shape.adopt(news.adopt, key);
    rules.set(key, adopt === undefined ? { definition } : { definition, adopt });
  }
  return {
    rules,
    isUnknown: isUnknown(news[shape.field]) || [...definitions.values()].some(isUnknown),
    connection: connectionName(news),
    owner: ownerIn(news),
    onUnmanaged: onUnmanaged === "warn" || onUnmanaged === "fail" ? onUnmanaged : "ignore",
    group: groupIn(news),
    allowEmpty: news.allowEmpty === true,
  };
}

/** What the state knows of a resource. */
export interface State {
  readonly rules: Known;
  readonly connection: string;
  readonly owner: Owner;
  readonly whereabouts: Whereabouts | undefined;
}

/** The state of a resource, whichever version of this package wrote it. */
export function readState(shape: Shape, id: string, olds: Properties): State {
  const state = migrate(olds);
  const definitions = shape.read(state[shape.field] ?? {});
  const sealed = isJsonArray(state.sealed) ? state.sealed : [];
  const marks = isJsonObject(state.markedAs) ? state.markedAs : {};
  const rules = new Map<string, KnownRule>();
  for (const [key, ruleId] of shape.ids(id, state)) {
    const definition = definitions.get(key);
    const markedAs = field(marks, key);
    rules.set(key, {
      ruleId,
      definition: isJsonObject(definition) ? definition : {},
      ...(typeof markedAs === "string" ? { markedAs } : {}),
      ...(sealed.includes(key) ? { isSealed: true } : {}),
    });
  }
  return {
    rules,
    connection: connectionName(state),
    owner: ownerIn(state),
    whereabouts: whereaboutsIn(state[placeField]),
  };
}

/** The rules of a state as a resource of another name knows them: they still have the mark of the old name. */
export function asKnownTo(owner: Owner, state: State): Known {
  if (owner === state.owner || state.owner === "") return state.rules;
  return new Map([...state.rules].map(([key, known]) => [key, { markedAs: state.owner, ...known }]));
}

/** The outputs to keep: the rules as they were written or seen, their ids, and where they are. */
export function writeState(shape: Shape, rules: Known, whereabouts: Whereabouts, from: Properties): Properties {
  const sealed = [...rules].flatMap(([key, { isSealed }]) => (isSealed ? [key] : []));
  const marks = [...rules].flatMap(([key, { markedAs }]): [string, Json][] => (markedAs ? [[key, markedAs]] : []));
  return leaving({
    ...writeInputs(shape, rules, from),
    ...shape.writeIds(new Map([...rules].map(([key, { ruleId }]) => [key, ruleId]))),
    ...(sealed.length === 0 ? {} : { sealed }),
    ...(marks.length === 0 ? {} : { markedAs: Object.fromEntries(marks) }),
    [placeField]: { ...whereabouts },
    stateVersion,
  });
}

/** The inputs with which a resource would have been declared to be as it is seen. */
export function writeInputs(shape: Shape, rules: Known, from: Properties): Properties {
  const definitions = [...rules].map(([key, { definition, isSealed }]): [string, Json] => [
    key,
    isSealed ? secret(definition) : leavingDefinition(definition),
  ]);
  return leaving({
    ...picked(from, [...shape.options, providerField, ownerField, groupField]),
    [shape.field]: shape.write(new Map(definitions)),
  });
}

/** The version of the state that this package writes. Version 1 carries no number. */
export const stateVersion = 2;

/** Pure functions, the one at index n from version n + 1 to version n + 2. */
const migrations: readonly ((state: JsonObject) => JsonObject)[] = [
  // Version 1 told resources that took a rule over by a tag. Now each has a name.
  ({ takeover: _, takeovers: __, ...state }) => state,
];

/**
 * State as this version has it, from state of any version so far.
 * @throws MerchantRulesError SETTINGS_INVALID: a newer version of this package wrote it
 */
export function migrate(state: JsonObject): JsonObject {
  const version = typeof state.stateVersion === "number" ? state.stateVersion : 1;
  if (version > stateVersion) {
    const reason = `this state has version ${version}, and this pulumi-merchant-rules knows versions up to ${stateVersion}`;
    const advice = "install the version of pulumi-merchant-rules that wrote it, or a later one";
    throw new MerchantRulesError("SETTINGS_INVALID", reason, { advice });
  }
  return migrations.slice(version - 1).reduce((migrated, migration) => migration(migrated), state);
}

/** The connection that inputs or a state name. */
export function connectionName({ connection }: Properties): string {
  return typeof connection === "string" ? connection : defaultConnection;
}

function ownerIn({ [ownerField]: owner }: Properties): Owner {
  return isJsonObject(owner) ? (Object.keys(owner)[0] ?? "") : "";
}

function groupIn({ [groupField]: group }: Properties): Group | undefined {
  const [, name, sets] = /^(.*)#(\d+)$/s.exec(isJsonObject(group) ? (Object.keys(group)[0] ?? "") : "") ?? [];
  return name === undefined ? undefined : { name, sets: Number(sets) };
}

function whereaboutsIn(value: Json | undefined): Whereabouts | undefined {
  if (!isJsonObject(value) || typeof value.at !== "string") return undefined;
  const given = isJsonObject(value.with) ? value.with : {};
  const parameters = Object.entries(given).map(([name, text]) => [name, String(text)]);
  return {
    at: value.at,
    ...(parameters.length === 0 ? {} : { with: Object.fromEntries(parameters) }),
    ...(typeof value.as === "string" ? { as: value.as } : {}),
  };
}
