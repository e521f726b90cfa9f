import { defined } from "../../sdk/json/defined.ts";
import { field as fieldOf, isJsonArray, isJsonObject, type Json, type JsonObject } from "../../sdk/json/json.ts";
import { type Pointer, pointerOf, segmentsOf, valueAt } from "../../sdk/json/pointer.ts";
import type { Bound, Condition, Force, Rule, RuleReading, Unreadable } from "./normal-form.ts";
import { ConditionReader } from "./read-conditions.ts";
import type { Semantics } from "./schema.ts";
import { faultsOf, isOneOf, type Read, shown, unexplained, unreadable } from "./unreadable.ts";
import { readValue, type Value } from "./values.ts";

/** What `readRules` needs beside the semantics. */
export interface ReadOptions {
  /** The named value lists; see {@link valueListsOf}. Default: none. */
  readonly valueLists?: ReadonlyMap<string, readonly Json[]>;
  /** More pointers to what does not matter to payments, such as the rule's id and what the contract calls readOnly. Default: none. */
  readonly ignored?: readonly Pointer[];
}

/** Values under a name. */
export interface ValueList {
  readonly name: string;
  readonly values: readonly Json[];
}

/**
 * Reads the rules of a definition: one, or with `semantics.rules` as many as it lists, in that order. A rule with anything that the
 * semantics do not explain is unknown, and every such place is named. A definition that is a value list has no rules.
 */
export function readRules(
  definition: JsonObject,
  semantics: Semantics,
  options: ReadOptions = {},
): readonly RuleReading[] {
  if (valueListIn(definition, semantics) !== undefined) return [];
  if (semantics.rules === null) return [readRule(definition, "", semantics, options)];
  const { at, ignored } = semantics.rules;
  const list = valueAt(definition, at);
  const faults = unexplained(definition, [at, ...ignored, ...(options.ignored ?? [])]);
  if (!isJsonArray(list)) faults.push({ at, why: list === undefined ? "is not there" : "is not a list of rules" });
  if (!isJsonArray(list) || faults.length > 0) return [{ kind: "unknown", faults, known: {} }];
  return list.map((each, index) => readRule(each, `${at}/${index}`, semantics, options));
}

/**
 * Returns the value lists by name. A name that two of them have is left out.
 * @param definitions any; those that are value lists count
 * @param others such as `readValueLists` gives. Default: none
 */
export function valueListsOf(
  definitions: readonly JsonObject[],
  semantics: Semantics,
  others: readonly ValueList[] = [],
): Map<string, readonly Json[]> {
  const lists = new Map<string, readonly Json[]>();
  const twice = new Set<string>();
  for (const list of [...others, ...definitions.map((definition) => valueListIn(definition, semantics))]) {
    if (list === undefined) continue;
    if (lists.has(list.name)) twice.add(list.name);
    lists.set(list.name, list.values);
  }
  for (const name of twice) lists.delete(name);
  return lists;
}

/** Returns the value list that a definition is; undefined where it is none. */
function valueListIn(definition: JsonObject, { valueLists }: Semantics): ValueList | undefined {
  for (const source of valueLists) {
    if (!("values" in source)) continue;
    const [name, values] = [valueAt(definition, source.name), valueAt(definition, source.values)];
    if (typeof name === "string" && isJsonArray(values)) return { name, values };
  }
  return undefined;
}

function readRule(definition: Json, start: Pointer, semantics: Semantics, options: ReadOptions): RuleReading {
  const faultAt = (fault: Unreadable): Unreadable => ({ ...fault, at: `${start}${fault.at}` });
  if (!isJsonObject(definition))
    return { kind: "unknown", faults: [{ at: start, why: "is not a rule: not an object" }], known: {} };
  const odd = [
    ...unexplained(definition, [...explained(semantics), ...(semantics.rules === null ? (options.ignored ?? []) : [])]),
    ...unexpected(definition, semantics),
  ];
  const reader = new ConditionReader(semantics, options.valueLists ?? new Map());
  const when = reader.read(definition);
  const force = readForce(definition, semantics);
  const outcome = readOutcome(definition, semantics);
  const order = readOrder(definition, semantics);
  const faults = [...odd, ...faultsOf(when, force, outcome, order)];
  if (faults.length === 0 && "value" in when && "value" in force && "value" in outcome && "value" in order)
    return {
      kind: "rule",
      rule: placed(start, { when: when.value, force: force.value, outcome: outcome.value, order: order.value }),
    };
  // An unexplained field may change the meaning of all others.
  const known: Partial<Rule> =
    odd.length > 0
      ? {}
      : defined({ when: partOf(when), force: partOf(force), outcome: partOf(outcome), order: partOf(order) });
  return { kind: "unknown", faults: faults.map(faultAt), known: placed(start, known) };
}

