import { writeFileSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type Format, formats, leastOfComment, mostOfComment } from "../report/formats/formats.ts";
import { githubAnnotations, render, verdictOf } from "../report/index.ts";
import type { Report } from "../report/model/report.ts";
import { MerchantRulesError } from "../sdk/errors.ts";
import { reasonOf } from "../sdk/json/json.ts";
import { hasColor } from "./terminal.ts";

/** The form and the place of a report. */
export interface ReportOptions {
  readonly format?: Format;
  readonly output?: string;
  /** `true`: cut to what GitHub takes. */
  readonly comment?: number | true;
  readonly annotations?: "github";
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
    .addOption(
      new Option("--annotations <kind>", "mark the findings at the files' lines, too, on standard error").choices([
        "github",
      ]),
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
 * @param areFailures whether its findings fail the command
 * @throws MerchantRulesError SETTINGS_INVALID: the file cannot be written
 */
export async function writeReport(
  report: Report,
  { format = "text", output, comment, annotations }: ReportOptions,
  areFailures: boolean,
): Promise<void> {
  if (annotations !== undefined)
    for (const line of githubAnnotations(report, areFailures, inRepository)) console.error(line);
  const limit = comment === true ? mostOfComment : comment;
  const color = output === undefined && hasColor(process.stdout);
  const page = render(report, format, { color, limit });
  writeOutput(page, output, verdictOf(report));
}

/**
 * Writes a page to standard output, or to the file that the user named; then says in a line what it is.
 * @throws MerchantRulesError SETTINGS_INVALID: the file cannot be written
 */
export function writeOutput(page: string, output: string | undefined, title: string): void {
  if (output === undefined) {
    process.stdout.write(page);
    return;
  }
  try {
    writeFileSync(output, page);
  } catch (error) {
    throw new MerchantRulesError("SETTINGS_INVALID", reasonOf(error), {
      attempted: `write to ${output}`,
      advice: "name a file in a folder that exists and may be written to, with --output",
    });
  }
  console.error(`${title} (written to ${output})`);
}

/** Returns the path from the root of the repository, as GitHub takes it: a job may have changed the folder. */
function inRepository(file: string): string {
  const { GITHUB_WORKSPACE: root } = process.env;
  if (root === undefined || root === "") return file;
  return relative(root, resolve(file)).split(sep).join("/");
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= leastOfComment) return limit;
  throw new InvalidArgumentError(`It must be a whole number of at least ${leastOfComment}.`);
}
