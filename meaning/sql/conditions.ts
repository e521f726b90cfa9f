import { judgeForceForAll } from "../evaluate/evaluate.ts";
import { no, yes } from "../evaluate/verdict.ts";
import {
  type Bound,
  type Comparison,
  type Condition,
  comparedFields,
  type Force,
  type Rule,
} from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import { comparisonSql } from "./comparison.ts";
import { and, type Dialect, isFalse, isTrue, not, or, unknown } from "./dialect.ts";
import type { FieldSql, Fields } from "./fields.ts";
import { keyOf } from "./keys.ts";

/** A comparison that the dialect cannot express exactly. What depends on it is unknown. */
export interface Refusal {
  readonly at: string;
  /** The rest of a sentence that begins with the place. */
  readonly why: string;
}

/** A condition in SQL. */
interface Said {
  /** True, false, or SQL null where it is not known. */
  readonly sql: string;
  /** Shorter SQL that is true where `sql` is, for rows of which no condition of `opens` is true. */
  readonly plain: string;
}

/** Whether a rule applies to a row. */
export interface RuleSql extends Said {
  /** Where none of these is true of a row, `sql` is not null there. */
  readonly opens: readonly string[];
  readonly refusals: readonly Refusal[];
}

export class Conditions {
  readonly #semantics: Semantics;
  readonly #dialect: Dialect;
  readonly #fields: Fields;
  readonly #at: string | undefined;
  #opens = new Set<string>();
  #refusals: Refusal[] = [];

  /** @param at as `EvaluateOptions.at` */
  constructor(semantics: Semantics, dialect: Dialect, fields: Fields, at: string | undefined) {
    this.#semantics = semantics;
    this.#dialect = dialect;
    this.#fields = fields;
    this.#at = at;
  }

  /** Returns SQL that says whether a rule applies to a row. @throws MerchantRulesError SETTINGS_INVALID: `at` is no instant */
  of({ force, when }: Partial<Rule>): RuleSql {
    this.#opens = new Set();
    this.#refusals = [];
    const said = joined(and, [
      ...(force === undefined ? [nobodyKnows] : this.#inForce(force)),
      when === undefined ? nobodyKnows : this.#condition(when, false),
    ]);
    if (said.sql.includes(unknown)) this.#opens.add(isTrue);
    return { ...said, opens: [...this.#opens], refusals: this.#refusals };
  }

  #inForce(force: Force): Said[] {
    const verdict = judgeForceForAll(force, this.#semantics, { at: this.#at });
    const { time } = this.#semantics.payment;
    if (verdict === undefined && time !== null)
      return [...this.#bound(time, force.from, ">"), ...this.#bound(time, force.until, "<")];
    if (verdict === yes) return [];
    return [verdict === no ? both(isFalse) : nobodyKnows];
  }

  #bound(time: string, bound: Bound | undefined, sign: ">" | "<"): Said[] {
    if (bound === undefined) return [];
    const field = this.#fields.use(time);
    if (typeof field === "string" || field.described.list) {
      this.#refuse("", typeof field === "string" ? `hangs on ${field}` : "hangs on a time that is a list");
      return [nobodyKnows];
    }
    this.#opens.add(`${field.is} IS NOT TRUE`);
    const instant = this.#dialect.literal(keyOf(bound.instant, { ignoresCase: false }));
    return [both(`${field.value} ${sign}${bound.counts ? "=" : ""} ${instant}`)];
  }

  /** Returns SQL of a condition. Negation moves to the comparisons, because only there it is decided what a missing field means. */
  #condition(condition: Condition, isFlipped: boolean): Said {
    switch (condition.kind) {
      case "always":
      case "never":
        return both((condition.kind === "always") === isFlipped ? isFalse : isTrue);
      case "not":
        return this.#condition(condition.of, !isFlipped);
      case "all":
      case "any": {
        const parts = condition.of.map((each) => this.#condition(each, isFlipped));
        return joined((condition.kind === "all") === isFlipped ? or : and, parts);
      }
      case "comparison":
        return this.#comparison(condition, isFlipped);
    }
  }

  #comparison(comparison: Comparison, isFlipped: boolean): Said {
    const { operand, isNegated, operator, at } = comparison;
    const named = comparedFields(comparison);
    const fields = named.map((name) => this.#fields.use(name));
    const found = fields.filter((field) => typeof field !== "string");
    const [own, other] = found;
    if (own === undefined || found.length < named.length) {
      this.#refuse(at, `compares ${fields.filter((field) => typeof field === "string").join(" and ")}`);
      return nobodyKnows;
    }
    const isOpposite = isNegated !== isFlipped;
    if (operand.kind === "none") return both((operator === "exists") === isOpposite ? `NOT ${own.has}` : own.has);
    const said = comparisonSql(comparison, own, other, {
      semantics: this.#semantics,
      dialect: this.#dialect,
      fields: this.#fields,
      refuse: (why) => this.#refuse(at, why),
    });
    for (const opener of said.opens) this.#opens.add(opener);
    const is = { sql: isOpposite ? not(said.sql) : said.sql, plain: isOpposite ? not(said.plain) : said.plain };
    return other === undefined ? this.#guarded(is, own, isFlipped) : this.#guardedBoth(is, own, other, isFlipped);
  }

  /** Returns the result of a comparison for rows in which its field is missing, with the negation of the groups around it. */
  #ofMissing({ missing }: FieldSql, isFlipped: boolean): string {
    if (missing === "comparisonFalse") return isFlipped ? isTrue : isFalse;
    return this.#semantics.undecidedRule === "noMatch" ? isFalse : unknown;
  }

  #guarded(is: Said, own: FieldSql, isFlipped: boolean): Said {
    const so = typeof own.missing === "object" ? unknown : this.#ofMissing(own, isFlipped);
    this.#opens.add(so === unknown ? `${own.is} IS NOT TRUE` : `${own.is} IS NULL`);
    // Where only truth counts, null is as good as false.
    if (so === isFalse) return { sql: and([is.sql, own.is]), plain: is.plain };
    return so === isTrue ? joined(or, [is, both(not(own.is))]) : is;
  }

  #guardedBoth(is: Said, own: FieldSql, other: FieldSql, isFlipped: boolean): Said {
    const [one = unknown, two = unknown] = [own, other].map((field) => this.#ofMissing(field, isFlipped));
    for (const field of [own, other]) this.#opens.add(`${field.is} IS NOT TRUE`);
    const [so, otherSo, bothSo] = [one, two, one === two ? one : unknown].map((each) =>
      each === unknown ? "NULL" : each,
    );
    const sql = [
      `CASE WHEN ${own.is} IS FALSE AND ${other.is} IS FALSE THEN ${bothSo}`,
      `WHEN ${own.is} IS FALSE THEN ${so} WHEN ${other.is} IS FALSE THEN ${otherSo} ELSE ${is.sql} END`,
    ].join(" ");
    return { sql, plain: is.plain };
  }

  #refuse(at: string, why: string): void {
    this.#refusals.push({ at, why });
  }
}

const nobodyKnows: Said = { sql: unknown, plain: isFalse };

function both(sql: string): Said {
  return { sql, plain: sql };
}

function joined(join: (parts: readonly string[]) => string, parts: readonly Said[]): Said {
  return { sql: join(parts.map(({ sql }) => sql)), plain: join(parts.map(({ plain }) => plain)) };
}
