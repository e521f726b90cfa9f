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
import { isUnknown, leaving, leavingDefinition, type Properties, picked, secret } from "../host/wire.ts";
import {
  type ConnectionId,
  connectionIdIn,
  type DeclaredRule,
  type Known,
  type KnownRule,
  type OnDrift,
  type Owner,
  onDriftChoices,
  placeOf,
  type Watch,
} from "../reconcile/index.ts";
import { defaultConnection } from "../settings/setting-names.ts";
import { adoptIn, allowEmptyIn, ownerNames, withoutWords } from "./adoption.ts";
import { definitionsIn, inFormOf } from "./definitions.ts";
import { connectionIdField, internalFields, ownerField } from "./names.ts";
import type { ResourceShape } from "./shape.ts";

/** A program's declaration, as `check` passed it. */
export interface Inputs extends Watch {
  /** In a preview all definitions, or one of them, may not be known yet. */
  readonly isUnknown: boolean;
  readonly connection: string;
  /** Undefined in a preview that makes the connection first. */
  readonly connectionId: ConnectionId | undefined;
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
    connectionId: connectionIdIn(news[connectionIdField]),
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
  readonly connectionId: ConnectionId | undefined;
  /** Owner ids of connections that were replaced: marks that were not written since hold them still. */
  readonly formerOwnerIds: readonly string[];
  readonly owner: Owner;
}

/** Reads a resource's outputs. @throws MerchantRulesError SETTINGS_INVALID: another version of this package wrote the state */
export function readState(shape: ResourceShape, id: string, state: Properties): State {
  demandVersion(state);
  const definitions = definitionsIn(shape, state[shape.field]);
  const sealed = new Set(isJsonArray(state.sealed) ? state.sealed : []);
  const taken = new Set(isJsonArray(state.taken) ? state.taken : []);
  const doubtful = isJsonObject(state.doubtful) ? state.doubtful : {};
  const marks = isJsonObject(state.marks) ? state.marks : {};
  const owner = ownerInput(state);
  const connectionId = connectionIdIn(state[connectionIdField]);
  const rules = new Map<string, KnownRule>();
  for (const [key, ruleId] of shape.ids(id, state)) {
    const definition = definitions.get(key);
    rules.set(key, {
      ruleId,
      definition: isJsonObject(definition) ? definition : {},
      ...defined({
        mark: connectionId === undefined ? undefined : markOf(field(marks, key), owner, key),
        isTaken: taken.has(key) || undefined,
        isSealed: sealed.has(key) || undefined,
        doubt: [field(doubtful, key)].find(isJsonObject),
      }),
    });
  }
  const former = isJsonArray(state.formerOwnerIds) ? state.formerOwnerIds : [];
  const formerOwnerIds = former.filter((each) => typeof each === "string");
  return { rules, connection: connectionName(state), connectionId, formerOwnerIds, owner };
}

/** Returns the key of a rule that was replaced or removed and could not be deleted: its own may be another rule's by now. */
export function keyOfLeft(key: string): string {
  return `${key} (to be deleted)`;
}

/** Returns the place in a rule's mark: as the state says, else as the resource itself writes it. */
function markOf(kept: Json | undefined, owner: Owner, key: string): string | null {
  if (kept === undefined) return placeOf(owner, key);
  return typeof kept === "string" && kept !== "" ? kept : null;
}

/**
 * Returns the outputs to keep: the rules as they were written or seen, their ids, and their marks where they are not as
 * the resource itself writes them.
 * @param secrets patterns as `rule.secret` of a contract has them: what they name is secret to the engine
 */
export function writeState(
  shape: ResourceShape,
  rules: Known,
  from: Properties,
  formerOwnerIds: readonly string[] = [],
  secrets: readonly Pointer[] = [],
): Properties {
  return leaving(outputsOf(shape, rules, from, formerOwnerIds, secrets));
}

/** Returns the outputs of {@link writeState}, unchecked: they may hold what cannot leave a hook. */
export function outputsOf(
  shape: ResourceShape,
  rules: Known,
  from: Properties,
  formerOwnerIds: readonly string[] = [],
  secrets: readonly Pointer[] = [],
): Properties {
  const keysOf = (isSo: (known: KnownRule) => boolean | undefined): string[] =>
    [...rules].flatMap(([key, known]) => (isSo(known) ? [key] : []));
  const sealed = keysOf(({ isSealed }) => isSealed);
  const taken = keysOf(({ isTaken }) => isTaken);
  const doubtful = [...rules].flatMap(([key, { doubt }]): [string, Json][] =>
    doubt === undefined ? [] : [[key, doubt]],
  );
  const owner = ownerInput(from);
  const marks =
    connectionIdIn(from[connectionIdField]) === undefined
      ? []
      : [...rules].flatMap(([key, { mark }]): [string, Json][] =>
          mark === undefined || mark === placeOf(owner, key) ? [] : [[key, mark ?? ""]],
        );
  return {
    ...inputsOf(shape, rules, from, secrets),
    ...shape.writeIds(new Map([...rules].map(([key, { ruleId }]) => [key, ruleId]))),
    ...(sealed.length === 0 ? {} : { sealed }),
    ...(taken.length === 0 ? {} : { taken }),
    ...(doubtful.length === 0 ? {} : { doubtful: Object.fromEntries(doubtful) }),
    ...(marks.length === 0 ? {} : { marks: Object.fromEntries(marks) }),
    ...(formerOwnerIds.length === 0 ? {} : { formerOwnerIds }),
    stateVersion,
  };
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
export const stateVersion = 2;

/** Refuses a state that another version of this package wrote. @throws MerchantRulesError SETTINGS_INVALID */
export function demandVersion({ stateVersion: version }: JsonObject): void {
  if (version === undefined || version === stateVersion) return;
  const reason = `this state has version ${JSON.stringify(version)}, and this pulumi-merchant-rules reads version ${stateVersion}`;
  const advice = "install the version of pulumi-merchant-rules that wrote it, or a later one that reads it";
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
