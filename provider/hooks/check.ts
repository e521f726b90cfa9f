import type { dynamic } from "@pulumi/pulumi";
import { type Contract, type DefinitionFault, definitionChecker } from "../../sdk/contract/index.ts";
import { lackedKey } from "../../sdk/contract/natural-key.ts";
import { isMerchantRulesError } from "../../sdk/errors.ts";
import { readJsonText } from "../../sdk/files/json-text.ts";
import { type TextPlace, YamlDocument } from "../../sdk/files/yaml-document.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import {
  canonicalAt,
  findInexactNumber,
  findNotJson,
  isJsonObject,
  type Json,
  type JsonObject,
  type Pointer,
  pathOf,
  pointerOf,
  rounded,
  segmentsOf,
  valueAt,
  walk,
} from "../../sdk/json/index.ts";
import { printable, printableLines } from "../../sdk/json/printable.ts";
import { meant } from "../../sdk/nearest.ts";
import { isUnknown, type Properties, withinSecret } from "../host/wire.ts";
import { withWordsKept } from "../state/adoption.ts";
import { definitionsIn } from "../state/definitions.ts";
import { internalFields } from "../state/names.ts";
import { withSecretsMarked } from "../state/secrets.ts";
import type { ResourceShape } from "../state/shape.ts";
import { connectionName } from "../state/state.ts";
import { mostBytesOf, mostStateBytesOf } from "../state/worst-state.ts";
import type { Session } from "./session.ts";

type Failure = dynamic.CheckFailure;

/**
 * Checks inputs: their form first, and if that is right, what depends on the contract of the connection that they name.
 * Every fault has its property path. Values that a preview does not know yet are not judged.
 * @returns the inputs, in which what the contract calls secret is secret to the engine too, and the faults
 */
export function checked(
  shape: ResourceShape,
  session: Session,
  olds: Properties,
  news: Properties,
): dynamic.CheckResult<Properties> {
  const result = judged(shape, session, olds, news);
  // Keys of rules and of inputs, which the engine prints, are anybody's.
  const failures = (result.failures ?? []).map(({ property, reason }) => ({
    property: printable(property),
    reason: printableLines(reason).join("\n"),
  }));
  return { inputs: failures.length > 0 ? (result.inputs ?? news) : withWordsKept(result.inputs ?? news), failures };
}

function judged(
  shape: ResourceShape,
  session: Session,
  olds: Properties,
  news: Properties,
): dynamic.CheckResult<Properties> {
  const faults = [...unknownInputs(shape, news), ...connectionFaults(news), ...shape.faults(news)];
  if (isUnknown(news.connection)) return { inputs: news, failures: faults };
  let contract: Contract;
  try {
    contract = session.place(connectionName(news)).contract;
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    const failures = faults.length > 0 ? faults : [{ property: "connection", reason: error.message }];
    return { inputs: news, failures };
  }
  const inputs = withSecrets(shape, contract, news);
  const failures = faults.length > 0 ? faults : contractFaults(shape, session, contract, { olds, news, inputs });
  return { inputs, failures };
}

function contractFaults(
  shape: ResourceShape,
  session: Session,
  contract: Contract,
  { olds, news, inputs }: { olds: Properties; news: Properties; inputs: Properties },
): Failure[] {
  const value = news[shape.field];
  const unmanaged = unmanagedFaults(news, contract, session);
  if (value === undefined || isUnknown(value)) return unmanaged;
  const faults = [...shape.entries(value)].flatMap(([key, rule]) => ruleFaults(rule, shape, key, contract));
  if (faults.length > 0) return [...unmanaged, ...faults];
  const rules = definitionsIn(shape, value);
  return [...unmanaged, ...sameNaturalKeys(shape, rules, contract), ...sizeFaults(shape, contract, inputs, olds)];
}

/** Refuses inputs that are no inputs: a misspelt name would otherwise be dropped in silence. */
function unknownInputs(shape: ResourceShape, news: Properties): Failure[] {
  const known = [shape.field, ...shape.options];
  return Object.keys(news)
    .filter((key) => ![...internalFields, ...known].includes(key))
    .map((property) => ({
      property,
      reason: `is not an input${meant(property, known)}; allowed: ${known.join(", ")}`,
    }));
}

function connectionFaults({ connection }: Properties): Failure[] {
  if (connection === undefined || isUnknown(connection)) return [];
  if (typeof connection === "string" && /^[A-Za-z][A-Za-z0-9-]*$/.test(connection)) return [];
  const reason = "must be the name of a connection: letters, digits and -, a letter first";
  return [{ property: "connection", reason }];
}

