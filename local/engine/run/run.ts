import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { EngineError, messageOf } from "../../../stack/errors.ts";
import { open, openCrypters } from "../../../stack/open/open.ts";
import { choose, noSuchStack, readPassphrase } from "../../../stack/project/choice.ts";
import { entryPointFault } from "../../../stack/project/entry-point.ts";
import type { Project } from "../../../stack/project/project.ts";
import { applyConfig, type Config } from "../../../stack/project/stack-config.ts";
import type { StackName } from "../../../stack/state/backend.ts";
import { takeLock } from "../../../stack/state/lock.ts";
import { isProvider, type ResourceState } from "../../../stack/state/resource-state.ts";
import { readStack, type StateStore, type StoredStack } from "../../../stack/state/store.ts";
import { type PropertyMap, Secret } from "../../../stack/values/value.ts";
import { deleteAll } from "../deploy/deletes.ts";
import { Execution } from "../deploy/execution.ts";
import {
  importPendingCreates,
  noKnowledge,
  type ProgramKnowledge,
  settingsFor,
  undecidedCreates,
} from "../deploy/pending-creates.ts";
import { Providers } from "../deploy/providers.ts";
import { refreshAll } from "../deploy/refresh.ts";
import { Registrar } from "../deploy/registrar.ts";
import { type ChangeSummary, hasChanges, type RunEvent, type Step, summarize } from "../deploy/step.ts";
import { limitDeletes, Targets } from "../deploy/targets.ts";
import { MonitorServer } from "../hosts/monitor-server.ts";
import { configEnvironment, ProgramHost, type RunningProgram } from "../hosts/program-host.ts";
import { ProviderHost, type StartPlugin } from "../hosts/provider-host.ts";
import type { Severity } from "../hosts/registration.ts";
import { noFindings, type PolicyFindings } from "../policies/findings.ts";
import { type Pack, type PackChoice, readPacks } from "../policies/pack.ts";
import { Policies } from "../policies/policies.ts";
import type { PolicyRun } from "../policies/policy-host.ts";
import { keepHistory } from "./history.ts";

export type Verb = "preview" | "up" | "refresh" | "destroy";

export interface RunOptions extends PackChoice {
  readonly verb: Verb;
  /** The project's folder, or one below it. Default: the working directory. */
  readonly cwd?: string | undefined;
  /** Default: what the Pulumi.yaml there says. */
  readonly project?: Project | undefined;
  /**
   * A program that runs in this process, with this process's environment and working directory; what it gives are the
   * stack's outputs. Default: the project's own program, in a process of its own.
   */
  readonly inlineProgram?: (() => unknown) | undefined;
  /** Starts what answers for dynamic resources. Default: Pulumi's provider host, a process of its own. */
  readonly startPlugin?: StartPlugin | undefined;
  readonly stack?: string | undefined;
  /** A `file://` URL. */
  readonly backendUrl?: string | undefined;
  /** Gives each secret of the stack's config a placeholder's value, for a preview without a key. Default: false */
  readonly withoutSecrets?: boolean | undefined;
  /**
   * What the run is limited to: URNs, in which `*` stands for anything but a colon and `**` for anything. Providers are
   * worked on all the same. Default: everything.
   */
  readonly targets?: readonly string[] | undefined;
  /** The most operations under way at once. Default: four times the number of processors. */
  readonly parallel?: number | undefined;
  /** Reads the resources first (`up`, `preview`, `destroy`). */
  readonly refresh?: boolean | undefined;
  /** Forgets the creates that an earlier run left open (`refresh`). */
  readonly clearPendingCreates?: boolean | undefined;
  /** Takes creates that an earlier run left open into the state (`refresh`): a URN and the resource's id by turns. */
  readonly importPendingCreates?: readonly string[] | undefined;
  /** Shows what `up`, `refresh` or `destroy` would do, and writes nothing. */
  readonly previewOnly?: boolean | undefined;
  /** True where the caller has had a preview with the policy packs: then an `up` does not begin with one. */
  readonly previewed?: boolean | undefined;
  /** What is known of the program's resources. Default: nothing, so that a create that was left open stops the run. */
  readonly knowledge?: ProgramKnowledge | undefined;
  /** Default: this process's environment. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Stops the run gently: nothing new begins, what is under way ends, state is written. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the children at once; the journal then holds what was done. */
  readonly killSignal?: AbortSignal | undefined;
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
}

