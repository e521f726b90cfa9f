import { z } from "zod";
import { Decider, type Decision, fieldsIn, type Semantics } from "../meaning/index.ts";
import { PaymentsFile } from "../meaning/payments/read-payments.ts";
import { allowancesOption } from "./base/allowances.ts";
import { baselinePath } from "./base/baseline.ts";
import { optionalPath, percent } from "./base/configuration.ts";
import { callersFile, startOfRun, withPlainStack } from "./base/host.ts";
import { ofStack, type PolicyFinding, stackPolicy } from "./base/rule-policy.ts";
import { semanticsOption } from "./base/semantics-file.ts";
import { type PolicySide, sidesByMeaning, type TwoSides, whyNoSides } from "./base/two-sides.ts";

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
      file: optionalPath.describe(
        "The sample: payments as `merchant-rules simulate` takes them, in NDJSON or CSV, packed or not",
      ),
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
      const changed = compared.sides.filter(isChanged);
      const counted = await countsOf(callersFile(file), changed, compared.meaning.semantics, now());
      for (const [{ connection }, { payments, flipped, unknown }] of counted) {
        const over = connection === "default" ? "" : ` over connection ${connection}`;
        const open = unknown === 0 ? "" : `, and of ${unknown} more it is not known`;
        // An unknown outcome may be another one.
        if ((flipped + unknown) / payments > maximumShare)
          yield ofStack(
            `${flipped} of ${payments} payments of ${file} with another outcome${over}${open}`,
            `at most ${percent(maximumShare)}, or the rules that change in allowed`,
          );
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

/**
 * Counts the payments of a file by their change. It is read once for all connections.
 * @throws MerchantRulesError PAYMENTS_INVALID: the file cannot be read, or holds no payment
 */
async function countsOf(
  file: string,
  all: readonly TwoSides[],
  semantics: Semantics,
  now: Date,
): Promise<readonly (readonly [TwoSides, Counts])[]> {
  const at = semantics.force.clock === "now" ? now.toISOString() : undefined;
  const deciderOf = ({ rules, unlisted }: PolicySide): Decider => new Decider(rules, semantics, { unlisted, at });
  const compared = all.map((sides) => ({
    sides,
    counts: { payments: 0, flipped: 0, unknown: 0 },
    before: deciderOf(sides.before),
    after: deciderOf(sides.after),
  }));
  if (all.length === 0) return [];
  const needed = fieldsIn(all.flatMap(({ before, after }) => [...before.rules, ...after.rules]));
  const columns = Object.entries(semantics.payment.fields).map(([name, field]) => ({
    ...field,
    name,
    isNeeded: needed.has(name),
  }));
  try {
    for await (const batch of new PaymentsFile(file, { columns }).batches())
      for (const payment of batch)
        for (const { sides, counts, before, after } of compared) {
          counts.payments += 1;
          const change = changeOf(sides, before.decide(payment), after.decide(payment));
          if (change !== undefined) counts[change] += 1;
        }
  } catch (error) {
    throw withPlainStack(error);
  }
  return compared.map(({ sides, counts }) => [sides, counts]);
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
