import { type Command, Option } from "commander";
import { UsageError } from "../contract-tools/usage-error.ts";
import { kindsOf } from "../report/model/kinds.ts";
import { simulateReport } from "../report/simulation/simulate-report.ts";
import { callCode, exiting } from "./exit-code.ts";
import { codeBy, demandPayments, type FailOnOptions, withFailOn } from "./fail-on.ts";
import { Invocation } from "./invocation.ts";
import { type MeaningOptions, readMeanings, withConnectionOptions } from "./meaning.ts";
import { simulatePayments } from "./payments.ts";
import { type PaymentsOptions, withPaymentsOptions } from "./payments-options.ts";
import { type ReportOptions, withReportOptions, writeReport } from "./report-options.ts";
import { checkSqlOptions, type SqlOptions, writeSql } from "./simulate-sql.ts";
import { keepHeapSmall } from "./small-heap.ts";
import { withStackOptions } from "./stack.ts";

interface SimulateOptions
  extends Omit<MeaningOptions, "side" | "folder">,
    ReportOptions,
    PaymentsOptions,
    SqlOptions,
    FailOnOptions {
  readonly showValues?: boolean;
}

/** Defines `merchant-rules simulate --payments payments.csv`: says what a run changes for payments. */
export function simulateCommand(command: Command): void {
  withFailOn(withReportOptions(withConnectionOptions(withStackOptions(withPaymentsOptions(command)))), kindsOf.simulate)
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
    .action(exiting((options: SimulateOptions) => simulate(options, command), callCode));
}

const help = `
The contract's semantics say what rules mean; merchant-rules help simulation is the guide. Reports hold counts and sums, and no value of
a payment.

Exit codes: 0 told, whatever changes; 7 for what --fail-on says; 1 failed (and why); 2 called wrongly.

Example, by a file of last month's payments:
  npx --no-install merchant-rules simulate --payments payments.csv.gz

Example, SQL for a table in a warehouse:
  npx --no-install merchant-rules simulate --sql spark --table lake.payments --columns columns.yaml --output decisions.sql`;

/** So many payments are shown with --show-values. */
const mostExamples = 10;

async function simulate(options: SimulateOptions, command: Command): Promise<number> {
  checkSqlOptions(options);
  demandPayments(options, options.sql === undefined);
  if (options.sql !== undefined) {
    const invocation = new Invocation(options, options.output === undefined);
    await writeSql(await readMeanings(invocation, options, "simulate payments"), options);
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
  const quiet = format === "json";
  const meanings = await readMeanings(new Invocation(options, quiet), options, "simulate payments");
  const examples = showValues ? mostExamples : 0;
  const { simulation, simulated } = await simulatePayments(options.payments, meanings, options, { quiet, examples });
  const report = simulateReport(simulation, simulated);
  await writeReport(report, options, options.failOn !== undefined);
  return codeBy(options, report, 0);
}
