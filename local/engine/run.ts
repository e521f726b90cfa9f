import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { deleteAll } from "./deploy/deletes.ts";
import { Execution } from "./deploy/execution.ts";
import { refreshAll } from "./deploy/refresh.ts";
import { Registrar } from "./deploy/registrar.ts";
import { type ChangeSummary, hasChanges, type RunEvent, type Step, summarize } from "./deploy/step.ts";
import { EngineError } from "./errors.ts";
import { MonitorServer } from "./hosts/monitor-server.ts";
import { configEnvironment, ProgramHost } from "./hosts/program-host.ts";
import { ProviderHost } from "./hosts/provider-host.ts";
import { open, openCrypters } from "./open.ts";
import { chooseBackend, chooseStack, readPassphrase } from "./project/choice.ts";
import { type Project, readProject } from "./project/project.ts";
import { applyConfig, type Config, readStackFile } from "./project/stack-config.ts";
import type { StackName } from "./state/backend.ts";
import { keepHistory } from "./state/history.ts";
import { takeLock } from "./state/lock.ts";
import { isProvider, type ResourceState } from "./state/resource-state.ts";
import { readStack, type StateStore, type StoredStack } from "./state/store.ts";
import { type PropertyMap, Secret } from "./values/value.ts";

export type Verb = "preview" | "up" | "refresh" | "destroy";

export interface RunOptions {
  readonly verb: Verb;
  /** The project's folder, or one below it. Default: the working directory. */
  readonly cwd?: string | undefined;
  readonly stack?: string | undefined;
  /** A `file://` URL. */
  readonly backendUrl?: string | undefined;
  /** How many operations may be under way at once. Default: four times the number of processors. */
  readonly parallel?: number | undefined;
  /** Reads the resources first (`up`, `preview`, `destroy`). */
  readonly refresh?: boolean | undefined;
  /** Forgets the creates that an earlier run left open (`refresh`). */
  readonly clearPendingCreates?: boolean | undefined;
  /** Shows what `up`, `refresh` or `destroy` would do, and writes nothing. */
  readonly previewOnly?: boolean | undefined;
  /** Default: this process's environment. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Stops the run gently: nothing new begins, what is under way ends, state is written. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the children at once; the journal then holds what was done. */
  readonly killSignal?: AbortSignal | undefined;
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
}

/** How a run went. */
export interface RunResult {
  readonly verb: Verb;
  /** Whether this was a preview: nothing was done or written. */
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
  readonly durationMs: number;
}

/** The CLI's exit code for a run: 0 done, 1 failed or cancelled, 7 changes that were not expected. */
export function exitCodeOf({ ok, summary }: RunResult, expectNoChanges: boolean): number {
  if (!ok) return 1;
  return expectNoChanges && hasChanges(summary) ? 7 : 0;
}

/**
 * Runs one verb on one stack. Throws an `EngineError` when the run cannot begin (a bad call, a broken file, a lock, a
 * wrong passphrase, no such stack); everything that goes wrong later is in the result.
 */
