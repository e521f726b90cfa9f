import { getOrMake } from "../../sdk/get-or-make.ts";
import { inAny, inBoth, outside, type Ranges } from "../decider/regions.ts";
import { type Bound, type Comparison, comparisonsIn, type Rule, textsIn, valuesIn } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import type { Missing, PaymentField } from "../language/schema-payment.ts";
import { isEquality } from "../language/schema-words.ts";
import { addressesOf, casesOf, readValue, type Value } from "../language/values.ts";
import { type Box, joined } from "./box.ts";
import { behindPrefix, Scale, spellings } from "./scale.ts";

/** One dimension of the space of payments. */
export type Variable =
  /** A field of the payment. */
  | { readonly kind: "field"; readonly name: string; readonly scale: Scale }
  /** The instant at which rules are in force, where it is not the payment's. */
  | { readonly kind: "now"; readonly scale: Scale }
  /** The result of an opaque comparison, where its fields have values: see {@link opaqueStates}. */
  | { readonly kind: "opaque"; readonly comparison: Comparison };

/** The states of an opaque comparison, without its negation; eq in place of ne, and in of notIn. */
export const opaqueStates = { yes: 0, no: 1, unknown: 2 } as const;

/** The payments of one semantics, as the product of all variables that some rules speak of. */
export class Space {
  readonly semantics: Semantics;
  readonly variables: readonly Variable[];
  readonly #variables: Variable[] = [];
  readonly #fields = new Map<string, number>();
  readonly #opaque = new Map<string, number>();
  readonly #isFolded = new Map<string, boolean>();
  /** True where a rule is in force for a time. */
  readonly isTimed: boolean;
  /** The variable of the present; undefined where the payment's time counts. */
  readonly now: number | undefined;

  /**
   * @param rules all rules whose regions will be needed
   * @param instants more instants that regions may begin or end at. Default: none
   */
  constructor(rules: readonly Pick<Rule, "when" | "force">[], semantics: Semantics, instants: readonly Value[] = []) {
    this.semantics = semantics;
    this.variables = this.#variables;
    const comparisons = Map.groupBy(
      rules.flatMap(({ when }) => comparisonsIn(when)),
      ({ field }) => field,
    );
    const times = [...instants, ...rules.flatMap(boundsOf).map(({ instant }) => instant)];
    this.isTimed = times.length > instants.length;
    const { clock } = semantics.force;
    for (const [name, field] of Object.entries(semantics.payment.fields)) {
      const own = comparisons.get(name) ?? [];
      const isFolded = field.type === "text" && own.some(folds);
      this.#isFolded.set(name, isFolded);
      const named = own.filter((each) => !isOpaque(each, field, isFolded)).flatMap(bordersOf);
      const given = this.given(name);
      if (given !== undefined) named.push(given);
      if (clock === "payment" && semantics.payment.time === name) named.push(...times);
      this.#fields.set(name, this.#add({ kind: "field", name, scale: new Scale(field.type, named, isFolded) }));
    }
    this.now = clock === "now" ? this.#add({ kind: "now", scale: new Scale("instant", times, false) }) : undefined;
  }

  field(name: string): { readonly variable: number; readonly scale: Scale; readonly described: PaymentField } {
    const variable = this.#fields.get(name);
    const found = variable === undefined ? undefined : this.#variables[variable];
    const described = this.semantics.payment.fields[name];
    if (variable === undefined || found?.kind !== "field" || described === undefined)
      throw new TypeError(`the semantics have no field ${name}`);
    return { variable, scale: found.scale, described };
  }

  /** The variable whose states are instants by which rules are in force; undefined where the semantics have none. */
  get clock(): { readonly variable: number; readonly scale: Scale } | undefined {
    const { time } = this.semantics.payment;
    const found = this.now === undefined ? undefined : this.#variables[this.now];
    if (this.now !== undefined && found?.kind === "now") return { variable: this.now, scale: found.scale };
    return time === null ? undefined : this.field(time);
  }

