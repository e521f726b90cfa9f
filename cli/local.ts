import { type Command, InvalidArgumentError, Option } from "commander";
import type { JsonDiagnostic, RunEvent, RunOptions, RunResult, Verb } from "pulumi-merchant-rules-local/engine";
import { UsageError } from "../contract-tools/usage-error.ts";
import { knowledgeOfRules as knowledge } from "../provider/hooks/look-up.ts";
import { printableJson, printableLines } from "../sdk/json/printable.ts";
import { confirmed } from "./confirm.ts";
import { inCommandsOf } from "./engine-commands.ts";
import { engineCode, exiting } from "./exit-code.ts";
import { interruptible } from "./interrupt.ts";
import { localImportCommand } from "./local-import.ts";
import { localPackage } from "./local-package.ts";
import { localPolicyCommand } from "./local-policy.ts";
import { localQuickstartCommand } from "./local-quickstart.ts";
import { type PolicyPackOptions, withPolicyOptions } from "./policy-options.ts";
import type { StackOptions } from "./stack.ts";
import { hasColor } from "./terminal.ts";

interface LocalOptions extends PolicyPackOptions, Omit<StackOptions, "engine"> {
  readonly parallel?: number;
  readonly target?: readonly string[];
  readonly diff?: boolean;
  readonly json?: boolean;
  readonly expectNoChanges?: boolean;
  readonly refresh?: boolean;
  readonly clearPendingCreates?: boolean;
  readonly importPendingCreates?: readonly string[];
  readonly previewOnly?: boolean;
  readonly withoutSecrets?: boolean;
  readonly skipPreview?: boolean;
  readonly yes?: boolean;
  /** True where the user has seen a preview of this very run. */
  readonly previewed?: boolean;
}

/** Options of the Pulumi CLI that change what a run does. Without them it would do something else. */
const optionsOfCli = [
  "--target-dependents",
  "--exclude",
  "--exclude-dependents",
  "--replace",
  "--target-replace",
  "--plan",
  "--save-plan",
  "--import-file",
  "--run-program",
  "--continue-on-error",
  "--skip-pending-creates",
];

const summaries: Record<Verb, string> = {
  preview: "show what up would change",
  up: "bring the rules to what the program declares",
  refresh: "read the rules, and bring the state to what they are",
  destroy: "delete everything in the stack",
};

/** Defines `merchant-rules local preview|up|refresh|destroy|import|policy`: runs a Pulumi program without the Pulumi CLI. */
export function localCommand(local: Command): void {
  local.addHelpText("after", help);
  for (const verb of ["preview", "up", "refresh", "destroy"] as const) verbCommand(verb, local.command(verb));
  localImportCommand(local.command("import"));
  localPolicyCommand(local.command("policy"));
  localQuickstartCommand(local.command("quickstart"));
}

function verbCommand(verb: Verb, command: Command): void {
  command
    .description(summaries[verb])
    .option("-s, --stack <name>", "the stack (default: PULUMI_STACK, else the only one there is, else dev)")
    .option("-C, --cwd <dir>", "the project's folder, or one below it")
    .option(
      "--backend <url>",
      "a file:// URL (default: PULUMI_BACKEND_URL, else backend.url of Pulumi.yaml, else the project's folder)",
    )
    .option(
      "-p, --parallel <number>",
      "operations under way at once (default: four times the processors)",
      positiveInteger,
    )
    .option(
      "-t, --target <urn>",
      "only this resource, and the providers (repeatable; ** stands for any part of a URN)",
      collect,
    )
    .option("--diff", "show the properties of what is created or deleted, too")
    .option("-j, --json", "print JSON as the Pulumi CLI: one document of a preview, else an event a line")
    .option("--expect-no-changes", "exit with 7 when there is a change");
  for (const flag of optionsOfCli) command.addOption(new Option(`${flag} [value...]`).hideHelp());
  if (verb === "refresh") {
    command
      .option("--clear-pending-creates", "forget the creates that an earlier run left open")
      .option(
        "--import-pending-creates <urn|id>",
        "take such a create into the state: its URN, then the option again with its id (repeatable)",
        collect,
      );
  } else command.option("-r, --refresh", "read the rules first");
  if (verb === "preview" || verb === "up") withPolicyOptions(command);
  if (verb === "preview") {
    command.option(
      "--without-secrets",
      "needs no key: each secret of the stack's config has a placeholder's value, as in a check of pull requests",
    );
    // Every verb takes these, so that a script can give them to all; here they change nothing.
    for (const flags of ["-y, --yes", "--preview-only"]) command.addOption(new Option(flags).hideHelp());
  } else {
    command
      .option("-y, --yes", "go ahead without asking, and without showing a preview first")
      .option("-f, --skip-preview", "the same as --yes")
      .option("--preview-only", "show what would happen, and do nothing");
  }
  command
    .addHelpText("after", helpOf(verb))
    .action(exiting((options: LocalOptions) => runVerb(verb, options), engineCode));
}

