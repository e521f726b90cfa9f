import fc from "fast-check";
import { type Condition, Decider, type RuleReading, readRules, type Semantics } from "../../../meaning/index.ts";
import type { SideRules } from "../../../meaning/sql/query.ts";
import type { Json, JsonObject } from "../../../sdk/json/index.ts";
import type { NaiveField, World } from "../naive.ts";
import { definitionOf, paymentFor, rulesFor, semanticsOf, world } from "../random.ts";

/** Random semantics, rules of two sides, and payments. */
export interface SqlCase {
  readonly semantics: Semantics;
  readonly sides: readonly SideRules[];
  readonly payments: readonly JsonObject[];
  readonly at: string | undefined;
}

export interface CaseSize {
  readonly rules: number;
  readonly payments: number;
}

type Way = Pick<World, "wins" | "equal" | "missing" | "undecidedRule" | "fields">;

const text = (ignoresCase: boolean | null, list = false): NaiveField => ({ type: "text", ignoresCase, list });
const plain = (type: NaiveField["type"], list = false): NaiveField => ({ type, list });

/** Every way in which rules win, every way in which missing fields count, and every type. */
const ways: readonly Way[] = [
  {
    ...{ wins: "order", equal: "unknown", missing: "unknown", undecidedRule: "noMatch" },
    fields: { a: text(false), b: plain("decimal"), c: plain("instant"), d: text(true) },
  },
  {
    ...{ wins: "order", equal: "firstListed", missing: "comparisonFalse", undecidedRule: "unknown" },
    fields: { a: text(true), b: plain("decimal", true), c: plain("ip"), d: text(true) },
  },
  {
    ...{ wins: "order", equal: "lastListed", missing: "unknown", undecidedRule: "unknown" },
    fields: { a: text(null), b: plain("decimal"), c: plain("ip"), d: plain("boolean") },
  },
  {
    ...{ wins: "order", equal: "precedence", missing: "unknown", undecidedRule: "noMatch" },
    fields: { a: text(true, true), b: plain("boolean"), c: plain("decimal"), d: plain("instant", true) },
  },
  {
    ...{ wins: "precedence", equal: "unknown", missing: "comparisonFalse", undecidedRule: "noMatch" },
    fields: { a: text(false), b: plain("decimal"), c: plain("ip", true), d: text(false, true) },
  },
  {
    ...{ wins: "listed", equal: "unknown", missing: "unknown", undecidedRule: "noMatch" },
    fields: { a: text(true), b: plain("decimal"), c: plain("instant"), d: plain("boolean", true) },
  },
  {
    ...{ wins: "all", equal: "unknown", missing: "unknown", undecidedRule: "noMatch" },
    fields: { a: text(null, true), b: plain("decimal"), c: plain("instant"), d: text(false) },
  },
  {
    ...{ wins: "order", equal: "unknown", missing: { value: "5" }, undecidedRule: "unknown" },
    fields: { a: text(false), b: plain("decimal"), c: text(true), d: plain("decimal") },
  },
];

/** A case for each of the ways; the same for a seed. */
export function sqlCases(seed: number, size: CaseSize): SqlCase[] {
  return ways.flatMap((way, index) => {
    const [of] = fc.sample(world, { seed: seed + index, numRuns: 1 });
    return of === undefined ? [] : [caseOf({ ...of, ...way }, seed + index, size)];
  });
}

function caseOf(of: World, seed: number, { rules, payments }: CaseSize): SqlCase {
  const semantics = withOtherMissing(clocked(semanticsOf(of), seed), seed);
  const valueLists = new Map(Object.entries(of.valueLists)) as Map<string, readonly Json[]>;
  const written = fc.sample(rulesFor(of, 1), { seed, numRuns: rules * 4 }).flat();
  const readings = written
    .flatMap((rule) => readRules(definitionOf(rule), semantics, { valueLists }))
    // One rule that cannot be read leaves most payments unknown: few of them let all others be seen.
    .filter(({ kind }, index) => kind === "rule" || index % 40 === 0)
    .slice(0, rules);
  const names = readings.map((_, index) => ({
    name: `rule '${index}'`,
    reading: narrowed(readings, index, semantics),
  }));
  // After has other rules, and new ones, which have no place in the list.
  const after = names.filter((_, index) => index % 9 !== 0);
  const isNew = (index: number): boolean => (of.wins === "listed" ? index === 7 : index % 50 === 7);
  const unlisted = new Map(after.flatMap((_, index) => (isNew(index) ? [[index, index] as [number, number]] : [])));
  return {
    semantics,
    sides: [
      { name: "before", rules: names, unlisted: new Map() },
      { name: "after", rules: after, unlisted },
    ],
    payments: fc.sample(paymentFor(of), { seed, numRuns: payments }),
    at: semantics.force.clock === "payment" ? undefined : "2026-01-31T12:00:00Z",
  };
}

