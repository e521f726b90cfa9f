import { type Command, Option } from "commander";
import { printable, printableLines } from "../sdk/json/printable.ts";
import { engineCode, exiting } from "./exit-code.ts";
import { inputOf } from "./input.ts";
import { interruptible } from "./interrupt.ts";
import { localPackage } from "./local-package.ts";
import { type PolicyPackOptions, withPolicyOptions } from "./policy-options.ts";
import { type StackOptions, sourceOf, stateAdvice, titleOf } from "./stack.ts";
import { hasColor } from "./terminal.ts";

interface AnalyzeCommandOptions extends PolicyPackOptions, Omit<StackOptions, "engine"> {
  readonly state?: string;
  readonly json?: boolean;
}

/** Defines `merchant-rules local policy analyze`: runs policy packs over a stack's state, as `pulumi policy analyze`. */
export function localPolicyCommand(command: Command): void {
  const analyze = command
    .description("policy packs without a run")
    .command("analyze")
    .description("run policy packs over a stack's state; no program runs and no service is asked")
    .addOption(
      new Option("--state <file>", "analyze what `pulumi stack export` printed; - for standard input").conflicts([
        "stack",
        "backend",
      ]),
    )
    .option("-s, --stack <name>", "the stack (default: as up)")
    .option("-C, --cwd <dir>", "the project's folder, or one below it; paths of packs begin there")
    .option("--backend <url>", "a file:// URL (default: as up)")
    .option("-j, --json", "print JSON as the Pulumi CLI: one engine event a line")
    .addHelpText(
      "after",
      `
Policies of resources look at inputs, policies of stacks at outputs. What a policy would change is shown, and not done.
Secrets are decrypted with PULUMI_CONFIG_PASSPHRASE; without it policies get "[secret]" in their place.

Exit codes: 0 no mandatory policy is violated; 1 one is, or it cannot be told; 2 called wrongly; 6 no such stack

Example:
  pulumi stack export --stack prod | npx --no-install merchant-rules local policy analyze --state - --policy-pack policies`,
    )
    .action(exiting(runAnalyze, engineCode));
  withPolicyOptions(analyze);
}

async function runAnalyze(options: AnalyzeCommandOptions): Promise<number> {
  const started = performance.now();
  const { analyzeState, EventLines, paint, policyLines, readExport, readStack } = await localPackage("engine");
  const { policyPack: policyPacks, policyPackConfig: policyPackConfigs, cwd } = options;
  const lines = options.json === true ? new EventLines("preview", (line) => console.log(line)) : undefined;
  const { stack, backend, state } = options;
  const resources =
    state === undefined
      ? (await readStack({ stack, cwd, backendUrl: backend })).resources
      : await readExport(await inputOf(state, "read state", stateAdvice), sourceOf(state), true);
  const title = titleOf(stack, resources, state);
  const policies = await interruptible((signals) =>
    analyzeState({
      ...{ policyPacks, policyPackConfigs, resources, cwd, ...signals },
      onEvent: (event) => {
        if (event.kind !== "policy-load") lines?.onEvent(event);
      },
      onOutput: (severity, message) => {
        if (severity !== "debug")
          console.error(printableLines(severity === "info" ? message : `${severity}: ${message}`).join("\n"));
      },
    }),
  );
  const isRefused = policies.violations.some(({ level }) => level === "mandatory");
  const durationMs = performance.now() - started;
  lines?.summary({ summary: {}, durationMs, preview: false, ok: !isRefused, policies });
  if (lines === undefined) {
    console.log(`Analyzing ${title}:`);
    for (const { symbol, text } of policyLines(policies))
      console.log(paint(symbol, printable(text), hasColor(process.stdout)));
  }
  if (policies.packs.length === 0) console.error(`${title} has no resources: there is nothing to analyze`);
  if (isRefused) console.error("error: a mandatory policy is violated");
  return isRefused ? 1 : 0;
}
