import { MerchantRulesError } from "../../sdk/errors.ts";
import type { Json, JsonObject } from "../../sdk/json/json.ts";
import {
  type Bound,
  type Comparison,
  type Condition,
  comparedFields,
  type Force,
  type Rule,
  type RuleReading,
} from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import { shown } from "../language/unreadable.ts";
import { compareValues, readValue, type Value } from "../language/values.ts";
import { compare } from "./compare.ts";
import { type Decision, decide } from "./decide.ts";
import { type FieldReading, Payment } from "./payment.ts";
import {
  all,
  any,
  anything,
  no,
  not,
  settled,
  type TruthValue,
  truthOf,
  type Verdict,
  verdictOf,
  verdictOfMissing,
  verdictOfUndecided,
  yes,
} from "./verdict.ts";

export interface Evaluation {
  readonly decision: Decision;
  /** Each rule, in the order in which they were given. */
  readonly rules: readonly RuleTrace[];
}

/** The result of one rule for the payment. */
export interface RuleTrace {
  /** Whether it applies: it is in force and its conditions hold. */
  readonly applies: TruthValue;
  readonly inForce: Explained;
  /** Undefined where its conditions could not be read. */
  readonly when: ConditionTrace | undefined;
}

interface Explained {
  readonly answer: TruthValue;
  /** The rest of a sentence about what is not known, or about what a missing field made of a comparison. */
  readonly why: string | undefined;
}

/** The result of one node of the conditions for the payment. */
export interface ConditionTrace extends Explained {
  readonly condition: Condition;
  /** The payment's value in a comparison, as it was compared; undefined where it has none. */
  readonly found: Json | undefined;
  /** The value that it was compared with: the rule's own, or that of another field. */
  readonly comparedWith: Json | undefined;
  readonly of: readonly ConditionTrace[];
}

export interface EvaluateOptions {
  /** The instant (RFC 3339) at which rules are in force. Default: the payment's time, if force.clock says so; else it is not known. */
  readonly at?: string | undefined;
  /**
   * The rules whose place in the service's list is not known, such as new ones, by their index; those with one number are of one
   * definition, whose own order is known. Default: none.
   */
  readonly unlisted?: ReadonlyMap<number, number> | undefined;
}

/**
 * Evaluates one payment by rules: the decision, and a trace of each rule.
 * @param rules all that take part, in the order in which the service lists them
 * @throws MerchantRulesError SETTINGS_INVALID: `at` is no instant
 */
export function evaluate(
  json: JsonObject,
  rules: readonly RuleReading[],
  semantics: Semantics,
  options: EvaluateOptions = {},
): Evaluation {
  const payment = new Payment(json, semantics);
  const at = clockOf(payment, semantics, options);
  const undecidedIs = verdictOfUndecided(semantics);
  const evaluated = rules.map((reading, index) => {
    const rule: Partial<Rule> = reading.kind === "rule" ? reading.rule : reading.known;
    const force = rule.force === undefined ? unread : judgeForce(rule.force, at);
    const when = rule.when === undefined ? undefined : evaluateCondition(rule.when, payment, semantics);
    const verdict = all([force.verdict, when === undefined ? yes | no : settled(when.verdict, undecidedIs)]);
    return {
      standing: { applies: verdict, outcome: rule.outcome, order: rule.order, unlisted: options.unlisted?.get(index) },
      trace: {
        applies: truthOf(verdict),
        inForce: { answer: truthOf(force.verdict), why: force.why },
        when: when?.trace,
      },
    };
  });
  const standings = evaluated.map(({ standing }) => standing);
  return { decision: decide(standings, semantics), rules: evaluated.map(({ trace }) => trace) };
}

interface Judged {
  readonly verdict: Verdict;
  readonly why: string | undefined;
}

const unread: Judged = { verdict: yes | no, why: "the rule could not be read" };

/** Returns the instant by which rules are in force; or, as the rest of a sentence, why there is none. */
export function clockOf(
  payment: Payment,
  { force, payment: { time } }: Semantics,
  { at }: EvaluateOptions,
): Value | string {
  if (at !== undefined) {
    const instant = readValue(at, "instant");
    if (instant !== undefined) return instant;
    throw new MerchantRulesError("SETTINGS_INVALID", `${at} is no instant`, {
      attempted: "evaluate a payment",
      advice: "write it by RFC 3339, such as 2026-01-31T12:00:00Z",
    });
  }
  if (force.clock === "now") return "the present is not given";
  if (time === null) return "the semantics name no time of a payment";
  const read = payment.field(time);
  const [value] = read.kind === "values" ? read.values : [];
  return value ?? whyNot(time, read);
}