export async function runEngine(options: RunOptions): Promise<RunResult> {
  const started = performance.now();
  const { verb, env = process.env, onEvent = () => {} } = options;
  const cwd = resolve(options.cwd ?? process.cwd());
  const preview = verb === "preview" || options.previewOnly === true;
  const parallel = options.parallel ?? availableParallelism() * 4;
  const project = await readProject(cwd);
  const backend = await chooseBackend(project, options.backendUrl, env, cwd);
  const stack = await chooseStack(project, backend, options.stack, env);
  const stackFile = await readStackFile(project, stack.name);
  const exists = (await backend.read(stack)) !== undefined;
  if (!exists && (verb === "refresh" || verb === "destroy")) {
    throw new EngineError(
      "STACK_NOT_FOUND",
      `there is no stack ${stack.name} of project ${project.name} in ${backend.folder}`,
    );
  }
  const inform = (severity: "info" | "warning", message: string): void =>
    onEvent({ kind: "diagnostic", severity, message, urn: undefined });
  const lock = preview ? undefined : await takeLock(backend, stack, (message) => inform("warning", message));
  let provider: ProviderHost | undefined;
  try {
    const stored = await readStack(backend, stack);
    const crypters = await openCrypters(stored, stackFile, () => readPassphrase(env, cwd), preview);
    const config = applyConfig(project, stackFile, stack.name, crypters.config);
    // It is slow to start, and does nothing before it is configured: meanwhile the state is decrypted.
    if (needsProvider(verb, stored)) provider = startProvider(project, config, env, onEvent);
    const opened = await open({ backend, stack, stackFile, stored, crypters, preview });
    if (opened.created) inform("info", `Created stack '${stack.name}'`);
    if (opened.recovered !== undefined) inform("warning", opened.recovered);
    const { ledger, store, resources } = opened;
    onEvent({ kind: "start", preview, stack: stack.name, config });
    const execution = new Execution({ preview, parallel, ledger, store: preview ? undefined : store, emit: onEvent });
    const run = new Run({ options, project, stack, env, parallel, config, execution, store, resources, provider });
    const { outputs, cancelled } = await run.execute(verb);
    const { steps, errors } = execution;
    const ok = errors.length === 0 && !cancelled;
    const durationMs = performance.now() - started;
    const summary = summarize(steps);
    if (!preview) {
      const kind = verb === "refresh" || verb === "destroy" ? verb : "update";
      keepHistory(backend, stack, { kind, durationMs, config, ok, changes: summary }, env);
    }
    const about = { verb, preview, project: project.name, stack: stack.name, config, durationMs };
    return { ...about, ok, cancelled, steps, summary, outputs, errors };
  } finally {
    await provider?.stop();
    lock?.release();
  }
}

/** Whether anything will be asked of the provider: without the program only what is in state can be. */
function needsProvider(verb: Verb, { checkpoint }: StoredStack): boolean {
  return (
    verb === "up" || verb === "preview" || checkpoint.resources.some(({ custom, type }) => custom && !isProvider(type))
  );
}

function startProvider(
  project: Project,
  config: Config,
  env: NodeJS.ProcessEnv,
  onEvent: (event: RunEvent) => void,
): ProviderHost {
  return new ProviderHost({
    folder: project.programFolder,
    env: { ...env, ...configEnvironment(config), PULUMI_PROJECT: project.name, PULUMI_NODEJS_PROJECT: project.name },
    onPrint: (message) => onEvent({ kind: "diagnostic", severity: "info", message, urn: undefined }),
    onMessage: ({ text, urn }) => onEvent({ kind: "diagnostic", severity: "warning", message: text, urn }),
  });
}

interface RunContext {
  readonly options: RunOptions;
  readonly project: Project;
  readonly stack: StackName;
  readonly env: NodeJS.ProcessEnv;
  readonly parallel: number;
  readonly config: Config;
  readonly execution: Execution;
  readonly store: StateStore;
  readonly resources: readonly ResourceState[];
  readonly provider: ProviderHost | undefined;
}

/** The part of a run that has processes and a state in motion, and puts both in order at its end. */
class Run {
  readonly #context: RunContext;
  #resources: readonly ResourceState[];
  #isConfigured = false;
  #program: ProgramHost | undefined;
  #monitor: MonitorServer | undefined;
  #registrar: Registrar | undefined;
  #cancelled = false;
  #isOver = false;

  constructor(context: RunContext) {
    this.#context = context;
    this.#resources = context.resources;
  }

