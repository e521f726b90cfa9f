import { type Comparison, type Operand, textsIn } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import { isEquality } from "../language/schema-words.ts";
import { addressesOf, casesOf, type Value } from "../language/values.ts";
import { type Dialect, isFalse, not, or, unknown } from "./dialect.ts";
import type { FieldSql, Fields } from "./fields.ts";
import { keyOf } from "./keys.ts";

export interface ComparisonContext {
  readonly semantics: Semantics;
  readonly dialect: Dialect;
  readonly fields: Fields;
  /** Notes that the dialect cannot express the comparison. `why`: the rest of a sentence that begins with its place. */
  readonly refuse: (why: string) => void;
}

export interface ComparisonSql {
  /** True or false for rows in which all its fields have values, or SQL null where that is unknown; SQL null for all other rows. */
  readonly sql: string;
  /** Shorter SQL with the same result for rows of which nothing of `opens` is true. */
  readonly plain: string;
  /** Where none of these is true of a row with values, `sql` is not null. */
  readonly opens: readonly string[];
}

const unsaid: ComparisonSql = { sql: unknown, plain: isFalse, opens: [] };

/** Returns SQL of a comparison, without its negation, that decides as `compare` does. */
export function comparisonSql(
  comparison: Comparison,
  own: FieldSql,
  other: FieldSql | undefined,
  context: ComparisonContext,
): ComparisonSql {
  if (textsIn(comparison.operand).some((text) => text.includes("\0") || !text.isWellFormed())) {
    context.refuse("compares with a text that has U+0000 or half a surrogate pair");
    return unsaid;
  }
  if (comparison.operand.kind === "pattern") return patternSql(comparison, comparison.operand, own, context);
  const [first = unknown, second] = casesOf(comparison.ignoresCase).map(({ ignoresCase }) =>
    new Said(ignoresCase, own, other, context).of(comparison),
  );
  if (second === undefined || second === first) return { sql: first, plain: first, opens: [] };
  return inEitherCase(first, second, openerOf(comparison, own, context));
}

/** Joins the SQL for both ways to compare letters, where it is unknown whether case counts: SQL null where their results differ. */
function inEitherCase(one: string, other: string, opener = `coalesce((${one}) <> (${other}), FALSE)`): ComparisonSql {
  return { sql: `CASE WHEN (${one}) = (${other}) THEN ${one} END`, plain: one, opens: [opener] };
}

/** Returns the column that says for all texts of a field whether case matters; undefined where texts are not compared as wholes. */
function openerOf({ operator, operand }: Comparison, own: FieldSql, { fields }: ComparisonContext): string | undefined {
  if (!isEquality(operator) || own.described.list || operand.kind === "field") return undefined;
  return fields.nameTexts(own, textsIn(operand));
}

function patternSql(
  { ignoresCase }: Comparison,
  { source, isWhole, isCommon }: Operand & { kind: "pattern" },
  own: FieldSql,
  { dialect, refuse }: ComparisonContext,
): ComparisonSql {
  const why = dialect.refusesPattern(source, isCommon);
  if (why !== undefined) {
    refuse(`${why}: ${source}`);
    return unsaid;
  }
  const said = casesOf(ignoresCase).map((alike) => {
    const pattern = `${alike.ignoresCase ? "(?i)" : ""}(?:${source})`;
    return isWhole ? dialect.isAll(own.value, pattern) : dialect.isPart(own.value, pattern);
  });
  const [first = unknown, second] = said;
  const agreed = second === undefined ? { sql: first, plain: first, opens: [] } : inEitherCase(first, second);
  if (!isCommon) return agreed;
  const isPlain = dialect.isAll(own.value, "[ -~]*");
  const opener = `NOT coalesce(${isPlain}, TRUE)`;
  return { ...agreed, sql: `CASE WHEN ${isPlain} THEN ${agreed.sql} END`, opens: [...agreed.opens, opener] };
}

/** A comparison for which it is decided whether A to Z and a to z are alike. */
class Said {
  readonly #ignoresCase: boolean;
  readonly #own: FieldSql;
  readonly #other: string | undefined;
  readonly #context: ComparisonContext;
  readonly #value: string;

