import { Command } from "commander";
import { UsageError } from "../contract-tools/usage-error.ts";
import { callCode, exiting } from "./exit-code.ts";
import { inputOf } from "./input.ts";
import { type MeaningOptions, readMeaning, withMeaningOptions } from "./meaning.ts";
import { type ReportOptions, withReportOptions, writeReport } from "./report-options.ts";
import { sourceOf, withStackOptions } from "./stack.ts";

interface ExplainOptions extends MeaningOptions, ReportOptions {
  readonly at?: string;
}

/** `merchant-rules explain payment.json`: what the rules decide of one payment, and why. Exit codes: 0 told, 1 failed, 2 called wrongly. */
export function explainCommand(): Command {
  const command = new Command("explain")
    .description("Say what the rules decide of one payment, and why: every rule, in the order in which it is asked")
    .argument("<payment>", "a file with one payment as JSON; - is standard input")
    .option(
      "--at <instant>",
      "the time by which rules are in force, as 2026-01-31T12:00:00Z (default: as the semantics say)",
    )
    .addHelpText("after", help)
    .exitOverride();
  return withReportOptions(withMeaningOptions(withStackOptions(command))).action(exiting(explain, callCode));
}

const help = `
The contract's semantics say what rules mean; merchant-rules help simulation is the guide.

Exit codes: 0 told, also where the outcome is unknown; 1 failed (and why); 2 called wrongly.

Example, by the rule files of a folder alone:
  npx --no-install merchant-rules explain payment.json --folder rules`;

async function explain(file: string, options: ExplainOptions): Promise<number> {
  const { parsePayment } = await import("../meaning/index.ts");
  const { explanationOf } = await import("../report/meaning/explain.ts");
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