function unmanagedFaults({ onUnmanaged }: Properties, { operations }: Contract, { noContract }: Session): Failure[] {
  if (onUnmanaged === undefined || onUnmanaged === "ignore" || isUnknown(onUnmanaged) || operations.list !== null)
    return [];
  const reason = "needs operations.list in the contract: only a list shows other rules";
  return [{ property: "onUnmanaged", reason: noContract === undefined ? reason : `${reason}; ${noContract}` }];
}

function ruleFaults(rule: Json, shape: ResourceShape, key: string, contract: Contract): Failure[] {
  const property = shape.path(key);
  if (isUnknown(rule)) return [];
  if (typeof rule === "string") {
    // The engine prints the value of a property that it finds by this path, and so the whole text of a MerchantRule.
    const place = shape.isRule ? "" : property;
    return textFaults(rule, contract).map((reason) => ({ property: place, reason: `the JSON text ${reason}` }));
  }
  if (!isJsonObject(rule))
    return [{ property, reason: "must be an object, or its JSON text: the rule as the service stores it" }];
  return definitionFaults(rule, contract).map(({ path, reason }) => ({
    property: pathOf(path, property),
    reason,
  }));
}

/** Returns the faults of a rule that is given as its JSON, each with its line and column. */
function textFaults(text: string, contract: Contract): string[] {
  const read = readJsonText(text);
  if ("fault" in read) return [`${placeIn(read.fault)}: ${read.fault.what}`];
  const definition = read.value;
  if (!isJsonObject(definition)) return ["holds no object: the rule as the service stores it"];
  const faults = [...definitionFaults(definition, contract), ...faultsAsText(definition, contract)];
  if (faults.length === 0) return [];
  const document = new YamlDocument(text);
  return faults.map(({ path, reason }) => {
    const at = placeIn(document.placeOfPath(path));
    return path.length === 0 ? `${at}: ${reason}` : `${at}: ${pathOf(path)} ${reason}`;
  });
}

function placeIn({ line, column }: TextPlace): string {
  return `at line ${line}, column ${column}`;
}

/** Refuses values that an object may hold and its JSON may not. */
function faultsAsText(definition: JsonObject, { rule }: Contract): DefinitionFault[] {
  const faults: DefinitionFault[] = [];
  const marked = rule.secret.length === 0 ? definition : withSecretsMarked(definition, rule.secret);
  walk<never>(marked, (value, { path }) => {
    if (withinSecret(value) === undefined) return undefined;
    const reason =
      "is secret by the contract (rule.secret), and in a text no value can be hidden by itself. Declare this rule as an object";
    faults.push({ path: [...path], reason });
    return undefined;
  });
  const proto = walk(definition, (_, { path }) => (path.at(-1) === "__proto__" ? [...path] : undefined));
  if (proto !== undefined) faults.push({ path: proto, reason: "cannot be declared: an object cannot have this field" });
  return faults;
}

const checkers = new WeakMap<JsonObject, ReturnType<typeof definitionChecker>>();

/** Returns the faults of a definition: what cannot be sent, and what the contract's JSON Schema does not allow. */
function definitionFaults(definition: JsonObject, contract: Contract): readonly DefinitionFault[] {
  const { rule, operations } = contract;
  const fault = findNotJson(definition);
  if (fault !== undefined) return [{ path: fault.path, reason: `holds ${fault.found}, which is not JSON` }];
  const inexact = findInexactNumber(definition);
  if (inexact !== undefined) {
    const reason =
      "holds an integer beyond 2^53, whose last digits a program loses; declare the rule as its JSON text, which loses none, or the number as a text";
    return [{ path: inexact.path, reason }];
  }
  const { identifyBy, bodyAt } = operations.create;
  if (identifyBy?.in === "body" && bodyAt === "" && Object.hasOwn(definition, identifyBy.name)) {
    const reason = `declares ${identifyBy.name}, where the id stands that this package chooses (operations.create.identifyBy in the contract)`;
    return [{ path: [], reason }];
  }
  const { version = null } = operations.update ?? {};
  if (version !== null && "at" in version && valueAt(definition, version.at) !== undefined) {
    const reason = `declares ${version.at}, where the service keeps the rule's version (operations.update.version in the contract)`;
    return [{ path: [], reason }];
  }
  if (rule.owner !== null && valueAt(definition, rule.owner.at) !== undefined) {
    const reason = `declares ${rule.owner.at}, where the mark of the rule's owner stands (rule.owner in the contract)`;
    return [{ path: [], reason }];
  }
  const above = rule.owner === null ? undefined : blockedAt(definition, rule.owner.at);
  if (above !== undefined && rule.owner !== null) {
    const reason = `declares ${above || "the rule"} as a text, null or a list, and the mark of the rule's owner must stand below it, at ${rule.owner.at} (rule.owner in the contract)`;
    return [{ path: [], reason }];
  }
  // A schema that asks for the natural key has said so.
  const faults = schemaFaults(definition, rule.schema);
  return faults.length > 0 ? faults : naturalKeyFaults(definition, contract);
}