  async execute(verb: Verb): Promise<{ outputs: PropertyMap; cancelled: boolean }> {
    const { options, execution } = this.#context;
    const cancel = (): void => {
      this.#cancelled = true;
      execution.stop();
    };
    const kill = (): void => {
      this.#context.provider?.kill();
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
    const { options, execution } = this.#context;
    this.#warnInterrupted();
    if (verb === "refresh") return await this.#refresh(verb);
    if (options.refresh === true) await this.#refresh(verb);
    if (execution.stopped || execution.errors.length > 0) return;
    if (verb === "destroy") await deleteAll(execution, () => this.#configured(false), this.#resources);
    else await this.#runProgram();
  }

  async #refresh(verb: Verb): Promise<void> {
    const { execution, store } = this.#context;
    const refreshed = await refreshAll(
      execution,
      () => this.#configured(verb === "up" || verb === "preview"),
      this.#resources,
    );
    this.#resources = refreshed.resources;
    if (verb !== "refresh") execution.steps.length = 0;
    if (!refreshed.changed) return;
    execution.ledger.rebase(refreshed.resources);
    if (!execution.preview) store.rewrite(execution.ledger);
  }

  async #runProgram(): Promise<void> {
    const { project, stack, env, parallel, config, execution } = this.#context;
    const provider = this.#configured(true);
    const registrar = new Registrar({
      stack: stack.name,
      project: project.name,
      execution,
      provider,
      config: providerConfig(config),
      base: this.#resources,
    });
    this.#registrar = registrar;
    execution.beginAfter(() => registrar.quiet());
    this.#monitor = new MonitorServer(registrar, project.root);
    const monitorAddress = await this.#monitor.start();
    this.#program = new ProgramHost({
      project,
      stack: stack.name,
      config,
      monitorAddress,
      preview: execution.preview,
      parallel,
      env,
      onOutput: (severity, message) => registrar.log(severity, message),
    });
    const end = await Promise.race([this.#program.ended, execution.whenStopped()]);
    if (end === undefined) return;
    await registrar.settled();
    if (!end.ok && end.reported && registrar.loggedErrors.length > 0) execution.errors.push(...registrar.loggedErrors);
    else if (!end.ok) {
      const what = end.reported ? "the program failed; it says above why" : `the program ended with ${end.description}`;
      execution.fail(new EngineError("PROGRAM_FAILED", what), undefined);
    } else if (!registrar.isProgramDone) {
      const what =
        "the program left before its end, by process.exit or the like: nothing was deleted, for it may not have declared everything. Let it end by itself";
      execution.fail(new EngineError("PROGRAM_FAILED", what), undefined);
    }
    if (execution.errors.length === 0 && !execution.stopped) await registrar.deleteUnnamed();
  }

  /** The provider host, configured when it is first needed. It gets the configuration that the CLI would give it. */
  #configured(current: boolean): ProviderHost {
    const { provider, config, execution } = this.#context;
    if (provider === undefined) throw new EngineError("FAILED", "there is a resource to work on, but no provider host");
    if (this.#isConfigured) return provider;
    this.#isConfigured = true;
    // Without the program there is no new configuration: resources are read and deleted with the one they were made with.
    const stored = this.#resources.find(({ type }) => isProvider(type))?.inputs;
    provider.configure(current || stored === undefined ? providerConfig(config) : stored).catch((error: unknown) => {
      // A host that is ended before it was needed has not failed.
      if (!execution.stopped && !this.#isOver) execution.fail(error, undefined);
    });
    return provider;
  }

  #warnInterrupted(): void {
    const { execution } = this.#context;
    const { interrupted } = execution.ledger;
    if (interrupted.length === 0 || execution.preview) return;
    const creating = interrupted.some(({ type }) => type === "creating");
    const meaning = creating
      ? "A resource that was being created may exist without being in the state. Where the provider can tell, its error says how to take it over; where it cannot, look for it and delete it. "
      : "";
    const next = creating
      ? "When that is settled, forget it: refresh --clear-pending-creates."
      : "This run goes on from there.";
    const list = interrupted.map(({ resource, type }) => `  * ${resource.urn}, interrupted while ${type}\n`).join("");
    execution.diagnose(
      "warning",
      `an earlier run was interrupted during ${interrupted.length} operations:\n${list}${meaning}${next}`,
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
      if (!execution.preview) store.finish(execution.ledger);
    } finally {
      // One that failed may have something to say still; after a cancellation nobody waits for it.
      await this.#program?.stop(this.#cancelled ? 500 : failed ? 3_000 : 10_000);
      this.#monitor?.stop();
    }
  }
}

/** The stack's configuration as the default provider's inputs. */
export function providerConfig(config: Config): PropertyMap {
  return Object.fromEntries([...config].map(([key, { text, secret }]) => [key, secret ? new Secret(text) : text]));
}
