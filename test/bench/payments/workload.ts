import type { SemanticsInput } from "../../../meaning/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";

/** A condition of the workload, by the words of {@link semantics}. */
export interface WorkloadCondition {
  readonly field: string;
  readonly operator: "over" | "under" | "atLeast" | "atMost" | "within" | "is" | "oneOf" | "begins" | "ends" | "has";
  readonly value: number | string | readonly number[] | readonly string[];
}

/** A rule of the workload: it applies where all its conditions hold, and the first that applies decides. */
export interface WorkloadRule {
  readonly name: string;
  readonly priority: number;
  readonly conditions: readonly WorkloadCondition[];
  readonly action: "allow" | "block" | "check";
}

/** What the rules of the workload mean. Every payment has every field. */
export const semantics: SemanticsInput = {
  version: 1,
  applies: {
    at: "/conditions",
    list: "all",
    without: "always",
    conditions: [{ field: "/field", operator: { at: "/operator" }, value: "/value" }],
    operators: {
      ...{ over: "gt", under: "lt", atLeast: "gte", atMost: "lte", within: { is: "between", ends: "both" } },
      ...{ is: "eq", oneOf: "in", begins: "startsWith", ends: "endsWith", has: "contains" },
    },
  },
  ignored: ["/name"],
  outcome: { at: "/action", words: { allow: "accept", block: "decline", check: "review" } },
  wins: { by: "order", order: { at: "/priority", first: "lowest" }, none: "accept" },
  payment: {
    fields: {
      amount: { at: "/amount", type: "decimal" },
      currency: { at: "/currency", type: "text", ignoresCase: false },
      country: { at: "/card/country", type: "text", ignoresCase: false },
      bin: { at: "/card/bin", type: "text", ignoresCase: false },
      email: { at: "/email", type: "text", ignoresCase: false },
      riskScore: { at: "/riskScore", type: "decimal" },
      distanceKm: { at: "/distanceKm", type: "decimal" },
      attempts: { at: "/attempts", type: "decimal" },
      accountAgeDays: { at: "/accountAgeDays", type: "decimal" },
    },
    amount: { field: "amount", currency: "currency", unit: "major" },
  },
};

/** The JSON Pointer of each field, by its name. */
export const pointers: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(semantics.payment.fields).map(([name, { at }]) => [name, at]),
);