/** The result of a run. */
export interface RunResult {
  readonly verb: Verb;
  /** True for a preview: nothing was done or written. */
  readonly preview: boolean;
  readonly project: string;
  readonly stack: string;
  readonly ok: boolean;
  readonly cancelled: boolean;
  readonly steps: readonly Step[];
  readonly summary: ChangeSummary;
  /** The stack's outputs; secrets are `Secret` values. */
  readonly outputs: PropertyMap;
  readonly config: Config;
  readonly errors: readonly EngineError[];
  /** Findings of the policy packs; empty without any. */
  readonly policies: PolicyFindings;
  readonly durationMs: number;
}

/** Returns the CLI's exit code for a run: 0 done, 1 failed or cancelled, 7 changes that were not expected. */
export function exitCodeOf({ ok, summary }: RunResult, expectNoChanges: boolean): number {
  if (!ok) return 1;
  return expectNoChanges && hasChanges(summary) ? 7 : 0;
}

/**
 * Runs one verb on one stack. Throws an `EngineError` when the run cannot begin (a bad call, a broken file, a lock, a
 * wrong passphrase, no such stack); everything that goes wrong later is in the result.
 *
 * With policy packs an `up` begins with a preview that nobody sees. Only where that goes well is anything done; where it
 * does not, the preview is told after all, and is the result.
 */
export async function runEngine(options: RunOptions): Promise<RunResult> {
  const { verb, policyPacks = [], previewOnly, previewed, onEvent = () => {} } = options;
  if (policyPacks.length > 0 && verb === "up" && previewOnly !== true && previewed !== true) {
    const events: RunEvent[] = [];
    const preview = await runOnce({ ...options, previewOnly: true, onEvent: (event) => events.push(event) });
    if (!preview.ok) {
      for (const event of events) onEvent(event);
      return preview;
    }
  }
  return await runOnce(options);
}

