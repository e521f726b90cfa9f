import { readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { projectFolder } from "../provider/settings/project-folder.ts";
import { type TestCase, testCasesIn } from "../report/meaning/test-file.ts";
import { coverageText, percentOf, testReport } from "../report/meaning/test-report.ts";
import { MerchantRulesError } from "../sdk/errors.ts";
import { callCode, exiting } from "./exit-code.ts";
import { inputOf } from "./input.ts";
import { type MeaningOptions, readMeaning, withMeaningOptions } from "./meaning.ts";
import { type ReportOptions, withReportOptions, writeReport } from "./report-options.ts";
import { folderOf, sourceOf, withStackOptions } from "./stack.ts";

interface VerifyOptions extends MeaningOptions, ReportOptions {
  readonly coverage?: boolean;
  readonly threshold?: number;
}

/** Defines `merchant-rules verify`: compares what the rules decide of payments with what they must decide. */
export function verifyCommand(command: Command): void {
  command
    .argument("[files...]", "files of tests; - is standard input (default: each *.test.yaml of the project)")
    .option("--coverage", "say which rules and conditions no case made true, or false")
    .option("--threshold <percent>", "fail below so much coverage", percent)
    .addHelpText("after", help);
  withReportOptions(withMeaningOptions(withStackOptions(command))).action(exiting(verify, callCode));
}

const help = `
The contract's semantics say what rules mean; merchant-rules help simulation is the guide.

Exit codes: 0 all as expected; 1 a case is not, too little is covered, or it failed (and why); 2 called wrongly.

Example, by the rule files of a folder alone:
  npx --no-install merchant-rules verify --folder rules --coverage`;

async function verify(named: readonly string[], options: VerifyOptions): Promise<number> {
  const attempted = "test rules";
  const files = named.length > 0 ? named : filesIn(projectFolder(folderOf(options)));
  const texts: { file: string; text: string }[] = [];
  for (const file of files)
    texts.push({
      file: sourceOf(file),
      text: await inputOf(file, "read tests", "name a file of tests, or - for standard input"),
    });
  const meaning = await readMeaning(options, attempted, options.format === "json");
  const cases = texts.flatMap(({ file, text }): TestCase[] => testCasesIn(text, file, meaning.semantics));
  const { coverage: asked = false, threshold } = options;
  const { report, coverage } = testReport(cases, meaning, asked || threshold !== undefined);
  await writeReport(report, options, true);
  const isShort = coverage !== undefined && threshold !== undefined && percentOf(coverage) < threshold;
  if (isShort)
    console.error(
      `error: ${coverageText(coverage)}, which is below the threshold of ${threshold} %. What to do: add cases for what the report lists as not tried`,
    );
  return report.findings.length > 0 || isShort ? 1 : 0;
}

/** Finds the files of tests below a folder. @throws MerchantRulesError SETTINGS_INVALID: there is none */
function filesIn(folder: string): string[] {
  const found: string[] = [];
  const walk = (here: string): void => {
    for (const entry of readdirSync(here, { withFileTypes: true })) {
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      const path = join(here, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile() && /\.test\.ya?ml$/i.test(entry.name)) found.push(relative(process.cwd(), path));
    }
  };
  walk(folder);
  if (found.length > 0) return found.sort();
  throw new MerchantRulesError("SETTINGS_INVALID", `there is no *.test.yaml in ${resolve(folder)} or below it`, {
    attempted: "test rules",
    advice:
      "write one, or name the files of tests; `npx --no-install merchant-rules help simulation` shows what a test is",
  });
}

function percent(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 0 && value <= 100) return value;
  throw new InvalidArgumentError("It must be a number from 0 to 100.");
}