function schemaFaults(definition: JsonObject, schema: JsonObject | null): readonly DefinitionFault[] {
  if (schema === null) return [];
  const check = getOrMake(checkers, schema, () => definitionChecker(schema));
  return check(rounded(definition), isUnknown);
}

function naturalKeyFaults(definition: JsonObject, contract: Contract): DefinitionFault[] {
  const lacked = lackedKey(definition, contract, isUnknown);
  if (lacked === undefined) return [];
  const reason = `has no value at ${lacked}, the natural key by which its rule is found (rule.naturalKey in the contract). Declare one`;
  return [{ path: [], reason }];
}

/** Returns the pointer to a declared value above a place that is no object, so that nothing can be written there. */
function blockedAt(definition: JsonObject, at: Pointer): Pointer | undefined {
  const above = segmentsOf(at).map((_, index, segments) => pointerOf(segments.slice(0, index)));
  return above.find((pointer) => {
    const value = pointer === "" ? definition : valueAt(definition, pointer);
    return value !== undefined && !isUnknown(value) && !isJsonObject(value);
  });
}

/** Refuses two keys that mean one rule: they would fight over it. */
function sameNaturalKeys(shape: ResourceShape, rules: ReadonlyMap<string, Json>, { rule }: Contract): Failure[] {
  if (rule.naturalKey === null || shape.isRule) return [];
  const first = new Map<string, string>();
  const faults: Failure[] = [];
  for (const [key, definition] of rules) {
    const identity = canonicalAt(definition, rule.naturalKey, rule);
    if (identity === undefined || isUnknown(valueAt(definition, rule.naturalKey) ?? null)) continue;
    const other = first.get(identity);
    if (other === undefined) first.set(identity, key);
    else {
      const reason = `has the same natural key (${rule.naturalKey}) as ${shape.path(other)}; each rule is declared once`;
      faults.push({ property: shape.path(key), reason });
    }
  }
  return faults;
}

/**
 * The most bytes of a set's state. The work of a run that fails in part goes back to the engine in HTTP/2 headers, in
 * Base64, of which the engine takes 16 MiB. A set that could not report its work would lose its ids, so it is refused.
 */
const mostStateBytes = 12_000_000;

function sizeFaults(shape: ResourceShape, contract: Contract, inputs: Properties, olds: Properties): Failure[] {
  if (shape.isRule) return [];
  // The marks of secrets are a part of what goes back to the engine.
  const rules = definitionsIn(shape, inputs[shape.field]);
  const before = secretsMarked(definitionsIn(shape, olds[shape.field]), contract);
  // Most sets are far from it: twice what there is, and what stands around a rule, is more than any state of theirs.
  const all = [...rules, ...before];
  const roughly = all.reduce(
    (sum, [key, rule]) => sum + 2 * (mostBytesOf(rule) + 4 * Buffer.byteLength(key) + aroundRule),
    0,
  );
  if (roughly <= mostStateBytes) return [];
  const bytes = mostStateBytesOf({ shape, contract, inputs, rules, before });
  if (bytes <= mostStateBytes) return [];
  const sets = Math.ceil((2 * bytes) / mostStateBytes);
  const reason = `the rules are too large for one set (${megabytes(bytes)} of at most ${megabytes(mostStateBytes)} MB): if a part of it failed, what was done could not be kept. Declare them as ${sets} sets`;
  // Without a property: the engine would print the whole of it.
  return [{ property: "", reason }];
}

/** More bytes than the id of a rule and the fields around it take. */
const aroundRule = 400;

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}

/** Marks the values at `rule.secret`: the engine encrypts and masks them, although the program did not say so. */
function withSecrets(shape: ResourceShape, contract: Contract, news: Properties): Properties {
  const value = news[shape.field];
  if (contract.rule.secret.length === 0 || value === undefined || isUnknown(value)) return news;
  if (!shape.isRule && !isJsonObject(value)) return news;
  return { ...news, [shape.field]: shape.write(secretsMarked(shape.entries(value), contract)) };
}

function secretsMarked(rules: ReadonlyMap<string, Json>, { rule }: Contract): ReadonlyMap<string, Json> {
  if (rule.secret.length === 0) return rules;
  return new Map([...rules].map(([key, definition]) => [key, withSecretsMarked(definition, rule.secret)]));
}
