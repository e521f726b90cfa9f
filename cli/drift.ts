import { type Command, Option } from "commander";
import { projectFolder } from "../provider/settings/project-folder.ts";
import { driftReport } from "../report/drift/drift-report.ts";
import { ignoreFileName, readIgnoreFile } from "../report/files/ignore-file.ts";
import { withPlaces } from "../report/files/rule-places.ts";
import { kindsOf } from "../report/model/kinds.ts";
import { type Report, reportOf } from "../report/model/report.ts";
import { isMerchantRulesError } from "../sdk/errors.ts";
import { defined } from "../sdk/json/index.ts";
import { isEngineError } from "../stack/errors.ts";
import { type Engine, withCommandsOf } from "./engine-commands.ts";
import { callCode, exiting } from "./exit-code.ts";
import { codeBy, demandPayments, type FailOnOptions, withFailOn } from "./fail-on.ts";
import { GivenCredentials } from "./given-credentials.ts";
import { type ReadDriftOptions, readDrift, stateOption } from "./read-drift.ts";
import { type ReportOptions, withReportOptions, writeReport } from "./report-options.ts";
import { withRulesOption } from "./rule-folders.ts";
import { withWords } from "./rule-words.ts";
import { engineOf, folderOf, projectIn, type StackOptions, withProjectOptions } from "./stack.ts";
import { allStacks } from "./stack-names.ts";

interface DriftOptions extends ReportOptions, FailOnOptions, Omit<ReadDriftOptions, "stack"> {
  readonly stack?: readonly string[];
  readonly allStacks?: boolean;
  readonly ignoreUnmanaged?: boolean;
  readonly ignoreFile?: string;
}

/** Defines `merchant-rules drift`: compares a stack's state with the live service. */
export function driftCommand(command: Command): void {
  command
    .option(
      "-s, --stack <name>",
      "the stack; given several times: one report on all (default: the selected one; with the local engine the only one, else dev)",
      (name: string, before: readonly string[] = []) => [...before, name],
    )
    .addOption(new Option("--all-stacks", "one report on all stacks of the project").conflicts("stack"))
    .addOption(stateOption())
    .option("--ignore-unmanaged", "do not look for rules that the stack does not declare")
    .option(
      "--ignore-file <file>",
      `unmanaged rules that are no drift, a name a line (default: ${ignoreFileName} in the project's folder)`,
    )
    .addHelpText(
      "after",
      `
Exit codes: 0 in sync, 7 drift, or a run that failed in part, 1 it cannot be told (and why), 2 called wrongly. Of several stacks
1 stands before 7.

Example, in a pipeline:
  pulumi stack export --stack prod | npx --no-install merchant-rules drift --state - --format markdown --output drift.md`,
    );
  withFailOn(withReportOptions(withRulesOption(withProjectOptions(command))), kindsOf.drift).action(
    exiting(runDrift, callCode),
  );
}

async function runDrift({ stack, allStacks: isAll, ...options }: DriftOptions): Promise<number> {
  demandPayments(options, false);
  const names = isAll === true ? await allStacks(projectOf(options)) : [...new Set(stack ?? [])];
  const given = new GivenCredentials();
  if (names.length < 2 && isAll !== true) {
    const { report, engine, isInSync } = await driftOf({ ...options, ...defined({ stack: names[0] }) }, given);
    await writeReport(withCommandsOf(engine, report), options, true);
    return codeBy(options, report, isInSync ? 0 : 7);
  }
  const found: (Told | Untold)[] = [];
  for (const name of names) found.push(await driftOrWhyNot(name, options, given));
  const all = together(found);
  await writeReport(withCommandsOf(engineOf(options), all), options, true);
  const isInSync = found.every((each) => "isInSync" in each && each.isInSync);
  const code = codeBy(options, all, isInSync ? 0 : 7);
  return found.some((each) => "why" in each) ? 1 : code;
}

function projectOf({ cwd, engine, backend }: Pick<DriftOptions, "cwd" | "engine" | "backend">): StackOptions {
  return defined({ cwd, engine, backend });
}

/** The drift of one stack. */
interface Told {
  readonly name?: string;
  readonly report: Report;
  readonly engine: Engine;
  /** Nothing drifted, and the last run did all that it was to do. */
  readonly isInSync: boolean;
}

/** A stack whose drift cannot be told. */
interface Untold {
  readonly name: string;
  readonly why: string;
}

type OneStack = Omit<DriftOptions, "stack" | "allStacks"> & { readonly stack?: string };

async function driftOrWhyNot(name: string, options: OneStack, given: GivenCredentials): Promise<Told | Untold> {
  try {
    return { name, ...(await driftOf({ ...options, stack: name }, given)) };
  } catch (error) {
    if (!isMerchantRulesError(error) && !isEngineError(error)) throw error;
    return { name, why: error.message };
  }
}

async function driftOf(options: OneStack, given: GivenCredentials): Promise<Told> {
  const ignoring = readIgnoreFile(options.ignoreFile, projectFolder(folderOf(options)));
  const looksForUnmanaged = options.ignoreUnmanaged !== true;
  const read = { looksForUnmanaged, quiet: options.format === "json", given };
  const { stack, places, hasRules, drift } = await readDrift(options, read);
  const found = driftReport(drift, {
    subject: stack.title,
    project: projectIn(stack.resources),
    hasRules,
    looksForUnmanaged,
    ignoring,
  });
  const said = await withWords(found, { sources: stack.sources });
  const report = places === undefined ? said : withPlaces(said, places);
  const isInSync = report.findings.length + drift.unfinished.length === 0;
  return { report, engine: stack.engine, isInSync };
}

/** Makes one report of those of several stacks: each finding and each sentence says of which it is. */
function together(found: readonly (Told | Untold)[]): Report {
  const told = found.filter((each) => "report" in each);
  const [first] = told;
  const ofEach = (part: "warnings" | "notes"): string[] =>
    told.flatMap(({ name = "", report }) => report[part].map((line) => `stack ${name}: ${line}`));
  return reportOf({
    report: "drift",
    subject: `stacks ${found.map(({ name = "" }) => name).join(", ")}`,
    ...defined({ project: first?.report.project }),
    about: [...new Set(told.flatMap(({ report }) => report.about))],
    rules: told.reduce((sum, { report }) => sum + report.rules, 0),
    unchanged: told.reduce((sum, { report }) => sum + report.unchanged, 0),
    errors: found.flatMap((each) => ("why" in each ? [{ message: `stack ${each.name}: ${each.why}` }] : [])),
    warnings: ofEach("warnings"),
    findings: told.flatMap(({ name, report }) =>
      report.findings.map((finding) => ({ ...finding, ...defined({ stack: name }) })),
    ),
    notes: ofEach("notes"),
  });
}