  isOpaque(comparison: Comparison): boolean {
    const { described } = this.field(comparison.field);
    return isOpaque(comparison, described, this.#isFolded.get(comparison.field) ?? false);
  }

  /** Returns the variable of an opaque comparison; a new one is added. */
  opaque(comparison: Comparison): number {
    const { field, operator, operand, ignoresCase } = comparison;
    const same = operator === "ne" ? "eq" : operator === "notIn" ? "in" : operator;
    const key = JSON.stringify([field, same, operand, ignoresCase]);
    return getOrMake(this.#opaque, key, () =>
      this.#add({ kind: "opaque", comparison: { ...comparison, operator: same, isNegated: false } }),
    );
  }

  /** Returns what the semantics say of a payment that lacks a field. */
  missing(name: string): Missing {
    return this.semantics.payment.fields[name]?.missing ?? this.semantics.missing;
  }

  /** Returns the value that a field has where a payment lacks it, by the semantics; undefined where they give none. */
  given(name: string): Value | undefined {
    const so = this.missing(name);
    const type = this.semantics.payment.fields[name]?.type;
    return typeof so === "string" || type === undefined ? undefined : readValue(so.value, type);
  }

  /** Returns all states that a variable can have. */
  all(variable: number): Ranges {
    const found = this.#variables[variable];
    if (found?.kind === "field") return found.scale.all;
    if (found?.kind === "now") return found.scale.values;
    return [
      opaqueStates.yes,
      found === undefined || isSometimesUnknown(found.comparison) ? opaqueStates.unknown : opaqueStates.no,
    ];
  }

  /** Returns the state of a variable in the plainest payments: a field is missing, an opaque comparison is not true. */
  plain(variable: number): number {
    const found = this.#variables[variable];
    if (found?.kind === "field") return found.scale.missing;
    return found?.kind === "now" ? (found.scale.values.at(-1) ?? 0) : opaqueStates.no;
  }

  /** Returns the payments that have a value of its type in every field, and for which no opaque comparison is unknown. */
  told(): Box {
    return new Map(this.#variables.map((_, variable) => [variable, this.toldStates(variable)]));
  }

  /** Returns the states of a variable in which it has a value, or an opaque comparison a known result. */
  toldStates(variable: number): Ranges {
    const found = this.#variables[variable];
    return found === undefined || found.kind === "opaque" ? [opaqueStates.yes, opaqueStates.no] : found.scale.values;
  }

  /** Returns the number of states of a variable; their numbers begin at 0. */
  states(variable: number): number {
    const found = this.#variables[variable];
    return found === undefined || found.kind === "opaque" ? 3 : found.scale.states;
  }

  /** The states that a variable can have, and that are not in the ranges. */
  readonly others = (variable: number, ranges: Ranges): Ranges =>
    inBoth(outside(ranges, this.states(variable)), this.all(variable));

  /** Returns the box of some states of one variable; undefined where it can have none of them. */
  box(variable: number, states: Ranges): Box | undefined {
    const can = inBoth(states, this.all(variable));
    if (can.length === 0) return undefined;
    return this.#isAll(variable, can) ? new Map() : new Map([[variable, can]]);
  }

  /** Returns the union of boxes, as fewer boxes where that is simple. */
  union(boxes: readonly Box[]): readonly Box[] {
    const fewer = joined(boxes, inAny);
    return fewer.some((box) => [...box].every(([variable, ranges]) => this.#isAll(variable, ranges)))
      ? [new Map()]
      : fewer;
  }

  #isAll(variable: number, ranges: Ranges): boolean {
    const all = this.all(variable);
    return all.length === ranges.length && all.every((edge, index) => edge === ranges[index]);
  }

  #add(variable: Variable): number {
    this.#variables.push(variable);
    return this.#variables.length - 1;
  }
}

/** Returns whether the result of `compare` can be unknown for some values. */
function isSometimesUnknown({ ignoresCase, operand }: Comparison): boolean {
  return ignoresCase === null || (operand.kind === "pattern" && operand.isCommon);
}

function boundsOf({ force: { from, until } }: Pick<Rule, "force">): readonly Bound[] {
  return [from, until].filter((bound) => bound !== undefined);
}

/** Returns whether a comparison takes A to Z and a to z for alike, or may. */
function folds({ ignoresCase, operand }: Comparison): boolean {
  return ignoresCase !== false && operand.kind !== "none";
}

/**
 * Returns whether the region of the field's value does not decide a comparison. Such a comparison is a variable of its own; nothing is
 * known of it but that equal comparisons have equal results.
 * @param isFolded whether the field's texts are sorted by their small letters first
 */
function isOpaque({ operand, operator, ignoresCase }: Comparison, field: PaymentField, isFolded: boolean): boolean {
  if (operand.kind === "none") return false;
  if (field.list || operand.kind === "field" || operand.kind === "pattern") return true;
  if (operator === "endsWith" || operator === "contains") return true;
  return field.type === "text" && !isEquality(operator) && ignoresCase !== isFolded;
}

/** Returns the values at which the result of a comparison may change. */
function bordersOf({ operand, operator, ignoresCase }: Comparison): readonly Value[] {
  switch (operand.kind) {
    case "none":
    case "field":
    case "pattern":
      return [];
    case "networks":
      return operand.networks.flatMap(addressesOf);
    case "value":
    case "values":
    case "range": {
      const alikes = casesOf(ignoresCase);
      const behind = (operator === "startsWith" ? textsIn(operand) : []).flatMap((text) =>
        alikes.flatMap((alike) => behindPrefix(text, alike) ?? []),
      );
      const values = [...valuesIn(operand), ...behind.map((text): Value => ({ type: "text", text }))];
      return values.flatMap((value) => alikes.flatMap((alike) => spellings(value, alike)));
    }
  }
}
