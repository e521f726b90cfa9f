import type { Command } from "commander";
import { projectFolder } from "../provider/settings/project-folder.ts";
import { driftReport } from "../report/drift/drift-report.ts";
import { ignoreFileName, readIgnoreFile } from "../report/files/ignore-file.ts";
import { withPlaces } from "../report/files/rule-places.ts";
import { withCommandsOf } from "./engine-commands.ts";
import { callCode, exiting } from "./exit-code.ts";
import { type ReadDriftOptions, readDrift, stateOption } from "./read-drift.ts";
import { type ReportOptions, withReportOptions, writeReport } from "./report-options.ts";
import { withRulesOption } from "./rule-folders.ts";
import { withWords } from "./rule-words.ts";
import { folderOf, projectIn, withStackOptions } from "./stack.ts";

interface DriftOptions extends ReportOptions, ReadDriftOptions {
  readonly ignoreUnmanaged?: boolean;
  readonly ignoreFile?: string;
}

/** Defines `merchant-rules drift`: compares a stack's state with the live service. */
export function driftCommand(command: Command): void {
  command
    .addOption(stateOption())
    .option("--ignore-unmanaged", "do not look for rules that the stack does not declare")
    .option(
      "--ignore-file <file>",
      `unmanaged rules that are no drift, a name a line (default: ${ignoreFileName} in the project's folder)`,
    )
    .addHelpText(
      "after",
      `
Exit codes: 0 in sync, 7 drift, or a run that failed in part, 1 it cannot be told (and why), 2 called wrongly.

Example, in a pipeline:
  pulumi stack export --stack prod | npx --no-install merchant-rules drift --state - --format markdown --output drift.md`,
    );
  withReportOptions(withRulesOption(withStackOptions(command))).action(exiting(runDrift, callCode));
}

async function runDrift(options: DriftOptions): Promise<number> {
  const ignoring = readIgnoreFile(options.ignoreFile, projectFolder(folderOf(options)));
  const looksForUnmanaged = options.ignoreUnmanaged !== true;
  const { stack, places, hasRules, drift } = await readDrift(options, looksForUnmanaged, options.format === "json");
  const found = driftReport(drift, {
    subject: stack.title,
    project: projectIn(stack.resources),
    hasRules,
    looksForUnmanaged,
    ignoring,
  });
  const said = await withWords(found, { sources: stack.sources });
  const report = places === undefined ? said : withPlaces(said, places);
  await writeReport(withCommandsOf(stack.engine, report), options, true);
  return report.findings.length + drift.unfinished.length === 0 ? 0 : 7;
}