async function runOnce(options: RunOptions): Promise<RunResult> {
  const started = performance.now();
  const { verb, env = process.env, onEvent = () => {} } = options;
  const cwd = resolve(options.cwd ?? process.cwd());
  const preview = verb === "preview" || options.previewOnly === true;
  const parallel = options.parallel ?? availableParallelism() * 4;
  const packs = verb === "up" || verb === "preview" ? await readPacks(options, cwd) : [];
  const { project, backend, stack, stackFile } = await choose(options);
  const exists = (await backend.read(stack)) !== undefined;
  if (!exists && (verb === "refresh" || verb === "destroy")) {
    throw await noSuchStack(project, backend, stack);
  }
  const inform = (severity: "info" | "warning", message: string): void =>
    onEvent({ kind: "diagnostic", severity, message, urn: undefined });
  const lock = preview ? undefined : await takeLock(backend, stack, (message) => inform("warning", message));
  let first: ProviderHost | undefined;
  let providers: Providers | undefined;
  let policies: Policies | undefined;
  try {
    const stored = await readStack(backend, stack);
    const crypters = await openCrypters(stored, stackFile, () => readPassphrase(env, cwd), preview);
    const config = applyConfig(project, stackFile, stack.name, crypters.config);
    const start = (): ProviderHost => startProvider(options, project, config, env, onEvent);
    // A host is slow to start, and does nothing before it is configured: meanwhile the state is decrypted.
    if (needsProvider(verb, stored)) first = start();
    if (packs.length > 0)
      policies = startPolicies(packs, { project: project.name, stack: stack.name, config, preview }, env, onEvent);
    const opened = await open({ backend, stack, stackFile, stored, crypters, preview });
    if (opened.created) inform("info", `Created stack '${stack.name}'`);
    if (opened.recovered !== undefined) inform("warning", opened.recovered);
    const { ledger, store, resources } = opened;
    onEvent({ kind: "start", preview, stack: stack.name, config });
    await policies?.load(options.signal);
    const execution = new Execution({ preview, parallel, ledger, store: preview ? undefined : store, emit: onEvent });
    const isCurrent = verb === "up" || verb === "preview";
    providers = new Providers({
      start,
      first,
      // Without the program there is no new configuration: resources are worked on with the one they were made with.
      defaultConfig: isCurrent ? providerConfig(config) : undefined,
      base: resources,
      onFailure: (error) => run.hostFailed(error),
      warn: (message, urn) => execution.diagnose("warning", message, urn),
    });
    const hosts = { providers, policies };
    const { knowledge = noKnowledge } = options;
    const about = { options, project, stack, env, parallel, config, knowledge };
    const run = new Run({ ...about, execution, store, resources, ...hosts });
    const { outputs, cancelled } = await run.execute(verb);
    const { steps, errors } = execution;
    const ok = errors.length === 0 && !cancelled;
    const durationMs = performance.now() - started;
    const summary = summarize(steps);
    if (!preview) {
      const kind = verb === "refresh" || verb === "destroy" ? verb : "update";
      try {
        keepHistory(backend, stack, { kind, durationMs, config, ok, changes: summary }, env);
      } catch (error) {
        inform("warning", `this run could not be added to the stack's history: ${messageOf(error)}`);
      }
    }
    const of = { verb, preview, project: project.name, stack: stack.name, config, durationMs };
    return { ...of, ok, cancelled, steps, summary, outputs, errors, policies: policies?.findings ?? noFindings };
  } finally {
    await Promise.all([(providers ?? first)?.stop(), policies?.stop()]);
    lock?.release();
  }
}

/** Decides whether the provider will be called. Without the program only resources in the state can need it. */
function needsProvider(verb: Verb, { checkpoint }: StoredStack): boolean {
  return (
    verb === "up" || verb === "preview" || checkpoint.resources.some(({ custom, type }) => custom && !isProvider(type))
  );
}

function startProvider(
  { startPlugin }: RunOptions,
  project: Project,
  config: Config,
  env: NodeJS.ProcessEnv,
  onEvent: (event: RunEvent) => void,
): ProviderHost {
  return new ProviderHost({
    folder: project.programFolder,
    env: { ...env, ...configEnvironment(config), PULUMI_PROJECT: project.name, PULUMI_NODEJS_PROJECT: project.name },
    startPlugin,
    onPrint: (message) => onEvent({ kind: "diagnostic", severity: "info", message, urn: undefined }),
    onMessage: ({ severity, text, urn }) => onEvent({ kind: "diagnostic", severity, message: text, urn }),
  });
}

function startPolicies(
  packs: readonly Pack[],
  run: PolicyRun,
  env: NodeJS.ProcessEnv,
  onEvent: (event: RunEvent) => void,
): Policies {
  return new Policies(packs, {
    env,
    run,
    applies: true,
    emit: onEvent,
    onOutput: (severity, message) => {
      if (severity !== "debug") onEvent({ kind: "diagnostic", severity, message, urn: undefined });
    },
  });
}

interface RunContext {
  readonly options: RunOptions;
  readonly project: Project;
  readonly stack: StackName;
  readonly env: NodeJS.ProcessEnv;
  readonly parallel: number;
  readonly config: Config;
  readonly knowledge: ProgramKnowledge;
  readonly execution: Execution;
  readonly store: StateStore;
  readonly resources: readonly ResourceState[];
  readonly providers: Providers;
  readonly policies: Policies | undefined;
}

