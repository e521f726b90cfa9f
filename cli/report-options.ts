import { writeFileSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type Format, formats, leastOfComment, mostOfComment } from "../report/formats.ts";
import type { Report } from "../report/report.ts";
import { MerchantRulesError } from "../sdk/errors.ts";
import { reasonOf } from "../sdk/rules/json.ts";
import { hasColor } from "./terminal.ts";

/** The form and the place of a report. */
export interface ReportOptions {
  readonly format?: Format;
  readonly output?: string;
  /** `true`: cut to what GitHub takes. */
  readonly comment?: number | true;
}

/** Adds the options of a command that ends with a report. */
export function withReportOptions(command: Command): Command {
  return command
    .addOption(new Option("--format <format>", "the form of the report").choices(formats).default("text"))
    .addOption(new Option("--json", "the same as --format json").implies({ format: "json" }).conflicts("comment"))
    .option("--output <file>", "write the report to a file instead of standard output")
    .addOption(
      new Option(
        "--comment [limit]",
        `Markdown for a comment in a pull request, cut to so many characters (default: ${mostOfComment}, as GitHub; GitLab takes 1000000)`,
      )
        .argParser(limitOf)
        .implies({ format: "markdown" }),
    )
    .hook("preAction", (called) => {
      // Not said by conflicts(), which takes the format that --json implies for one that was given.
      const { json, format } = called.opts<ReportOptions & { readonly json?: boolean }>();
      if (json === true && format !== "json")
        called.error("error: option '--json' cannot be used with another --format");
    });
}

/**
 * Writes a report to standard output, or to the file that the user named.
 * @throws MerchantRulesError SETTINGS_INVALID: the file cannot be written
 */
export async function writeReport(report: Report, { format = "text", output, comment }: ReportOptions): Promise<void> {
  const { render, verdictOf } = await import("../report/index.ts");
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
