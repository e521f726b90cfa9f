import { statSync } from "node:fs";
import { Command, Option } from "commander";
import { UsageError } from "../contract-tools/usage-error.ts";
import type { SimulateOptions as Simulated } from "../report/simulation/simulate-report.ts";
import type { Simulation } from "../report/simulation/simulation.ts";
import { callCode, exiting } from "./exit-code.ts";
import { type MeaningOptions, type Meanings, readMeanings, withConnectionOptions } from "./meaning.ts";
import { withProgress } from "./progress.ts";
import { type ReportOptions, withReportOptions, writeReport } from "./report-options.ts";
import { checkSqlOptions, type SqlOptions, writeSql } from "./simulate-sql.ts";
import { keepHeapSmall } from "./small-heap.ts";
import { sourceOf, withStackOptions } from "./stack.ts";

/** The payments, and how they are read. */
export interface PaymentsOptions {
  readonly payments?: string;
  readonly strict?: boolean;
  readonly at?: string;
}

interface SimulateOptions extends Omit<MeaningOptions, "side" | "folder">, ReportOptions, PaymentsOptions, SqlOptions {
  readonly showValues?: boolean;
}

/**
 * `merchant-rules simulate --payments payments.csv`: what a run changes for payments. Exit codes: 0 told, 1 failed, 2 called
 * wrongly.
 */
export function simulateCommand(): Command {
  const command = withPaymentsOptions(new Command("simulate")).description(
    "Say which payments a run would decide otherwise: what is live against what will be; nothing is written",
  );
  return withReportOptions(withConnectionOptions(withStackOptions(command)))
    .option("--show-values", "show the first payments whose outcome changes, with their values; on the screen alone")
    .addOption(
      new Option(
        "--sql <engine>",
        "write SQL that decides a whole table of payments, instead of a report; no payment is read here",
      ).choices(["duckdb", "spark"]),
    )
    .option("--table <name>", "with --sql: the table of payments (default: the file of --payments)")
    .option(
      "--columns <file>",
      "with --table: which columns the fields are (default: columns that are called as the semantics call the fields)",
    )
    .addHelpText("after", help)
    .exitOverride()
    .action(exiting((options: SimulateOptions) => simulate(options, command), callCode));
}

/** Adds the options of a command that decides a file of payments. */
export function withPaymentsOptions(command: Command): Command {
  return command
    .option(
      "--payments <file>",
      "payments, one a line as JSON (NDJSON), or CSV with a header; either also packed by gzip; - is standard input",
    )
    .option("--strict", "fail at the first line that holds no payment (default: such lines are counted)")
    .addOption(
      new Option(
        "--at <instant>",
        "the time by which rules are in force, as 2026-01-31T12:00:00Z (default: as the semantics say)",
      ),
    );
}

const help = `
The contract's semantics say what rules mean; merchant-rules help simulation is the guide. Reports hold counts and sums, and no value of
a payment.

Exit codes: 0 told, whatever changes; 1 failed (and why); 2 called wrongly.

Example, by a file of last month's payments:
  npx --no-install merchant-rules simulate --payments payments.csv.gz

Example, SQL for a table in a warehouse:
  npx --no-install merchant-rules simulate --sql spark --table lake.payments --columns columns.yaml --output decisions.sql`;

/** So many payments are shown with --show-values. */
const mostExamples = 10;

async function simulate(options: SimulateOptions, command: Command): Promise<number> {
  checkSqlOptions(options);
  if (options.sql !== undefined) {
    await writeSql(await readMeanings(options, "simulate payments", options.output === undefined), options);
    return 0;
  }
  // Not a required option: commander looks for these before it looks for misspelt ones.
  if (options.payments === undefined) command.error("error: required option '--payments <file>' not specified");
  const { showValues = false, format = "text", output } = options;
  if (showValues && (format !== "text" || output !== undefined))
    throw new UsageError(
      "--show-values shows values of real payments, on the screen alone: leave out --format, --comment and --output",
    );
  if (options.payments === "-" && options.preview === "-")
    throw new UsageError("--payments and --preview cannot both be standard input: name a file for one of them");
  keepHeapSmall("reading");
  const { simulateReport } = await import("../report/simulation/simulate-report.ts");
  const quiet = format === "json";
  const meanings = await readMeanings(options, "simulate payments", quiet);
  const examples = showValues ? mostExamples : 0;
  const { simulation, simulated } = await simulatePayments(options.payments, meanings, options, { quiet, examples });
  await writeReport(simulateReport(simulation, simulated), options, false);
  return 0;
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
  const { PaymentsFile } = await import("../meaning/payments/read-payments.ts");
  const { Simulation } = await import("../report/simulation/simulation.ts");
  const { columnsFor } = await import("../report/simulation/simulate-report.ts");
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