  constructor(ignoresCase: boolean, own: FieldSql, other: FieldSql | undefined, context: ComparisonContext) {
    this.#ignoresCase = ignoresCase;
    this.#own = own;
    this.#context = context;
    this.#value = this.#column(own);
    this.#other = other && this.#column(other);
  }

  of({ operator, operand }: Comparison): string {
    const { dialect, semantics } = this.#context;
    const { list } = this.#own.described;
    switch (operator) {
      case "eq":
        return this.#isEqual(operand);
      case "ne":
        return not(this.#isEqual(operand));
      case "in":
        return this.#isOneOf(operand);
      case "notIn":
        return not(this.#isOneOf(operand));
      case "inCidr":
        return this.#isInNetworks(operand);
      case "contains":
        if (list && semantics.lists.contains === "element") return this.#isEqual(operand);
        if (!list) return `contains(${this.#value}, ${this.#operand(operand)})`;
        return dialect.exists(this.#value, `contains(x, ${this.#operand(operand)})`);
      case "startsWith":
        return dialect.startsWith(this.#value, this.#operand(operand));
      case "endsWith":
        return dialect.endsWith(this.#value, this.#operand(operand));
      case "between":
        return this.#isBetween(operand);
      case "gt":
      case "gte":
      case "lt":
      case "lte":
        return `${this.#value} ${signs[operator]} ${this.#operand(operand)}`;
      default:
        throw new TypeError(`${operator} with the operand ${operand.kind} is no comparison of values`);
    }
  }

  #column(field: FieldSql): string {
    return this.#ignoresCase && field.described.type === "text" ? this.#context.fields.fold(field) : field.value;
  }

  #operand(operand: Operand): string {
    if (operand.kind === "value") return this.#literal(operand.value);
    if (operand.kind === "field" && this.#other !== undefined) return this.#other;
    throw new TypeError(`the operand ${operand.kind} is not one value`);
  }

  #literal(value: Value): string {
    return this.#context.dialect.literal(keyOf(value, { ignoresCase: this.#ignoresCase }));
  }

  /** Returns SQL that is true (or false) for all rows that have a value, and null for others. */
  #constant(is: boolean): string {
    return `CASE WHEN ${this.#value} IS NOT NULL THEN ${is ? "TRUE" : "FALSE"} END`;
  }

  #isEqual(operand: Operand): string {
    const { dialect } = this.#context;
    const { list } = this.#own.described;
    if (operand.kind === "values") {
      if (operand.values.length === 0) return `${dialect.size(this.#value)} = 0`;
      return `${this.#value} = ${this.#list(operand.values)}`;
    }
    return list ? dialect.has(this.#value, this.#operand(operand)) : `${this.#value} = ${this.#operand(operand)}`;
  }

  #isOneOf(operand: Operand): string {
    if (operand.kind !== "values") throw new TypeError(`the operand ${operand.kind} is no list`);
    if (operand.values.length === 0) return this.#constant(false);
    if (this.#own.described.list) return this.#context.dialect.overlaps(this.#value, this.#list(operand.values));
    const literals = new Set(operand.values.map((value) => this.#literal(value)));
    return `${this.#value} IN (${[...literals].join(", ")})`;
  }

  #list(values: readonly Value[]): string {
    const literals = values.map((value) => this.#literal(value));
    return this.#context.dialect.list(literals, this.#context.dialect.text);
  }

  #isInNetworks(operand: Operand): string {
    if (operand.kind !== "networks") throw new TypeError(`the operand ${operand.kind} is no list of networks`);
    const ranges = operand.networks.map((network) => addressesOf(network).map((end) => this.#literal(end)));
    const is = or(ranges.map(([from, to]) => `${this.#value} BETWEEN ${from} AND ${to}`));
    return is === isFalse ? this.#constant(false) : is;
  }

  #isBetween(operand: Operand): string {
    if (operand.kind !== "range") throw new TypeError(`the operand ${operand.kind} is no range`);
    const { from, to, ends } = operand;
    const [above, below] = [
      ends === "both" || ends === "lower" ? ">=" : ">",
      ends === "both" || ends === "upper" ? "<=" : "<",
    ];
    return `(${this.#value} ${above} ${this.#literal(from)} AND ${this.#value} ${below} ${this.#literal(to)})`;
  }
}

const signs = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;
