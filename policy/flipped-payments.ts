import { z } from "zod";
import { Decider, type Decision, fieldsIn, type Semantics } from "../meaning/index.ts";
import { PaymentsFile } from "../meaning/payments/read-payments.ts";
import { allowancesOption } from "./base/allowances.ts";
import { baselinePath } from "./base/baseline.ts";
import { callersFile } from "./base/callers-file.ts";
import { startOfRun } from "./base/clock.ts";
import { percent } from "./base/configuration.ts";
import { withPlainStack } from "./base/plain-error.ts";
import { type PolicyFinding, stackPolicy } from "./base/rule-policy.ts";
import { semanticsOption } from "./base/semantics-file.ts";
import { sidesByMeaning, whyNoSides } from "./base/sides-by-meaning.ts";
import type { PolicySide, TwoSides } from "./base/two-sides.ts";

/**
 * A run does not give another outcome to more than a share of the payments of a sample. Each is decided by what is deployed, which
 * stands in a baseline, and by what the program declares. Messages have counts, and no part of a payment.
 */
export const flippedPayments = flippedPaymentsAt(startOfRun);

/** Returns the policy by a clock, which says which rules are in force (where the semantics use the present), and which allowances have ended. */
export function flippedPaymentsAt(now: () => Date) {
  return stackPolicy({
    name: "flipped-payments",
    description:
      "A run gives another outcome to no more than a share of the payments of a sample; rules that the stack does not declare take no part.",
    config: {
      baseline: baselinePath,
      semantics: semanticsOption,
      file: z
        .string()
        .min(1)
        .nullable()
        .default(null)
        .describe("The sample: payments as `merchant-rules simulate` takes them, in NDJSON or CSV, packed or not"),
      maximumShare: z.number().min(0).max(1).default(0.01).describe("Which share of them may have another outcome"),
      allowed: allowancesOption,
    },
    idle: ({ file, ...config }) =>
      file === null && config.allowed !== true ? "no sample of payments is configured" : whyNoSides(config),
    async *check(rules, config, _, secret): AsyncGenerator<PolicyFinding, void, undefined> {
      const { file, maximumShare } = config;
      const compared = file === null ? undefined : sidesByMeaning(rules, config, { now: now(), secret });
      if (file === null || compared === undefined) return;
      if ("finding" in compared) {
        yield compared.finding;
        return;
      }
      const { meaning } = compared;
      const sample = new Sample(callersFile(file), meaning.semantics, now());
      const all = compared.sides.filter(isChanged);
      for (const [{ connection }, { payments, flipped, unknown }] of await sample.counts(all)) {
        const over = connection === "default" ? "" : ` over connection ${connection}`;
        const open = unknown === 0 ? "" : `, and of ${unknown} more it is not known`;
        // An unknown outcome may be another one.
        if ((flipped + unknown) / payments > maximumShare)
          yield {
            rule: "the stack",
            pointer: "",
            found: `${flipped} of ${payments} payments of ${file} with another outcome${over}${open}`,
            allowed: `at most ${percent(maximumShare)}, or the rules that change in allowed`,
          };
      }
    },
  });
}

/** Returns whether the rules of two sides differ: sides with the same rules decide alike. */
function isChanged({ before, after }: TwoSides): boolean {
  const [was, is] = [before, after].map(({ texts }) => [...texts].sort().join("\n"));
  return was !== is;
}

interface Counts {
  payments: number;
  flipped: number;
  /** Payments whose outcome is not known on one of the sides, and not the same on both. */
  unknown: number;
}

/** A file of payments, which is read once for all connections. */
class Sample {
  readonly #file: string;
  readonly #semantics: Semantics;
  readonly #at: string | undefined;

  constructor(file: string, semantics: Semantics, now: Date) {
    this.#file = file;
    this.#semantics = semantics;
    this.#at = semantics.force.clock === "now" ? now.toISOString() : undefined;
  }

  /** Counts the payments by their change. @throws MerchantRulesError PAYMENTS_INVALID: the file cannot be read, or holds no payment */
  async counts(all: readonly TwoSides[]): Promise<Map<TwoSides, Counts>> {
    const counted = new Map(all.map((sides) => [sides, { payments: 0, flipped: 0, unknown: 0 }]));
    const deciders = all.map((sides) => ({
      sides,
      counts: counted.get(sides),
      before: this.#decider(sides.before),
      after: this.#decider(sides.after),
    }));
    if (all.length === 0) return counted;
    const needed = fieldsIn(all.flatMap(({ before, after }) => [...before.rules, ...after.rules]));
    const columns = Object.entries(this.#semantics.payment.fields).map(([name, { at, type, list }]) => ({
      name,
      at,
      type,
      list,
      isNeeded: needed.has(name),
    }));
    try {
      for await (const batch of new PaymentsFile(this.#file, { columns }).batches())
        for (const payment of batch)
          for (const { sides, counts, before, after } of deciders) {
            if (counts === undefined) continue;
            counts.payments += 1;
            const change = changeOf(sides, before.decide(payment), after.decide(payment));
            if (change !== undefined) counts[change] += 1;
          }
    } catch (error) {
      throw withPlainStack(error);
    }
    return counted;
  }

  #decider({ rules, unlisted }: PolicySide): Decider {
    return new Decider(rules, this.#semantics, { unlisted, at: this.#at });
  }
}

function changeOf(sides: TwoSides, before: Decision, after: Decision): "flipped" | "unknown" | undefined {
  if (before.kind === "decided" && after.kind === "decided")
    return before.outcomes.join() === after.outcomes.join() ? undefined : "flipped";
  if (before.kind === "decided" || after.kind === "decided") return "unknown";
  // The same outcomes because of the same rules are no change.
  const [was, is] = [causesOf(before, sides.before), causesOf(after, sides.after)];
  return was === is ? undefined : "unknown";
}

function causesOf({ possible = [], because }: Extract<Decision, { kind: "unknown" }>, { texts }: PolicySide): string {
  return JSON.stringify([possible, because.map((index) => texts[index]).sort()]);
}
