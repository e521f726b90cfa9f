import { Command, Option } from "commander";
import { ignoreFileName, readIgnoreFile } from "../report/ignore-file.ts";
import { isMerchantRulesError, MerchantRulesError } from "../sdk/errors.ts";
import { callCode, exiting } from "./exit-code.ts";
import { withProgress } from "./progress.ts";
import { type ReportOptions, withReportOptions, writeReport } from "./report-options.ts";
import { type RulesOptions, rulePlacesOf, stackIn, withRulesOption } from "./rule-folders.ts";
import { readState, type Stack, type StackOptions, withStackOptions } from "./stack.ts";

interface DriftOptions extends StackOptions, ReportOptions, RulesOptions {
  readonly state?: string;
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
    .addOption(
      new Option(
        "--state <file>",
        "compare what `pulumi stack export` printed; - for standard input (default: the state of the stack)",
      ).conflicts(["stack", "engine", "backend"]),
    )
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
  const { projectFolder } = await import("../provider/settings.ts");
  const ignoring = readIgnoreFile(options.ignoreFile, projectFolder(options.cwd ?? process.cwd()));
  // Loaded while the engine is asked for the state.
  const [stack, { stateResources }, { findDrift }, { Session }, { driftReport }, { withPlaces }] = await Promise.all([
    readState(options),
    import("../stack/rule-resources.ts"),
    import("../provider/drift.ts"),
    import("../provider/hooks/session.ts"),
    import("../report/drift-report.ts"),
    import("../report/rule-places.ts"),
  ]);
  const places = await rulePlacesOf(options, stackIn(stack.resources) ?? options.stack);
  const resources = stateResources(stack.resources);
  const looksForUnmanaged = options.ignoreUnmanaged !== true;
  const drift = await withProgress(
    "reading rules",
    async (step) => {
      const session = new Session({ ...stack.sources, checksDefinitions: false }, step);
      return await findDrift(resources, session, { looksForUnmanaged }).catch((error: unknown) => {
        throw isMerchantRulesError(error) ? explained(session.explain(error), stack, resources.length) : error;
      });
    },
    { quiet: options.format === "json" },
  );
  if (resources.length === 0 && drift.withoutList.length > 0) throw nothingToCompare(stack);
  const found = driftReport(drift, {
    subject: stack.title,
    hasRules: resources.length > 0,
    looksForUnmanaged,
    ignoring,
  });
  const report = places === undefined ? found : withPlaces(found, places);
  await writeReport(report, options, true);
  return report.findings.length === 0 ? 0 : 7;
}

/** A failure, with the part that the state has in it. */
function explained(error: MerchantRulesError, stack: Stack, resources: number): MerchantRulesError {
  if (error.code === "CONTRACT_INVALID" && error.attempted !== undefined) {
    const advice = `${error.advice}. A file that the state names is looked for in the project's folder: run this there, or name the folder with --cwd`;
    return error.with({ advice });
  }
  if (error.code !== "SETTINGS_INVALID") return error;
  if (stack.undecrypted.length > 0) {
    const keys = stack.undecrypted.join(", ");
    const advice = `${keys} in the state is a secret that nothing here can decrypt: set PULUMI_CONFIG_PASSPHRASE, export with \`pulumi stack export --show-secrets\`, or give the setting by its environment variable`;
    return error.with({ advice });
  }
  return resources > 0
    ? error
    : error.with({ attempted: `look for unmanaged rules (${stack.title} declares no rules)` });
}

function nothingToCompare({ title }: Stack): MerchantRulesError {
  const reason = `${title} declares no merchant rules, and by the contract unmanaged ones cannot be listed`;
  const advice = "name the stack that declares them with --stack; or set operations.list in the contract";
  return new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", reason, { attempted: "look for drift", advice });
}
