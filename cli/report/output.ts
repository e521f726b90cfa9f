import { writeFileSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { reasonOf } from "../../sdk/rules/json.ts";
import { hasColor } from "../terminal.ts";
import type { Format, Report } from "./index.ts";

/** How a command gives its report. */
export interface ReportOptions {
  readonly format?: Format;
  readonly output?: string;
  /** `true`: cut to what GitHub takes. */
  readonly comment?: number | true;
}

/** The most characters that a comment on GitHub has; GitLab takes 1,000,000. */
const mostOfComment = 65_536;
/** Less leaves no room for a heading and a few rules. */
const leastOfComment = 2_000;

/** Adds the options of a command that ends with a report. */
export function withReportOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--format <format>", "the form of the report")
        .choices(["text", "json", "markdown", "html", "junit"])
        .default("text"),
    )
    .option("--output <file>", "write the report to a file instead of standard output")
    .addOption(
      new Option(
        "--comment [limit]",
        `Markdown for a comment in a pull request, cut to so many characters (default: ${mostOfComment}, as GitHub; GitLab takes 1000000)`,
      )
        .argParser(limitOf)
        .implies({ format: "markdown" }),
    );
}

/**
 * Writes a report to standard output, or to the file that the user named.
 * @throws MerchantRulesError SETTINGS_INVALID: the file cannot be written
 */
export async function writeReport(report: Report, { format = "text", output, comment }: ReportOptions): Promise<void> {
  const { render, verdictOf } = await import("./index.ts");
  const limit = comment === true ? mostOfComment : comment;
  const color = output === undefined && hasColor(process.stdout);
  const page = render(report, format, { color, limit });
  if (output === undefined) {
    process.stdout.write(page);
    return;
  }
  try {
    writeFileSync(output, page);
  } catch (error) {
    throw new MerchantRulesError("SETTINGS_INVALID", reasonOf(error), {
      attempted: `write the report to ${output}`,
      advice: "name a file in a folder that exists and may be written to, with --output",
    });
  }
  console.error(`${verdictOf(report)} (written to ${output})`);
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= leastOfComment) return limit;
  throw new InvalidArgumentError(`It must be a whole number of at least ${leastOfComment}.`);
}
