import type { Command } from "commander";
import { compareSides } from "../report/diff/compare.ts";
import { kindsOf } from "../report/model/kinds.ts";
import { sideOf } from "./diff/side.ts";
import { exiting } from "./exit-code.ts";
import { codeBy, demandPayments, type FailOnOptions, withFailOn } from "./fail-on.ts";
import { GivenCredentials } from "./given-credentials.ts";
import { withProgress } from "./progress.ts";
import { type ReportOptions, withReportOptions, writeReport } from "./report-options.ts";
import { type StackOptions, withStackOptions } from "./stack.ts";

interface DiffOptions extends StackOptions, ReportOptions, FailOnOptions {
  readonly from?: string;
  readonly to?: string;
}

/** Defines `merchant-rules diff --from sandbox --to production`: compares the live rules of two environments, by natural key. */
export function diffCommand(command: Command): void {
  command
    .option("--from <name>", "a stack of the project (Pulumi.<name>.yaml), else a connection of --stack")
    .option("--to <name>", "the other one; stack:<name> and connection:<name> say which is meant");
  withFailOn(withReportOptions(withStackOptions(command)), kindsOf.diff)
    .addHelpText("after", help)
    .action(
      exiting(async ({ from, to, ...options }: DiffOptions) => {
        // Not required ones: commander looks for these before it looks for misspelt ones.
        if (from === undefined) command.error("error: required option '--from <name>' not specified");
        if (to === undefined) command.error("error: required option '--to <name>' not specified");
        return await diff(from, to, options);
      }),
    );
}

const help = `
Exit codes: 0 the same rules; 7 different ones; 1 failed; 2 called wrongly.

Example, of a project with Pulumi.sandbox.yaml and Pulumi.production.yaml:
  npx --no-install merchant-rules diff --from sandbox --to production`;

async function diff(fromName: string, toName: string, options: Omit<DiffOptions, "from" | "to">): Promise<number> {
  demandPayments(options, false);
  const given = new GivenCredentials();
  const from = await sideOf(fromName, options, given);
  const to = await sideOf(toName, options, given);
  const report = await withProgress(`reading the rules of ${from.name} and ${to.name}`, () => compareSides(from, to), {
    quiet: options.format === "json",
  });
  await writeReport(report, options, true);
  return codeBy(options, report, report.findings.length === 0 ? 0 : 7);
}