/** The part of a run that has processes and a state in motion, and puts both in order at its end. */
class Run {
  readonly #context: RunContext;
  readonly #targets: Targets;
  #resources: readonly ResourceState[];
  #program: RunningProgram | undefined;
  #monitor: MonitorServer | undefined;
  #registrar: Registrar | undefined;
  #cancelled = false;
  #isOver = false;
  #undecided: readonly ResourceState[] = [];

  constructor(context: RunContext) {
    this.#context = context;
    this.#resources = context.resources;
    this.#targets = new Targets(context.options.targets ?? []);
  }

  async execute(verb: Verb): Promise<{ outputs: PropertyMap; cancelled: boolean }> {
    const { options, execution } = this.#context;
    const cancel = (): void => {
      this.#cancelled = true;
      execution.stop();
    };
    const kill = (): void => {
      this.#context.providers.kill();
      this.#context.policies?.kill();
      this.#program?.kill();
    };
    options.signal?.addEventListener("abort", cancel);
    options.killSignal?.addEventListener("abort", kill);
    if (options.signal?.aborted === true) cancel();
    try {
      await this.#work(verb);
    } catch (error) {
      execution.fail(error, undefined);
    } finally {
      options.signal?.removeEventListener("abort", cancel);
      try {
        await this.#settle();
      } finally {
        options.killSignal?.removeEventListener("abort", kill);
      }
    }
    return { outputs: this.#registrar?.stackOutputs ?? {}, cancelled: this.#cancelled };
  }

  async #work(verb: Verb): Promise<void> {
    const { options, execution, providers } = this.#context;
    this.#undecided = this.#undecidedCreates();
    this.#warnInterrupted();
    if (verb === "refresh") return await this.#refresh(verb);
    if (options.refresh === true) await this.#refresh(verb);
    if (execution.stopped || execution.errors.length > 0) return;
    if (verb === "destroy") {
      this.#refuseUnknownTargets();
      const condemned = limitDeletes(execution, this.#targets, this.#resources, this.#resources);
      await deleteAll(execution, providers, condemned, verb);
    } else await this.#runProgram();
  }

  async #refresh(verb: Verb): Promise<void> {
    const { execution, store, providers, options } = this.#context;
    this.#refuseUnknownTargets();
    const pairs = options.importPendingCreates ?? [];
    const { interrupted } = execution.ledger;
    const { resources, imported } = await importPendingCreates(pairs, interrupted, this.#resources, this.#context);
    const refreshed = await refreshAll(execution, providers, resources, this.#targets);
    this.#resources = refreshed.resources;
    if (verb !== "refresh") execution.steps.length = 0;
    if (!refreshed.changed && imported.length === 0) return;
    execution.ledger.rebase(refreshed.resources);
    for (const urn of imported) execution.ledger.settleCreate(urn);
    if (!execution.preview) await store.rewrite(execution.ledger);
  }

  #refuseUnknownTargets(): void {
    const [error] = this.#targets.unknown((target) => this.#resources.some(({ urn }) => urn === target));
    if (error !== undefined) throw error;
  }

  async #runProgram(): Promise<void> {
    const { options, project, stack, env, parallel, config, knowledge, execution, providers, policies } = this.#context;
    const registrar = new Registrar({
      stack: stack.name,
      project: project.name,
      execution,
      providers,
      config: providerConfig(config),
      policies,
      targets: this.#targets,
      base: this.#resources,
      undecided: this.#undecided,
      knowledge,
    });
    this.#registrar = registrar;
    execution.beginAfter(() => registrar.quiet());
    const monitor = new MonitorServer(registrar, project.root);
    this.#monitor = monitor;
    const about = { project, stack: stack.name, config, preview: execution.preview, parallel };
    if (options.inlineProgram === undefined) {
      const fault = entryPointFault(project);
      if (fault !== undefined) throw new EngineError("PROJECT_INVALID", `${fault.reason}. What to do: ${fault.advice}`);
      const onOutput = (severity: Severity, message: string): void => registrar.log(severity, message);
      this.#program = new ProgramHost({ ...about, monitorAddress: await monitor.start(), env, onOutput });
    } else {
      // It loads the whole SDK, which no other run needs in this process.
      const { InlineProgram } = await import("../hosts/inline-program.ts");
      this.#program = new InlineProgram(options.inlineProgram, { ...about, monitor: monitor.methods });
    }
    const end = await Promise.race([this.#program.ended, execution.whenStopped()]);
    if (end === undefined) return;
    const hasDeclaredAll = registrar.hasDeclaredAll();
    await registrar.settled();
    if (!end.ok && end.reported && registrar.loggedErrors.length > 0) execution.errors.push(...registrar.loggedErrors);
    else if (!end.ok) {
      const what = end.reported ? "the program failed; its own message stands above" : `the program ${end.description}`;
      execution.fail(new EngineError("PROGRAM_FAILED", what, { cause: end.cause }), undefined);
    } else if (!hasDeclaredAll) {
      const what =
        "the program ended early, by process.exit or the like. Nothing was deleted, because it may not have declared everything. What to do: let the program end by itself";
      execution.fail(new EngineError("PROGRAM_FAILED", what), undefined);
    }
    const isGood = (): boolean =>
      !execution.stopped && execution.errors.every(({ code }) => code === "POLICY_VIOLATED");
    if (isGood()) await registrar.deleteUnnamed();
    if (policies === undefined || !isGood()) return;
    registrar.finishOutputs(false);
    await registrar.reviewStack(policies);
  }

  /** Fails the run by a provider host. One that is ended before it was needed has not failed. */
  hostFailed(error: unknown): void {
    const { execution } = this.#context;
    if (!execution.stopped && !this.#isOver) execution.fail(error, undefined);
  }

  #undecidedCreates(): readonly ResourceState[] {
    const { execution, config, env, project, resources, knowledge } = this.#context;
    const ofStack = {
      config: (key: string) => config.get(key)?.text,
      environment: env,
      folder: project.programFolder,
    };
    const { interrupted } = execution.ledger;
    return undecidedCreates(interrupted, knowledge, (resource) => settingsFor(resource, resources, ofStack));
  }

  #warnInterrupted(): void {
    const { execution } = this.#context;
    const { interrupted } = execution.ledger;
    if (interrupted.length === 0 || execution.preview) return;
    const list = interrupted.map(({ resource, type }) => `  * ${resource.urn}, interrupted while ${type}\n`).join("");
    const next =
      this.#undecided.length > 0
        ? "A resource that was being created may exist without being in the state. Where nothing is known by which it could be looked up, preview and up stop before it: their error says what to do."
        : "This run goes on from there.";
    execution.diagnose(
      "warning",
      `an earlier run was interrupted during ${interrupted.length} operations:\n${list}${next}`,
    );
  }

  /** Lets what is under way end, writes the state, ends the processes. */
  async #settle(): Promise<void> {
    const { execution, options, store } = this.#context;
    this.#isOver = true;
    const failed = execution.errors.length > 0 || this.#cancelled;
    try {
      await this.#registrar?.settled();
      await execution.whenIdle();
      this.#registrar?.finishOutputs(failed);
      execution.ledger.clearInterrupted(options.clearPendingCreates === true && !failed);
      if (!execution.preview) await store.finish(execution.ledger);
    } catch (error) {
      execution.fail(error, undefined);
    } finally {
      // One that failed may have something to say still; after a cancellation nobody waits for it.
      await this.#program?.stop(this.#cancelled ? 500 : failed ? 3_000 : 10_000);
      this.#monitor?.stop();
    }
  }
}

/** Returns the stack's configuration as the default provider's inputs. */
export function providerConfig(config: Config): PropertyMap {
  return Object.fromEntries([...config].map(([key, { text, secret }]) => [key, secret ? new Secret(text) : text]));
}
