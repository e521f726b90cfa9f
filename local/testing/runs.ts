import { pathToFileURL } from "node:url";
import { knowledgeOfRules } from "../../provider/hooks/look-up.ts";
import { planOf } from "../../report/plan/plan-report.ts";
import { readPreview } from "../../report/plan/preview.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import type { Json } from "../../sdk/json/index.ts";
import { toProvider, toWire } from "../../stack/values/wire.ts";
import { diagnosticOf, type JsonDiagnostic, jsonDocument } from "../engine/display/json.ts";
import { EngineError, type RunResult, runEngine, type StackChoice, type Verb } from "../engine/index.ts";
import { byRule, type RuleChanges } from "./by-rule.ts";
import { type Program, programToRun } from "./program.ts";
import { type Config, demandBlankEnvironment, demandOwnService, ownEnvironment, writeStackFile } from "./settings.ts";

/** Settings of one run that differ from those of its world. */
export interface RunOptions {
  /** Another program, such as the next version of the first. It keeps the project's name. */
  readonly program?: Program;
  /** Stack config beside that of the world. Default: none. */
  readonly config?: Config;
  /** Variables beside those of the world, such as `MERCHANT_RULES_FORMER_NAMES: "shop/old"`. A function does not see them. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /** Reads the rules first, as `pulumi up --refresh`. Default: false. */
  readonly refresh?: boolean;
}

/** The stack of a world. */
export interface WorldStack {
  readonly program: Program;
  readonly contract: Contract;
  /** Names of files in the contract begin at this one's folder. */
  readonly contractFile: string;
  /** The settings by which the program reaches the service. */
  readonly connection: Config;
  readonly config: Config;
  readonly secrets: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly stack: string;
  readonly projectName: string;
  /** A folder for the stack's settings and its state. */
  readonly folder: string;
  readonly policyPacks: readonly string[];
  readonly policyPackConfigs: readonly string[];
  /** Ends a run at once. */
  readonly killSignal: AbortSignal;
}

/** The outcome of a run; of a preview, what the run would do. */
export interface RunOutcome extends RuleChanges {
  /** True where anything changes, also where that is no rule: then `rules` may be empty. */
  readonly hasChanges: boolean;
  /** The stack's outputs, secrets in plain; in a preview without those that are not known yet. */
  readonly outputs: Readonly<Record<string, Json>>;
  /**
   * Messages of the provider, such as the warnings of `onUnmanaged`, and output of a program in a process of its own.
   */
  readonly messages: readonly string[];
}

/** Gives the choice by which the engine finds the stack of a world, and writes its settings anew. */
export async function prepare(world: WorldStack, options: RunOptions = {}) {
  const { config = {}, env = {}, program = world.program } = options;
  demandOwnService({ config, env });
  const { project, inlineProgram } = await programToRun(program, world.folder, world.projectName);
  if (inlineProgram !== undefined) demandBlankEnvironment();
  const settings = { config: { ...world.config, ...config, ...world.connection }, secrets: world.secrets };
  await writeStackFile(world.folder, world.stack, settings);
  const choice: StackChoice = {
    cwd: project.programFolder,
    project,
    stack: world.stack,
    backendUrl: pathToFileURL(world.folder).href,
    env: ownEnvironment({ ...world.env, ...env }),
  };
  return { choice, inlineProgram };
}

/** Runs a verb of the engine on a world's stack. @throws EngineError: the run failed, with everything that it said */
export async function run(verb: Verb, world: WorldStack, options: RunOptions = {}): Promise<RunOutcome> {
  const { choice, inlineProgram } = await prepare(world, options);
  const said: JsonDiagnostic[] = [];
  const { policyPacks, policyPackConfigs, killSignal } = world;
  const result = await runEngine({
    ...choice,
    verb,
    inlineProgram,
    refresh: options.refresh,
    policyPacks,
    policyPackConfigs,
    knowledge: knowledgeOfRules,
    killSignal,
    onEvent: (event) => {
      if (event.kind === "diagnostic") said.push(diagnosticOf(event));
    },
  });
  if (!result.ok) throw failure(result, said);
  const document = JSON.stringify(jsonDocument(result, said, true));
  const { report, hasChanges } = planOf(readPreview(document, "the local engine"), () => world.contract);
  const messages = said.map(({ message }) => message);
  return { ...byRule(report), hasChanges, messages, outputs: toWire(result.outputs, toProvider(false)) };
}

/** The most that is repeated of what a program printed. */
const mostLines = 30;

/** Makes one error for a run, whose message has all that went wrong and what the program printed on the way. */
function failure({ verb, errors, cancelled }: RunResult, said: readonly JsonDiagnostic[]): EngineError {
  const [first] = errors;
  const messages = [...new Set(errors.map(({ message }) => message))];
  const printed = said.map(({ message }) => message).filter((message) => !messages.includes(message));
  const shown = printed.flatMap((message) => message.split("\n")).slice(-mostLines);
  const title = `${verb} ${cancelled ? "was ended" : "failed"}${messages.length === 0 ? "" : `: ${messages.join("\n")}`}`;
  const text = shown.length === 0 ? title : `${title}\nwhat it said before:\n  ${shown.join("\n  ")}`;
  return new EngineError(first?.code ?? "FAILED", text, { urn: first?.urn, cause: first?.cause });
}
