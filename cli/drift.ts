import { Command } from "commander";
import { ignoreFileName, readIgnoreFile } from "../report/files/ignore-file.ts";
import { withCommandsOf } from "./engine-commands.ts";
import { callCode, exiting } from "./exit-code.ts";
import { type ReadDriftOptions, readDrift, stateOption } from "./read-drift.ts";
import { type ReportOptions, withReportOptions, writeReport } from "./report-options.ts";
import { projectIn, withRulesOption } from "./rule-folders.ts";
import { withWords } from "./rule-words.ts";
import { withStackOptions } from "./stack.ts";

interface DriftOptions extends ReportOptions, ReadDriftOptions {
  readonly ignoreUnmanaged?: boolean;
  readonly ignoreFile?: string;
}

/**
 * `merchant-rules drift`: what a stack's state says of its rules, against the live service. Exit codes: 0 in sync,
 * 7 drift, 1 it cannot be told, 2 called wrongly.
 */
export function driftCommand(): Command {
  const command = new Command("drift")
    .description("Say which rules differ from the stack's state, are missing, or are unmanaged; runs no program")
    .addOption(stateOption())
    .option("--ignore-unmanaged", "do not look for rules that the stack does not declare")
    .option(
      "--ignore-file <file>",
      `unmanaged rules that are no drift, a name a line (default: ${ignoreFileName} in the project's folder)`,
    )
    .addHelpText(
      "after",
      `
Exit codes: 0 in sync, 7 drift, 1 it cannot be told (and why), 2 called wrongly.

Example, in a pipeline:
  pulumi stack export --stack prod | npx --no-install merchant-rules drift --state - --format markdown --output drift.md`,
    )
    .exitOverride();
  return withReportOptions(withRulesOption(withStackOptions(command))).action(exiting(runDrift, callCode));
}

async function runDrift(options: DriftOptions): Promise<number> {
  const { projectFolder } = await import("../provider/settings/project-folder.ts");
  const ignoring = readIgnoreFile(options.ignoreFile, projectFolder(options.cwd ?? process.cwd()));
  const { driftReport } = await import("../report/drift/drift-report.ts");
  const looksForUnmanaged = options.ignoreUnmanaged !== true;
  const { stack, places, hasRules, drift } = await readDrift(options, looksForUnmanaged, options.format === "json");
  const found = driftReport(drift, {
    subject: stack.title,
    project: projectIn(stack.resources),
    hasRules,
    looksForUnmanaged,
    ignoring,
  });
  const { withPlaces } = await import("../report/files/rule-places.ts");
  const said = await withWords(found, { sources: stack.sources });
  const report = places === undefined ? said : withPlaces(said, places);
  await writeReport(withCommandsOf(stack.engine, report), options, true);
  return report.findings.length === 0 ? 0 : 7;
}
