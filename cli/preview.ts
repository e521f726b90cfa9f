import { knowledgeOfRules as knowledge } from "../provider/hooks/look-up.ts";
import type { SettingsSources } from "../provider/settings/sources.ts";
import type { Format } from "../report/formats/formats.ts";
import { type Preview, readPreview } from "../report/plan/preview.ts";
import { inputOf } from "./input.ts";
import { interruptible } from "./interrupt.ts";
import { localPackage } from "./local-package.ts";
import type { PolicyPackOptions } from "./policy-options.ts";
import { type OnProgress, withProgress } from "./progress.ts";
import { engineOf, runPulumi, type StackOptions, sourceOf, stackIn } from "./stack.ts";

interface PreviewOptions extends StackOptions, PolicyPackOptions {
  readonly format?: Format;
}

/** Reads a preview from a file; `-` is standard input. @throws MerchantRulesError SETTINGS_INVALID: it is none */
export async function givenPreview(file: string): Promise<Preview> {
  const advice = "name a file that holds what `pulumi preview --json --show-sames` printed, or - for standard input";
  return readPreview(await inputOf(file, "read preview", advice), sourceOf(file));
}

/** Returns the settings that a preview ran with: it holds the config of its stack. */
export function sourcesOf(preview: Preview, folder: string): SettingsSources {
  return { config: (key) => preview.config.get(key), environment: process.env, folder, stack: stackIn(preview.steps) };
}

/** Runs a preview by the stack's engine. @throws MerchantRulesError, EngineError: it failed without resources */
export async function ownPreview(options: PreviewOptions, folder: string): Promise<Preview> {
  const quiet = options.format === "json";
  if (engineOf(options) === "local") {
    const preview = await withProgress("previewing resources", (step) => previewedLocally(options, step), { quiet });
    return readPreview(preview, "the local engine's preview");
  }
  const { policyPack = [], policyPackConfig = [] } = options;
  const packs = [
    ...policyPack.flatMap((pack) => ["--policy-pack", pack]),
    ...policyPackConfig.flatMap((file) => ["--policy-pack-config", file]),
  ];
  // What policies say is in the events alone.
  const environment: NodeJS.ProcessEnv = packs.length === 0 ? {} : { PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "true" };
  const run = () => runPulumi(["preview", "--json", "--show-sames", ...packs], options, folder, environment);
  const { stdout, failure } = await withProgress("running pulumi preview", run, { quiet });
  if (failure === undefined) return readPreview(stdout, "`pulumi preview --json`");
  // A preview that failed on the way prints as far as it came, with what failed. Else only its own words are left.
  if (stdout.trim() === "") throw failure;
  return readPreview(stdout, "`pulumi preview --json`", failure.reason);
}

async function previewedLocally(options: StackOptions & PolicyPackOptions, step: OnProgress): Promise<string> {
  const { stack, cwd, backend, policyPack: policyPacks, policyPackConfig: policyPackConfigs } = options;
  const { diagnosticOf, jsonDocument, runEngine } = await localPackage("engine");
  const diagnostics: ReturnType<typeof diagnosticOf>[] = [];
  let resources = 0;
  const result = await interruptible((signals) =>
    runEngine({
      verb: "preview",
      stack,
      cwd,
      backendUrl: backend,
      ...{ policyPacks, policyPackConfigs },
      ...signals,
      knowledge,
      onEvent: (event) => {
        if (event.kind === "diagnostic") diagnostics.push(diagnosticOf(event));
        if (event.kind === "step") step(++resources);
      },
    }),
  );
  const isSaid =
    diagnostics.some(({ severity }) => severity === "error") ||
    result.policies.violations.some(({ level }) => level === "mandatory");
  if (!result.ok && !isSaid)
    diagnostics.push({
      message: result.cancelled ? "the preview was interrupted" : "the preview failed",
      severity: "error",
    });
  return JSON.stringify(jsonDocument(result, diagnostics, true));
}
