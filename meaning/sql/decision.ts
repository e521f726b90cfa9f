import { getOrMake } from "../../sdk/get-or-make.ts";
import type { Semantics } from "../language/schema.ts";
import { type Dialect, or } from "./dialect.ts";
import type { SaidRule, SaidSide } from "./side-rules.ts";

/**
 * The decision of one side, as `decide` makes it, in steps of columns: each builds on the ones before. Rules are named by their
 * position in the order of decision, from 1; minus the position is a rule that may apply.
 */
export class DecisionSql {
  readonly #side: string;
  readonly #said: SaidSide;
  readonly #semantics: Semantics;
  readonly #dialect: Dialect;
  readonly #outcomes: readonly string[];

  /** @param outcomes by their numbers, from 1, in the order in which reports have them */
  constructor(side: string, said: SaidSide, semantics: Semantics, dialect: Dialect, outcomes: readonly string[]) {
    this.#side = side;
    this.#said = said;
    this.#semantics = semantics;
    this.#dialect = dialect;
    this.#outcomes = outcomes;
  }

  steps(): readonly (readonly string[])[] {
    const isOfAll = this.#semantics.wins.by === "all";
    return [
      [this.#first(), `${or(this.#said.opens)} AS ${this.#column("open")}`],
      [this.#found()],
      isOfAll ? this.#undecidedOfAll() : [`${this.#winners()} AS ${this.#column("by")}`],
      isOfAll ? this.#decidedOfAll() : [this.#numbers()],
      this.#answer(isOfAll),
    ];
  }

  /** Returns SQL of the first rule that applies to a row for which all conditions are known, up to the first rule that is never known. */
  #first(): string {
    const ends = this.#said.rules
      .slice(0, this.#said.open === undefined ? undefined : this.#said.open - 1)
      .map(({ plain, name }, index) => `WHEN ${plain} THEN ${index + 1} -- ${commented(name).slice(0, 80)}`);
    const first = ends.length === 0 ? `CAST(NULL AS ${this.#dialect.int})` : `CASE\n    ${ends.join("\n    ")}\n  END`;
    return `${first} AS ${this.#column("first")}`;
  }

  /** Returns the number of rules of level 0, which come first. They beat none outside of their chain, so the search does not end with them. */
  #free(): number {
    return this.#semantics.wins.by === "all" ? 0 : this.#said.rules.filter(({ level }) => level === 0).length;
  }

  /**
   * Returns SQL of the rules that apply or may apply. To evaluate all rules is slow, so it is done only where the first rule that applies
   * does not decide: where a value is of another type or missing, or several rules are of one level.
   */
  #found(): string {
    const { list, int } = this.#dialect;
    const [first, open] = [this.#column("first"), this.#column("open")];
    const none = list([], int);
    const when = [`WHEN NOT mr_is_read THEN ${none}`];
    if (this.#said.open === undefined) when.push(`WHEN NOT ${open} AND ${first} IS NULL THEN ${none}`);
    const single = this.#isSingle(first);
    if (single !== undefined)
      when.push(`WHEN NOT ${open} AND ${first} IS NOT NULL${single} THEN ${list([first], int)}`);
    return `CASE\n    ${when.join("\n    ")}\n    ELSE ${this.#all(none)}\n  END AS ${this.#column("found")}`;
  }

  #all(none: string): string {
    const { rules } = this.#said;
    if (rules.length === 0) return none;
    const { brackets, filter, int } = this.#dialect;
    const lines = rules.map(({ sql, name }, index) => {
      const signed = `coalesce(${index + 1} * CAST(${sql} AS ${int}), ${-index - 1})`;
      return `${signed}${index < rules.length - 1 ? "," : ""} -- ${commented(name).slice(0, 80)}`;
    });
    return filter(`${brackets[0]}\n      ${lines.join("\n      ")}\n    ${brackets[1]}`, "x <> 0");
  }

  /** Returns SQL that is true of positions whose rule ends the search alone; empty for all, undefined for none. */
  #isSingle(position: string): string | undefined {
    if (this.#semantics.wins.by === "all") return undefined;
    const ranges = this.#levels().filter(([from, to]) => from < to || to <= this.#free());
    if (ranges.length === this.#levels().length && ranges.length > 0) return undefined;
    return ranges.map(([from, to]) => ` AND ${position} NOT BETWEEN ${from} AND ${to}`).join("");
  }

  /** Returns the first and the last position of each level. */
  #levels(): readonly (readonly [number, number])[] {
    const levels = new Map<number, readonly [number, number]>();
    for (const [index, { level }] of this.#said.rules.entries())
      levels.set(level, [levels.get(level)?.[0] ?? index + 1, index + 1]);
    return [...levels.values()];
  }

  /** Returns SQL of the winners: no rule of a later level than the first that surely applies, and none that one of its chain beats. */
  #winners(): string {
    const { filter, exists, smallest } = this.#dialect;
    const { rules } = this.#said;
    const found = this.#column("found");
    const first = smallest(filter(found, `x > ${this.#free()}`));
    const ends = new Map(this.#levels().flatMap(([from, to]) => range(from, to).map((each) => [each, to] as const)));
    const last = this.#levels().every(([from, to]) => from === to)
      ? first
      : this.#lookup(first, (_, index) => ends.get(index + 1) ?? 0);
    const best = filter(found, `abs(x) <= coalesce(${last}, ${rules.length})`);
    const chains = new Map<string, { readonly number: number; readonly ranks: Set<number> }>();
    for (const { chain, rank } of rules) {
      getOrMake(chains, chain, () => ({ number: chains.size, ranks: new Set<number>() })).ranks.add(rank);
    }
    if ([...chains.values()].every(({ ranks }) => ranks.size === 1)) return best;
    const chainOf = (position: string): string => this.#lookup(position, ({ chain }) => chains.get(chain)?.number ?? 0);
    const rankOf = (position: string): string => this.#lookup(position, ({ rank }) => rank);
    const isBeaten = exists(
      found,
      `y > 0 AND ${chainOf("y")} = ${chainOf("abs(x)")} AND ${rankOf("y")} < ${rankOf("abs(x)")}`,
      "y",
    );
    return filter(best, `NOT (${isBeaten})`);
  }

  /** Returns SQL of the numbers of the possible outcomes; 0 stands for an unknown one. */
  #numbers(): string {
    const [found, by] = [this.#column("found"), this.#column("by")];
    const { exists, joined } = this.#dialect;
    const numbers = this.#outcomesOf(by);
    const withNone = joined(numbers, this.#none());
    return `CASE WHEN ${exists(found, "x > 0")} THEN ${numbers} ELSE ${withNone} END AS ${this.#column("numbers")}`;
  }

  #undecidedOfAll(): string[] {
    const { filter, has } = this.#dialect;
    const found = this.#column("found");
    const certain = this.#outcomesOf(filter(found, "x > 0"));
    const number = this.#outcomeOf();
    return [
      `${certain} AS ${this.#column("certain")}`,
      `${filter(found, `${number} = 0 OR (x < 0 AND NOT ${has(certain, number)})`)} AS ${this.#column("unsure")}`,
    ];
  }

  #decidedOfAll(): string[] {
    const { filter, size, joined, distinct } = this.#dialect;
    const [found, certain, unsure] = [this.#column("found"), this.#column("certain"), this.#column("unsure")];
    const known = `CASE WHEN ${size(certain)} > 0 THEN ${certain} ELSE ${this.#none()} END`;
    const isSure = `${size(unsure)} = 0`;
    return [
      `CASE WHEN ${isSure} THEN ${filter(found, "x > 0")} ELSE ${unsure} END AS ${this.#column("by")}`,
      `${distinct(`CASE WHEN ${isSure} THEN ${known} ELSE ${joined(known, this.#outcomesOf(unsure))} END`)} AS ${this.#column("numbers")}`,
    ];
  }

  #answer(isOfAll: boolean): string[] {
    const { smallest, largest, size, at, list, text, transform, sorted, textOf, literal } = this.#dialect;
    const [numbers, by, unsure] = [this.#column("numbers"), this.#column("by"), this.#column("unsure")];
    const names = list(this.#outcomes.map(literal), text);
    const isKnown = isOfAll
      ? `${smallest(numbers)} > 0 AND (${size(unsure)} = 0 OR ${size(numbers)} = 1)`
      : `${smallest(numbers)} > 0 AND ${smallest(numbers)} = ${largest(numbers)}`;
    const outcome = isOfAll
      ? textOf(transform(sorted(numbers), at(names, "x")), " and ")
      : at(names, smallest(numbers));
    const ruleNames = this.#said.rules.map(({ name }) => literal(name));
    return [
      `CASE WHEN NOT mr_is_read THEN NULL WHEN ${isKnown} THEN ${outcome} ELSE 'unknown' END AS ${this.#column("outcome")}`,
      `CASE WHEN mr_is_read THEN ${isKnown} END AS ${this.#column("is_known")}`,
      `CASE WHEN mr_is_read THEN ${transform(by, at(list(ruleNames, text), "abs(x)"))} END AS ${this.#column("rules")}`,
    ];
  }

  #none(): string {
    const { none } = this.#semantics.wins;
    const { list, int } = this.#dialect;
    return list([String(none === null ? 0 : this.#outcomes.indexOf(none) + 1)], int);
  }

  #outcomesOf(positions: string): string {
    return this.#dialect.transform(positions, this.#outcomeOf());
  }

  #outcomeOf(): string {
    return this.#lookup("abs(x)", ({ outcomeNumber }) => outcomeNumber);
  }

  /** Returns SQL that looks up a number of the rule at a position. */
  #lookup(position: string, of: (rule: SaidRule, index: number) => number): string {
    const { at, list, int } = this.#dialect;
    const numbers = this.#said.rules.map((rule, index) => String(of(rule, index)));
    return at(list(numbers, int), position);
  }

  #column(name: string): string {
    return `mr_${this.#side}_${name}`;
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** Returns a name for an SQL comment, without characters that could end it or that clients which split statements interpret. */
export function commented(text: string): string {
  return text
    .replaceAll('"', "")
    .replaceAll(";", ",")
    .replace(/[^A-Za-z0-9 _.,:/()@+=#<>*[\]&!|-]/g, "?");
}