function partOf<Part>(read: Read<Part>): Part | undefined {
  return "value" in read ? read.value : undefined;
}

/** Returns the rule with `start` before every place of its conditions. */
function placed<Part extends Partial<Rule>>(start: Pointer, rule: Part): Part {
  if (start === "" || rule.when === undefined) return rule;
  const moved = (condition: Condition): Condition => {
    const at = `${start}${condition.at}`;
    if (condition.kind === "all" || condition.kind === "any") return { ...condition, at, of: condition.of.map(moved) };
    if (condition.kind === "not") return { ...condition, at, of: moved(condition.of) };
    return { ...condition, at };
  };
  return { ...rule, when: moved(rule.when) };
}

/** Returns every pointer in a rule that the semantics explain. */
function explained({ applies, ignored, expects, force, outcome, wins }: Semantics): Pointer[] {
  const places = [...expects, force.enabled, force.from, force.until, outcome, wins.order, applies];
  return [...ignored, ...places.flatMap((place) => place?.at ?? [])];
}

function unexpected(definition: JsonObject, { expects }: Semantics): Unreadable[] {
  return expects.flatMap(({ at, is }) => {
    const value = valueAt(definition, at) ?? null;
    return value === null || isOneOf(value, is)
      ? []
      : [{ at, why: `is ${shown(value)}, where the semantics expect ${is.map(shown).join(" or ")}` }];
  });
}

function readForce(definition: JsonObject, { force: { enabled, from, until } }: Semantics): Read<Force> {
  const isEnabled = enabled === null ? { value: true } : readEnabled(definition, enabled);
  const [first, last] = [readBound(definition, from), readBound(definition, until)];
  if ("value" in isEnabled && "value" in first && "value" in last)
    return { value: { isEnabled: isEnabled.value, from: first.value, until: last.value } };
  return { faults: faultsOf(isEnabled, first, last) };
}

function readEnabled(definition: JsonObject, by: NonNullable<Semantics["force"]["enabled"]>): Read<boolean> {
  const value = valueAt(definition, by.at) ?? null;
  if (value === null)
    return by.without === null
      ? unreadable(by.at, "is not there, and force.enabled.without is null")
      : { value: by.without === "enabled" };
  if (isOneOf(value, by.is)) return { value: true };
  if (isOneOf(value, by.isNot)) return { value: false };
  return unreadable(by.at, `is ${shown(value)}, which force.enabled does not have`);
}

function readBound(definition: JsonObject, bound: Semantics["force"]["from"]): Read<Bound | undefined> {
  const value = bound === null ? null : (valueAt(definition, bound.at) ?? null);
  if (bound === null || value === null) return { value: undefined };
  const instant = readValue(value, "instant");
  if (instant === undefined) return unreadable(bound.at, `is ${shown(value)}, which is no instant`);
  return { value: { instant, counts: bound.counts } };
}

function readOutcome(definition: JsonObject, { outcome: { at, words, named, without } }: Semantics): Read<string> {
  const found = valuesAt(definition, segmentsOf(at)).filter((value) => value !== null);
  if (found.length === 0)
    return without === null ? unreadable(at, "is not there, and outcome.without is null") : { value: without };
  const outcomes = new Set<string>();
  for (const value of found) {
    const word = isJsonObject(value) || isJsonArray(value) ? undefined : String(value);
    const outcome =
      word === undefined ? undefined : Object.hasOwn(words, word) ? words[word] : named ? word : undefined;
    if (outcome === undefined) return unreadable(at, `is ${shown(value)}, which outcome.words does not have`);
    outcomes.add(outcome);
  }
  const [only, ...others] = outcomes;
  if (only === undefined || others.length > 0)
    return unreadable(at, `has several outcomes: ${[...outcomes].map(shown).join(", ")}`);
  return { value: only };
}

/** Returns the values at a path in which `*` stands for every element or field. */
function valuesAt(value: Json, [segment, ...rest]: readonly string[]): readonly Json[] {
  if (segment === undefined) return [value];
  if (segment === "*") {
    const inside = isJsonArray(value) || isJsonObject(value) ? Object.values(value) : [];
    return inside.flatMap((each: Json) => valuesAt(each, rest));
  }
  const below = isJsonObject(value) ? fieldOf(value, segment) : valueAt(value, pointerOf([segment]));
  return below === undefined ? [] : valuesAt(below, rest);
}

function readOrder(definition: JsonObject, { wins: { order } }: Semantics): Read<Value | undefined> {
  if (order === null) return { value: undefined };
  const written = valueAt(definition, order.at) ?? order.without;
  if (written === null) return unreadable(order.at, "is not there, and wins.order.without is null");
  const value = readValue(written, "decimal");
  return value === undefined ? unreadable(order.at, `is ${shown(written)}, which is no number`) : { value };
}
