import { Decider, type Decision, Payment, type Semantics } from "../../meaning/index.ts";
import { defined, type JsonObject, valueAt } from "../../sdk/json/index.ts";
import { clockOf, type SideMeaning } from "../meaning/meaning.ts";
import { amountReader, Sums } from "./sums.ts";

/** A decision as it is counted: those with one outcome by the same rules are one. */
export interface Counted {
  /** `decline`; where all rules that apply count, also `decline and review`; `unknown`. */
  readonly outcome: string;
  readonly isKnown: boolean;
  /** The rules that decide, or because of which the outcome is unknown, by their index. */
  readonly by: readonly number[];
}

/** Payments that are decided by the same rules, before and after. */
export interface Cell {
  readonly before: Counted;
  readonly after: Counted;
  payments: number;
  readonly sums: Sums;
  fraud: number;
  good: number;
  /** The outcomes that they really had, with how many; a payment that does not tell is in none. */
  readonly actual: Map<string, number>;
}

/** A payment whose outcome changes. */
export interface Example {
  /** Its number in the file, from 1. */
  readonly number: number;
  readonly before: Counted;
  readonly after: Counted;
  readonly payment: JsonObject;
}

export interface SimulationOptions {
  /** The instant by which rules are in force, where that is not the payment's own. */
  readonly at?: string | undefined;
  /** So many flips are kept with their payments. Default: 0. */
  readonly examples?: number;
}

/** More rules than this together decide a payment under their number alone, and so do more kinds of decisions. */
const mostRules = 5;
const mostDecisions = 20_000;
const mostCells = 100_000;

/** Decides payments by two sides, and counts. What it keeps does not grow with the payments. */
export class Simulation {
  readonly before: SideMeaning;
  readonly after: SideMeaning;
  readonly cells: readonly Cell[];
  readonly examples: readonly Example[];
  payments = 0;
  /** Payments without an amount and a currency, where semantics name them. */
  withoutAmount = 0;
  /** The earliest and the latest time of a payment, by RFC 3339 in UTC. */
  from: string | undefined;
  until: string | undefined;
  /** Payments without a time, where semantics name one. */
  withoutTime = 0;
  readonly #deciders: readonly [Decider, Decider];
  readonly #counters = [new Counter(), new Counter()] as const;
  readonly #cells = new Map<Counted, Map<Counted, Cell>>();
  readonly #list: Cell[] = [];
  readonly #examples: Example[] = [];
  readonly #mostExamples: number;
  readonly #amountOf: ReturnType<typeof amountReader>;
  readonly #semantics: Semantics;

  /** @throws MerchantRulesError SETTINGS_INVALID: `at` is no instant */
  constructor(before: SideMeaning, after: SideMeaning, { at, examples = 0 }: SimulationOptions = {}) {
    this.before = before;
    this.after = after;
    this.cells = this.#list;
    this.examples = this.#examples;
    this.#mostExamples = examples;
    this.#semantics = after.semantics;
    this.#amountOf = amountReader(after.semantics);
    const deciderOf = ({ rules, semantics, unlisted }: SideMeaning): Decider => {
      const clock = clockOf(semantics, at);
      const readings = rules.map(({ reading }) => reading);
      return new Decider(readings, semantics, defined({ unlisted, at: clock }));
    };
    this.#deciders = [deciderOf(before), deciderOf(after)];
  }

  add(payments: readonly JsonObject[]): void {
    for (const payment of payments) this.#add(payment);
  }

  #add(payment: JsonObject): void {
    this.payments += 1;
    const [before, after] = [
      this.#counters[0].of(this.#deciders[0].decide(payment)),
      this.#counters[1].of(this.#deciders[1].decide(payment)),
    ];
    const cell = this.#cellOf(before, after);
    cell.payments += 1;
    this.#addFacts(cell, payment);
    if (before.outcome !== after.outcome && this.#examples.length < this.#mostExamples)
      this.#examples.push({ number: this.payments, before, after, payment });
  }

  #addFacts(cell: Cell, json: JsonObject): void {
    const { amount, actual, label, time } = this.#semantics.payment;
    if (amount !== null) {
      const found = this.#amountOf(json);
      if (found === undefined) this.withoutAmount += 1;
      else cell.sums.add(found.currency, found.amount);
    }
    if (actual === null && label === null && time === null) return;
    const payment = new Payment(json, this.#semantics);
    const outcome = payment.actual();
    if (outcome !== undefined) cell.actual.set(outcome, (cell.actual.get(outcome) ?? 0) + 1);
    const word = label === null ? undefined : valueAt(json, label.at);
    const meant =
      label === null || word === undefined || typeof word === "object" ? undefined : label.words[String(word)];
    if (meant === "fraud") cell.fraud += 1;
    if (meant === "good") cell.good += 1;
    if (time !== null) this.#addTime(payment, time);
  }

  #addTime(payment: Payment, field: string): void {
    const read = payment.field(field);
    const [value] = read.kind === "values" ? read.values : [];
    if (value?.type !== "instant") {
      this.withoutTime += 1;
      return;
    }
    if (this.from === undefined || value.at < this.from) this.from = value.at;
    if (this.until === undefined || value.at > this.until) this.until = value.at;
  }

  #cellOf(before: Counted, after: Counted): Cell {
    const row = this.#cells.get(before) ?? new Map<Counted, Cell>();
    this.#cells.set(before, row);
    const known = row.get(after);
    if (known !== undefined) return known;
    if (this.#list.length >= mostCells && (before.by.length > 0 || after.by.length > 0))
      return this.#cellOf(this.#counters[0].withoutRules(before), this.#counters[1].withoutRules(after));
    const cell: Cell = { before, after, payments: 0, sums: new Sums(), fraud: 0, good: 0, actual: new Map() };
    row.set(after, cell);
    this.#list.push(cell);
    return cell;
  }
}

/** Gives the same object for decisions that count as one. */
class Counter {
  readonly #byDecision = new WeakMap<Decision, Counted>();
  readonly #byText = new Map<string, Counted>();

  of(decision: Decision): Counted {
    // Most decisions are objects that the decider gives again and again.
    const known = this.#byDecision.get(decision);
    if (known !== undefined) return known;
    const isKnown = decision.kind === "decided";
    const outcome = isKnown ? decision.outcomes.join(" and ") : "unknown";
    const by = isKnown ? decision.by : decision.because;
    const isOne = by.length <= mostRules && this.#byText.size < mostDecisions;
    const counted = this.#counted(outcome, isKnown, isOne ? by : []);
    this.#byDecision.set(decision, counted);
    return counted;
  }

  withoutRules({ outcome, isKnown }: Counted): Counted {
    return this.#counted(outcome, isKnown, []);
  }

  #counted(outcome: string, isKnown: boolean, by: readonly number[]): Counted {
    const key = JSON.stringify([outcome, isKnown, by]);
    const known = this.#byText.get(key);
    if (known !== undefined) return known;
    const made = { outcome, isKnown, by };
    this.#byText.set(key, made);
    return made;
  }
}
