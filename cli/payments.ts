import { statSync } from "node:fs";
import { PaymentsFile } from "../meaning/payments/read-payments.ts";
import type { Format } from "../report/formats/formats.ts";
import type { Report } from "../report/model/report.ts";
import type { Preview } from "../report/plan/preview.ts";
import { withPayments } from "../report/simulation/plan-with-payments.ts";
import { columnsFor, type SimulateOptions as Simulated } from "../report/simulation/simulate-report.ts";
import { Simulation } from "../report/simulation/simulation.ts";
import type { Invocation } from "./invocation.ts";
import { type MeaningOptions, type Meanings, readMeanings } from "./meaning.ts";
import type { PaymentsOptions } from "./payments-options.ts";
import { withProgress } from "./progress.ts";
import { keepHeapSmall } from "./small-heap.ts";
import { sourceOf } from "./stack.ts";

/** Adds to a plan what it changes for the payments of a file. */
export async function planWithPayments(
  plan: Report,
  preview: Preview,
  invocation: Invocation,
  options: MeaningOptions & PaymentsOptions & { readonly payments: string; readonly format?: Format },
): Promise<Report> {
  const quiet = options.format === "json";
  const meanings = await readMeanings(invocation, options, "plan with payments", preview);
  const { simulation, simulated } = await simulatePayments(options.payments, meanings, options, { quiet });
  return withPayments(plan, simulation, simulated);
}

/**
 * Reads a file of payments, and decides each by both sides.
 * @throws MerchantRulesError PAYMENTS_INVALID; SETTINGS_INVALID: `at` is no instant
 */
export async function simulatePayments(
  file: string,
  { before, after }: Meanings,
  { strict = false, at }: PaymentsOptions,
  { quiet, examples = 0 }: { readonly quiet: boolean; readonly examples?: number },
): Promise<{ readonly simulation: Simulation; readonly simulated: Simulated }> {
  const simulation = new Simulation(before, after, { at, examples });
  keepHeapSmall("deciding");
  const size = file === "-" ? undefined : statSync(file, { throwIfNoEntry: false })?.size;
  const read = await withProgress(
    "deciding payments (bytes)",
    async (step) => {
      const payments = new PaymentsFile(file, {
        columns: columnsFor(before, after),
        strict,
        onProgress: (bytes) => step(bytes, size),
      });
      for await (const batch of payments.batches()) simulation.add(batch);
      return payments.read;
    },
    { quiet },
  );
  return { simulation, simulated: { payments: sourceOf(file), read, at } };
}
