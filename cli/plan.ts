import type { Command } from "commander";
import { UsageError } from "../contract-tools/usage-error.ts";
import { contractsBy, meantContract } from "../provider/settings/contract-source.ts";
import { projectFolder } from "../provider/settings/project-folder.ts";
import { readIgnoreFile } from "../report/files/ignore-file.ts";
import { withPlaces } from "../report/files/rule-places.ts";
import { errorsOf } from "../report/index.ts";
import { kindsOf } from "../report/model/kinds.ts";
import { planOf, type Refreshed } from "../report/plan/plan-report.ts";
import { violatingRuleIn } from "../report/plan/violations.ts";
import { withCommandsOf } from "./engine-commands.ts";
import { exiting } from "./exit-code.ts";
import { codeBy, demandPayments, type FailOnOptions, withFailOn } from "./fail-on.ts";
import { Invocation } from "./invocation.ts";
import { type PaymentsOptions, withPaymentsOptions } from "./payments-options.ts";
import { type PolicyPackOptions, withPolicyOptions } from "./policy-options.ts";
import { givenPreview, ownPreview, sourcesOf } from "./preview.ts";
import { readDriftOf } from "./read-drift.ts";
import { type ReportOptions, withReportOptions, writeReport } from "./report-options.ts";
import { type RulesOptions, rulePlacesOf, withRulesOption } from "./rule-folders.ts";
import { withWords } from "./rule-words.ts";
import { keepHeapSmall } from "./small-heap.ts";
import { engineOf, folderOf, type StackOptions, stackIn, withStackOptions } from "./stack.ts";

interface PlanOptions
  extends StackOptions,
    ReportOptions,
    RulesOptions,
    PolicyPackOptions,
    PaymentsOptions,
    FailOnOptions {
  readonly connection?: string;
  readonly expectNoChanges?: boolean;
  readonly refresh?: boolean;
}

/** Defines `merchant-rules plan`: says what a run would do, by rule. */
export function planCommand(command: Command): void {
  command.argument(
    "[file]",
    "what `pulumi preview --json --show-sames` printed; - is standard input (default: run a preview)",
  );
  withFailOn(
    withPaymentsOptions(withPolicyOptions(withReportOptions(withRulesOption(withStackOptions(command))))),
    kindsOf.plan,
  )
    .option("--connection <name>", "with --payments: the connection whose rules decide, where the stack has several")
    .option(
      "--refresh",
      "compare with the service, as `pulumi up --refresh`: edits by hand, what adopt takes over, unmanaged rules",
    )
    .option("--expect-no-changes", "exit with 7 when a rule would change")
    .addHelpText("after", help)
    .action(exiting(plan));
}

const help = `
Exit codes: 0 done, with changes or without; 1 failed, or the preview did; 2 called wrongly;
7 a change, with --expect-no-changes, or what --fail-on says.

Example, in a pull request:
  pulumi preview --json --show-sames > preview.json
  npx --no-install merchant-rules plan preview.json --comment > comment.md`;

async function plan(file: string | undefined, options: PlanOptions): Promise<number> {
  if (options.comment !== undefined && options.format !== "markdown")
    throw new UsageError("--comment is Markdown: leave out --format");
  if (file !== undefined && (options.policyPack ?? options.policyPackConfig) !== undefined)
    throw new UsageError(
      "--policy-pack is for the preview that this command runs: leave out the file, or give the pack to the preview that made it",
    );
  if (file === "-" && options.payments === "-")
    throw new UsageError("the preview and --payments cannot both be standard input: name a file for one of them");
  demandPayments(options, options.payments !== undefined);
  if (options.payments !== undefined) keepHeapSmall("reading");
  const folder = folderOf(options);
  const preview = file === undefined ? await ownPreview(options, folder) : await givenPreview(file);
  const sources = sourcesOf(preview, folder);
  const contractOf = contractsBy(sources);
  const invocation = new Invocation(options, options.format === "json");
  const refreshed = options.refresh === true ? await readRefreshed(invocation) : {};
  const { report: plan, hasChanges } = planOf(preview, contractOf, {
    ...refreshed,
    meantContract: meantContract([folder]),
  });
  const places = await rulePlacesOf(options, stackIn(preview.steps) ?? options.stack);
  const said = await withWords(plan, { sources, contractOf, violatingRule: violatingRuleIn(preview, contractOf) });
  const placed = places === undefined ? said : withPlaces(said, places);
  // A preview in a file comes from elsewhere, and there the engine is mostly Pulumi's.
  const engine = file === undefined ? engineOf(options) : (options.engine ?? "pulumi");
  const { payments } = options;
  const isDecided = payments !== undefined && errorsOf(placed).length === 0;
  // Most plans decide no payments, and need not load what does.
  const decided = isDecided
    ? await (await import("./payments.ts")).planWithPayments(placed, preview, invocation, { ...options, payments })
    : placed;
  const report = withCommandsOf(engine, decided);
  await writeReport(report, options, options.expectNoChanges === true || options.failOn !== undefined);
  if (errorsOf(report).length > 0) {
    console.error(
      "error: the preview failed, so this plan may lack something. What to do: fix what it says, and run it again",
    );
    return 1;
  }
  if (options.expectNoChanges !== true || !hasChanges) return codeBy(options, report, 0);
  console.error("error: no changes were expected, but there are some");
  return 7;
}

/** Reads what the service has now of the stack's rules, in one paged pass. */
async function readRefreshed(invocation: Invocation): Promise<Refreshed> {
  const ignoring = readIgnoreFile(undefined, projectFolder(folderOf(invocation.options)));
  // By the settings of the run that is planned; the state has those of the last one, or none yet.
  return { drift: await readDriftOf(await invocation.state(), invocation, { looksForUnmanaged: true }), ignoring };
}