/** Returns whether a rule is in force, whatever the payment; undefined where the payment's own time decides that. */
export function judgeForceForAll(force: Force, semantics: Semantics, options: EvaluateOptions): Verdict | undefined {
  const isByPayment =
    options.at === undefined && semantics.force.clock === "payment" && semantics.payment.time !== null;
  if (force.isEnabled && isByPayment) return undefined;
  return judgeForce(force, clockOf(new Payment({}, semantics), semantics, options)).verdict;
}

function judgeForce({ isEnabled, from, until }: Force, at: Value | string): Judged {
  if (!isEnabled) return { verdict: no, why: "it is not enabled" };
  if (from === undefined && until === undefined) return { verdict: yes, why: undefined };
  if (typeof at === "string") return { verdict: yes | no, why: at };
  const sides = (bound: Bound | undefined): number => (bound === undefined ? 0 : compareValues(at, bound.instant));
  if (from !== undefined && (from.counts ? sides(from) < 0 : sides(from) <= 0))
    return { verdict: no, why: "it is not yet in force" };
  if (until !== undefined && (until.counts ? sides(until) > 0 : sides(until) >= 0))
    return { verdict: no, why: "it is no longer in force" };
  return { verdict: yes, why: undefined };
}

interface Evaluated {
  readonly verdict: Verdict;
  readonly trace: ConditionTrace;
}

export function evaluateCondition(condition: Condition, payment: Payment, semantics: Semantics): Evaluated {
  switch (condition.kind) {
    case "always":
    case "never":
      return node(condition, verdictOf(condition.kind === "always"), []);
    case "all":
    case "any": {
      const of = condition.of.map((each) => evaluateCondition(each, payment, semantics));
      const join = condition.kind === "all" ? all : any;
      return node(condition, join(of.map(({ verdict }) => verdict)), of);
    }
    case "not": {
      const of = evaluateCondition(condition.of, payment, semantics);
      return node(condition, not(of.verdict), [of]);
    }
    case "comparison":
      return evaluateComparison(condition, payment, semantics);
  }
}

function node(condition: Condition, verdict: Verdict, of: readonly Evaluated[]): Evaluated {
  const trace = { condition, answer: truthOf(verdict), why: undefined, found: undefined, comparedWith: undefined };
  return { verdict, trace: { ...trace, of: of.map((each) => each.trace) } };
}

function evaluateComparison(comparison: Comparison, payment: Payment, semantics: Semantics): Evaluated {
  const { field, operator, isNegated, operand } = comparison;
  if (operand.kind === "none") {
    const verdict = verdictOf((operator === "exists") === payment.has(field));
    return node(comparison, isNegated ? not(verdict) : verdict, []);
  }
  const readings = comparedFields(comparison).map((name) => ({ name, read: payment.field(name) }));
  const [found, other] = readings.map(({ read }) => (read.kind === "missing" ? undefined : read.found));
  const values = { found, comparedWith: operand.kind === "field" ? other : comparison.written, of: [] };
  const judged = (verdict: Verdict, why?: string): Evaluated => ({
    verdict,
    trace: { condition: comparison, answer: truthOf(verdict), why, ...values },
  });
  const why =
    readings.flatMap(({ name, read }) => (read.kind === "values" ? [] : [whyNot(name, read)])).join(", and ") ||
    undefined;
  const missing = readings.flatMap(({ read }) => (read.kind === "missing" ? [read.so] : []));
  // Where two fields are missing and the semantics say different things of them, either may follow.
  if (missing.length > 0)
    return judged(
      missing.reduce((verdict, so) => verdict | verdictOfMissing(so), 0),
      why,
    );
  const [own = [], others = []] = readings.map(({ read }) => (read.kind === "values" ? read.values : []));
  if (why !== undefined) return judged(anything, why);
  const [otherValue] = others;
  const against = otherValue === undefined ? operand : { kind: "value" as const, value: otherValue };
  const is = compare(comparison, own, against, semantics);
  return typeof is === "string" ? judged(anything, is) : judged(verdictOf(is !== isNegated));
}

/** Returns why a field of a payment cannot be compared: `amount is "x", which is no decimal`. */
function whyNot(name: string, read: FieldReading): string {
  if (read.kind === "odd") return `${name} is ${shown(read.found)}, which is no ${read.type}`;
  if (read.kind === "missing")
    return `the payment has no ${name}${read.so === "comparisonFalse" ? ", which makes the comparison false" : ""}`;
  return `${name} has no value`;
}
