import { type Command, InvalidArgumentError } from "commander";
import { projectFolder } from "../provider/settings/project-folder.ts";
import { ignoreFileName } from "../report/files/ignore-file.ts";
import { withPlaces } from "../report/files/rule-places.ts";
import { readLintIgnores } from "../report/lint/lint-ignores.ts";
import { lintReport } from "../report/lint/lint-report.ts";
import { kindsOf } from "../report/model/kinds.ts";
import type { Report } from "../report/model/report.ts";
import { MerchantRulesError } from "../sdk/errors.ts";
import { instantOf } from "../sdk/json/normal-form.ts";
import { callCode, exiting } from "./exit-code.ts";
import { codeBy, demandPayments, type FailOnOptions, withFailOn } from "./fail-on.ts";
import { type MeaningOptions, readMeaning, withMeaningOptions } from "./meaning.ts";
import { type ReportOptions, withReportOptions, writeReport } from "./report-options.ts";
import { type RulesOptions, rulePlacesOf, withRulesOption } from "./rule-folders.ts";
import { folderOf, withStackOptions } from "./stack.ts";

interface LintOptions extends MeaningOptions, ReportOptions, RulesOptions, FailOnOptions {
  readonly strict?: boolean;
  readonly endsWithin?: number;
  readonly at?: string;
  readonly ignoreFile?: string;
}

/** Defines `merchant-rules lint`: says what is proven to be wrong with rules. */
export function lintCommand(command: Command): void {
  command
    .option("--strict", "exit with 7 where there are findings, and with 1 where a rule cannot be read")
    .option("--ends-within <days>", "also find rules that end within so many days", days)
    .option(
      "--at <instant>",
      "the present, as 2026-01-31T12:00:00Z: what rules do before it does not count (default: now)",
    )
    .option(
      "--ignore-file <file>",
      `findings that are not told until a day, one a line (default: ${ignoreFileName} in the project's folder)`,
    )
    .addHelpText("after", help);
  withFailOn(withReportOptions(withRulesOption(withMeaningOptions(withStackOptions(command)))), kindsOf.lint).action(
    exiting(runLint, callCode),
  );
}

const help = `
The contract's semantics say what rules mean; merchant-rules help lint is the guide.

Exit codes: 0 told, whatever was found; 7 with --strict, where there are findings, or for what --fail-on says; 1 it cannot be
told (and why): no rule can be read, or with --strict or --fail-on one cannot; 2 called wrongly.

Example, by the rule files of a folder alone:
  npx --no-install merchant-rules lint --folder rules --strict`;

async function runLint(options: LintOptions): Promise<number> {
  demandPayments(options, false);
  const ignoring = readLintIgnores(options.ignoreFile, projectFolder(folderOf(options)));
  const now = presentBy(options.at);
  const meaning = await readMeaning(options, "lint rules", options.format === "json");
  const isStrict = options.strict === true;
  const isDemanding = isStrict || options.failOn !== undefined;
  const found = lintReport(meaning, { now, endsWithinDays: options.endsWithin, ignoring, isStrict: isDemanding });
  const report = options.folder === undefined ? await placed(found, options) : found;
  await writeReport(report, options, isDemanding);
  if (report.errors.length > 0) return 1;
  return codeBy(options, report, isStrict && report.findings.length > 0 ? 7 : 0);
}

/** Adds the files of the rules, where a folder is named. The files of --folder are known without. */
async function placed(report: Report, options: LintOptions): Promise<Report> {
  const places = await rulePlacesOf(options, options.stack);
  if (places === undefined) return report;
  return withPlaces(report, places);
}

/** Returns the instant that counts as the present. @throws MerchantRulesError SETTINGS_INVALID: it is no instant */
function presentBy(at: string | undefined): string {
  if (at === undefined) return new Date().toISOString();
  const value = instantOf(at);
  if (value !== undefined) return value;
  throw new MerchantRulesError("SETTINGS_INVALID", `${at} is no instant`, {
    attempted: "lint rules",
    advice: "write it by RFC 3339, such as 2026-01-31T12:00:00Z",
  });
}

function days(text: string): number {
  const value = Number(text);
  if (/^\d{1,5}$/.test(text)) return value;
  throw new InvalidArgumentError("It must be a number of days, such as 30.");
}