/** Numbers from 0 to below 1, the same in each run. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** The generator of Park and Miller. */
  next(): number {
    this.#state = (this.#state * 48_271) % 2_147_483_647;
    return (this.#state - 1) / 2_147_483_646;
  }

  /** A whole number below a bound. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }
}

/** Payment number k as a line of JSON, of about 267 bytes. */
export function paymentLine(k: number, random: Random): string {
  const payment = {
    id: `payment_${String(k).padStart(12, "0")}`,
    amount: scaled(random.next() ** 2, "amount"),
    currency: random.next() < 0.7 ? "EUR" : "USD",
    card: { country: countryOf(random.below(countries)), bin: String(400_000 + random.below(100_000)) },
    email: emailOf(random),
    riskScore: scaled(random.next(), "riskScore"),
    distanceKm: scaled(random.next(), "distanceKm"),
    attempts: scaled(random.next(), "attempts"),
    accountAgeDays: scaled(random.next(), "accountAgeDays"),
    device: `d${k % 10}`,
    madeAt: new Date(1_790_000_000_000 + k * 100).toISOString(),
  };
  return JSON.stringify(payment);
}

/** The largest value of each number, and how many digits it has behind the point. */
const numbers = {
  amount: { most: 5000, digits: 2 },
  riskScore: { most: 100, digits: 3 },
  distanceKm: { most: 15_000, digits: 1 },
  attempts: { most: 1000, digits: 0 },
  accountAgeDays: { most: 4000, digits: 0 },
} as const;

type NumberName = keyof typeof numbers;

const numberNames = Object.keys(numbers) as NumberName[];
const countries = 200;

function scaled(share: number, name: NumberName): number {
  const { most, digits } = numbers[name];
  return Number((share * most).toFixed(digits));
}

function countryOf(number: number): string {
  return String.fromCharCode(65 + (number % 26), 65 + Math.floor(number / 26));
}

const syllables = ["an", "be", "co", "du", "el", "fi", "go", "hu", "il", "jo", "ka", "le", "mi", "no", "ol", "pe"];

function emailOf(random: Random): string {
  const name = Array.from({ length: 5 }, () => syllables[random.below(syllables.length)]).join("");
  return `${name}.${random.below(1000)}@mail${random.below(500)}.example`;
}

/**
 * Rules of three conditions, a quarter of which are of texts; the rest are of numbers. However many there are, some six payments of
 * ten reach no rule, so that all rules are held against them.
 */
export function workloadRules(count: number): WorkloadRule[] {
  const random = new Random(count);
  return Array.from({ length: count }, (_, k) => {
    const text = k % 4 === 3 ? undefined : textCondition(random);
    const names = shuffled(numberNames, random).slice(0, text === undefined ? 3 : 2);
    // What the texts leave of the share of payments to which the rule applies is divided among the numbers.
    const share = Math.min(0.5, 1 / (2 * count) / (text?.share ?? 1));
    const weights = names.map(() => 0.5 + random.next());
    const all = weights.reduce((sum, weight) => sum + weight, 0);
    const ofNumbers = names.map((name, index) => numberCondition(name, share ** ((weights[index] ?? 1) / all), random));
    return {
      name: `rule-${k}`,
      priority: k + 1,
      conditions: shuffled([...(text === undefined ? [] : [text.condition]), ...ofNumbers], random),
      action: (["block", "check", "allow"] as const)[k % 3] ?? "check",
    };
  });
}

/** A condition that holds of about such a share of payments. */
function numberCondition(name: NumberName, share: number, random: Random): WorkloadCondition {
  const place = (part: number): number => scaled(name === "amount" ? part ** 2 : part, name);
  switch (random.below(5)) {
    case 0:
      return { field: name, operator: "under", value: place(share) };
    case 1:
      return { field: name, operator: "atMost", value: place(share) };
    case 2:
      return { field: name, operator: "over", value: place(1 - share) };
    case 3:
      return { field: name, operator: "atLeast", value: place(1 - share) };
    default: {
      const from = random.next() * (1 - share);
      return { field: name, operator: "within", value: [place(from), place(from + share)] };
    }
  }
}

function textCondition(random: Random): { readonly condition: WorkloadCondition; readonly share: number } {
  switch (random.below(5)) {
    case 0:
      return {
        condition: { field: "country", operator: "is", value: countryOf(random.below(countries)) },
        share: 1 / countries,
      };
    case 1: {
      const first = random.below(countries - 20);
      const value = Array.from({ length: 20 }, (_, k) => countryOf(first + k));
      return { condition: { field: "country", operator: "oneOf", value }, share: 20 / countries };
    }
    case 2:
      return { condition: { field: "bin", operator: "begins", value: String(40 + random.below(10)) }, share: 0.1 };
    case 3:
      return { condition: { field: "email", operator: "ends", value: `${random.below(10)}.example` }, share: 0.1 };
    default: {
      const pair = [0, 1].map(() => syllables[random.below(syllables.length)]).join("");
      return { condition: { field: "email", operator: "has", value: pair }, share: 4 / syllables.length ** 2 };
    }
  }
}

function shuffled<Value>(values: readonly Value[], random: Random): Value[] {
  return values
    .map((value) => ({ value, at: random.next() }))
    .sort((one, other) => one.at - other.at)
    .map(({ value }) => value);
}

/** A rule as the service keeps it. */
export function definitionOf({ name, priority, conditions, action }: WorkloadRule): JsonObject {
  return {
    name,
    priority,
    action,
    conditions: conditions.map((condition) => ({ ...condition, value: written(condition.value) })),
  };
}

function written(value: WorkloadCondition["value"]): JsonObject[string] {
  return typeof value === "object" ? [...value] : value;
}
