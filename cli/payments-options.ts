import { type Command, Option } from "commander";

/** The payments, and how they are read. */
export interface PaymentsOptions {
  readonly payments?: string;
  readonly strict?: boolean;
  readonly at?: string;
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