/** A field for which something else follows where it is missing than for the others. */
function withOtherMissing(semantics: Semantics, seed: number): Semantics {
  const { d } = semantics.payment.fields;
  if (d === undefined || typeof semantics.missing === "object" || seed % 3 === 0) return semantics;
  const missing = semantics.missing === "unknown" ? "comparisonFalse" : "unknown";
  return {
    ...semantics,
    payment: { ...semantics.payment, fields: { ...semantics.payment.fields, d: { ...d, missing } } },
  };
}

/** Where a field is an instant, it is the payment's time now and then. */
function clocked(semantics: Semantics, seed: number): Semantics {
  const time = Object.entries(semantics.payment.fields).find(([, { type, list }]) => type === "instant" && !list)?.[0];
  if (time === undefined || seed % 2 === 0) return semantics;
  return {
    ...semantics,
    force: { ...semantics.force, clock: "payment" },
    payment: { ...semantics.payment, time },
  };
}

/** A rule that applies to few payments, so that not always the first ones decide. */
function narrowed(readings: readonly RuleReading[], index: number, semantics: Semantics): RuleReading {
  const [own, other, third] = [index, index * 7 + 3, index * 11 + 5].map((each) => readings[each % readings.length]);
  if (own === undefined) throw new TypeError(`there is no rule ${index}`);
  const order = own.kind === "rule" ? own.rule.order : own.known.order;
  const moved = order && {
    type: "decimal" as const,
    decimal: { sign: "" as const, digits: String((index % 60) + 1), exponent: 0 },
  };
  if (own.kind === "unknown") return moved === undefined ? own : { ...own, known: { ...own.known, order: moved } };
  if (other?.kind !== "rule" || third?.kind !== "rule" || index % 10 === 0) return own;
  const of = [own.rule.when, other.rule.when, third.rule.when];
  const pattern = index % 3 === 0 ? patternIn(semantics, index) : undefined;
  const when = { kind: "all" as const, at: "", of: pattern === undefined ? of : [...of.slice(0, 1), pattern] };
  return { kind: "rule", rule: { ...own.rule, when, order: moved } };
}

const patterns = ["a", "^a.$", "A|b", "[a-c]{2,3}", "^$", "\\d", "(?:ab)?c?", "k", "^.$"];

/** A comparison with a pattern; undefined where no field is a text. */
function patternIn({ payment: { fields } }: Semantics, index: number): Condition | undefined {
  const [field, described] = Object.entries(fields).find(([, { type, list }]) => type === "text" && !list) ?? [];
  if (field === undefined || described === undefined) return undefined;
  const source = patterns[index % patterns.length] ?? "";
  const operand = { kind: "pattern" as const, source, isWhole: index % 2 === 0, isCommon: true };
  return {
    kind: "comparison",
    at: "",
    field,
    operator: "matches",
    isNegated: index % 5 === 0,
    ignoresCase: described.ignoresCase,
    operand,
    written: source,
  };
}

/** What the evaluator says of a payment by one side, in the words of the query. */
export interface Answer {
  readonly outcome: string;
  readonly isKnown: boolean;
  readonly rules: readonly string[];
}

export function answersOf({ semantics, payments, at }: SqlCase, { rules, unlisted }: SideRules): Answer[] {
  const decider = new Decider(
    rules.map(({ reading }) => reading),
    semantics,
    { unlisted, ...(at === undefined ? {} : { at }) },
  );
  return payments.map((payment) => {
    const decision = decider.decide(payment);
    const isKnown = decision.kind === "decided";
    const by = isKnown ? decision.by : decision.because;
    return {
      outcome: isKnown ? decision.outcomes.join(" and ") : "unknown",
      isKnown,
      rules: by.map((index) => rules[index]?.name ?? "").sort(),
    };
  });
}

/** The same as a row of the query has it. */
export function answerIn(row: Readonly<Record<string, unknown>>, side: string): Answer {
  const [outcome, isKnown, rules] = ["outcome", "is_known", "rules"].map((name) => row[`mr_${side}_${name}`]);
  return {
    outcome: String(outcome),
    isKnown: isKnown === true,
    rules: Array.isArray(rules) ? rules.map(String).sort() : [],
  };
}

/** What two readers make of payments, held against each other; what an inexact row does not tell may be unknown in it. */
export function heldAgainst(rows: readonly Readonly<Record<string, unknown>>[], each: SqlCase): Held {
  const held: Held = { wrong: [], known: 0, unknown: 0, several: 0, inexact: 0 };
  for (const side of each.sides)
    for (const [index, answer] of answersOf(each, side).entries()) {
      const row = rows[index] ?? {};
      const found = answerIn(row, side.name);
      const isExact = row.mr_is_exact === true;
      if (!isExact) held.inexact += 1;
      const isSound = !isExact && !found.isKnown;
      if (!isSound && JSON.stringify(found) !== JSON.stringify(answer))
        held.wrong.push({ payment: each.payments[index], side: side.name, found, answer });
      held[answer.isKnown ? "known" : "unknown"] += 1;
      if (answer.rules.length > 1) held.several += 1;
    }
  return held;
}

interface Held {
  readonly wrong: {
    readonly payment: JsonObject | undefined;
    readonly side: string;
    readonly found: Answer;
    readonly answer: Answer;
  }[];
  known: number;
  unknown: number;
  several: number;
  inexact: number;
}
