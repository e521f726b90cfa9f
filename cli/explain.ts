import type { Command } from "commander";
import { UsageError } from "../contract-tools/usage-error.ts";
import { parsePayment } from "../meaning/index.ts";
import { explanationOf } from "../report/meaning/explain.ts";
import { callCode, exiting } from "./exit-code.ts";
import { inputOf } from "./input.ts";
import { type MeaningOptions, readMeaning, withMeaningOptions } from "./meaning.ts";
import { type ReportOptions, withReportOptions, writeReport } from "./report-options.ts";
import { sourceOf, withStackOptions } from "./stack.ts";

interface ExplainOptions extends MeaningOptions, ReportOptions {
  readonly at?: string;
}

/** Defines `merchant-rules explain payment.json`: says what the rules decide of one payment, and why. */
export function explainCommand(command: Command): void {
  command
    .argument("<payment>", "a file with one payment as JSON; - is standard input")
    .option(
      "--at <instant>",
      "the time by which rules are in force, as 2026-01-31T12:00:00Z (default: as the semantics say)",
    )
    .addHelpText("after", help);
  withReportOptions(withMeaningOptions(withStackOptions(command))).action(exiting(explain, callCode));
}

const help = `
The contract's semantics say what rules mean; merchant-rules help simulation is the guide.

Exit codes: 0 told, also where the outcome is unknown; 1 failed (and why); 2 called wrongly.

Example, by the rule files of a folder alone:
  npx --no-install merchant-rules explain payment.json --folder rules`;

async function explain(file: string, options: ExplainOptions): Promise<number> {
  const attempted = "explain a payment";
  if (file === "-" && options.preview === "-")
    throw new UsageError("standard input is one thing: name a file for the payment, or for --preview");
  const text = await inputOf(file, "read payment", "name a file with one payment as JSON, or - for standard input");
  const payment = parsePayment(text, sourceOf(file));
  const meaning = await readMeaning(options, attempted, options.format === "json");
  const { at } = options;
  await writeReport(explanationOf(payment, meaning, { payment: sourceOf(file), at }), options, false);
  return 0;
}