const help = `
Exit codes: as the Pulumi CLI's; each command's --help says which it has.

Example:
  npx --no-install merchant-rules local up --stack dev --yes`;

function helpOf(verb: Verb): string {
  const flags = { preview: "--diff", up: "--yes", refresh: "--preview-only --expect-no-changes", destroy: "--yes" };
  const noStack = verb === "refresh" || verb === "destroy" ? " 6 no such stack;" : "";
  return `
Exit codes: 0 done; 1 failed or cancelled; 2 called wrongly;${noStack} 7 a change, with --expect-no-changes;
8 ended at once (Ctrl-C twice).

Example:
  npx --no-install merchant-rules local ${verb} --stack dev ${flags[verb]}`;
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

function positiveInteger(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new InvalidArgumentError("It must be a whole number of at least 1.");
  return number;
}

async function runVerb(verb: Verb, options: LocalOptions): Promise<number> {
  const { unsupported } = await localPackage("engine");
  const refused = optionsOfCli.find((flag) => Object.hasOwn(options, new Option(flag).attributeName()));
  if (refused !== undefined) throw unsupported("command line", `the option ${refused}`);
  if (verb === "preview" || options.previewOnly === true)
    return await runOnce(verb, options, options.previewOnly === true);
  if (options.yes === true || options.skipPreview === true) return await runOnce(verb, options, false);
  if (!process.stdin.isTTY || !process.stdout.isTTY || options.json === true)
    throw new UsageError(
      `${verb} changes things, and there is nobody here to confirm it: pass --yes to go ahead, or --preview-only to look`,
    );
  const code = await runOnce(verb, options, true);
  if (code !== 0) return code;
  return await confirmed(verb === "up" ? "update" : verb, () => runOnce(verb, { ...options, previewed: true }, false));
}

async function runOnce(verb: Verb, options: LocalOptions, previewOnly: boolean): Promise<number> {
  const { exitCodeOf } = await localPackage("engine");
  const result =
    options.json === true ? await runJson(verb, options, previewOnly) : await runText(verb, options, previewOnly);
  const exitCode = exitCodeOf(result, options.expectNoChanges === true);
  if (exitCode === 7) console.error("error: no changes were expected, but there are some");
  return exitCode;
}

async function runText(verb: Verb, options: LocalOptions, previewOnly: boolean): Promise<RunResult> {
  const { TextDisplay } = await localPackage("engine");
  const display = new TextDisplay({
    verb,
    diff: options.diff === true,
    color: hasColor(process.stdout),
    print: (line) => console.log(line),
  });
  const result = await run({
    ...engineOptions(verb, options, previewOnly),
    onEvent: (event) => display.onEvent(event),
  });
  display.finish(result);
  return result;
}

async function runJson(verb: Verb, options: LocalOptions, previewOnly: boolean): Promise<RunResult> {
  const { diagnosticOf, EventLines, jsonDocument } = await localPackage("engine");
  if (verb !== "preview" && !previewOnly) {
    const lines = new EventLines(verb, (line) => console.log(line));
    const onEvent = (event: RunEvent): void => lines.onEvent(event);
    const result = await run({ ...engineOptions(verb, options, previewOnly), onEvent });
    lines.finish(result);
    return result;
  }
  const diagnostics: JsonDiagnostic[] = [];
  const result = await run({
    ...engineOptions(verb, options, previewOnly),
    onEvent: (event) => {
      if (event.kind === "diagnostic") diagnostics.push(diagnosticOf(event));
    },
  });
  console.log(printableJson(jsonDocument(result, diagnostics), 4));
  for (const { message } of result.errors) console.error(printableLines(`error: ${message}`).join("\n"));
  return result;
}

function engineOptions(verb: Verb, options: LocalOptions, previewOnly: boolean): RunOptions {
  const { stack, cwd, backend: backendUrl, target: targets, parallel, refresh, previewed } = options;
  const { clearPendingCreates, importPendingCreates, withoutSecrets } = options;
  const { policyPack: policyPacks, policyPackConfig: policyPackConfigs } = options;
  const which = { verb, stack, cwd, backendUrl, targets, policyPacks, policyPackConfigs };
  return {
    ...which,
    withoutSecrets,
    parallel,
    refresh,
    previewOnly,
    previewed,
    clearPendingCreates,
    importPendingCreates,
  };
}

/** Runs the engine. Messages name this command, and not Pulumi's, which the user may not have. */
async function run({ onEvent = () => {}, ...options }: RunOptions): Promise<RunResult> {
  const { runEngine } = await localPackage("engine");
  const said = (event: RunEvent): RunEvent =>
    event.kind === "diagnostic" ? { ...event, message: inCommandsOf("local", event.message) } : event;
  const result = await interruptible((signals) =>
    runEngine({ ...options, ...signals, knowledge, onEvent: (event) => onEvent(said(event)) }),
  );
  for (const error of result.errors) error.message = inCommandsOf("local", error.message);
  return result;
}
