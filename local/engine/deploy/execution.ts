import { EngineError, messageOf, RunIsOver } from "../../../stack/errors.ts";
import type { Ledger } from "../../../stack/state/ledger.ts";
import type { OperationType } from "../../../stack/state/resource-state.ts";
import type { StateStore } from "../../../stack/state/store.ts";
import { isHiddenProvider } from "../../../stack/state/urn.ts";
import type { RunEvent, Step } from "./step.ts";

interface ExecutionOptions {
  readonly preview: boolean;
  readonly parallel: number;
  readonly ledger: Ledger;
  /** Absent in a preview, which writes nothing. */
  readonly store: StateStore | undefined;
  readonly emit: (event: RunEvent) => void;
}

/**
 * The steps of one run: at most `parallel` at a time, all of them noted, and none begun any more once one has failed or
 * the run was cancelled. What is under way then comes to its end.
 */
export class Execution {
  readonly preview: boolean;
  readonly ledger: Ledger;
  readonly steps: Step[] = [];
  readonly errors: EngineError[] = [];
  readonly #parallel: number;
  readonly #store: StateStore | undefined;
  readonly #emit: (event: RunEvent) => void;
  readonly #waiting: (() => void)[] = [];
  readonly #stop = Promise.withResolvers<void>();
  readonly #onIdle: (() => void)[] = [];
  #readiness: () => Promise<void> = () => Promise.resolve();
  #ready: Promise<void> | undefined;
  #running = 0;
  #stopped = false;

  constructor(options: ExecutionOptions) {
    this.preview = options.preview;
    this.ledger = options.ledger;
    this.#parallel = options.parallel;
    this.#store = options.store;
    this.#emit = options.emit;
  }

  /** Sets the check that the first work of the run waits for, so that a run is refused before it does anything. */
  beginAfter(readiness: () => Promise<void>): void {
    this.#readiness = readiness;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Begins nothing more, and lets everyone who waits for a turn go. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    for (const tell of this.#waiting.splice(0)) tell();
    this.#stop.resolve();
  }

  /** Resolves when the run is stopped, at once if it is already. */
  whenStopped(): Promise<void> {
    return this.#stop.promise;
  }

  /** Resolves when no step is under way. */
  whenIdle(): Promise<void> {
    return this.#running === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** Notes an error and stops the run, or lets it go on where the error is about one resource only. */
  fail(error: unknown, urn: string | undefined, goOn = false): void {
    if (error instanceof RunIsOver) return;
    const known =
      error instanceof EngineError ? error : new EngineError("FAILED", messageOf(error), { urn, cause: error });
    this.errors.push(known);
    // A violation of a policy has been told as that.
    if (known.code !== "POLICY_VIOLATED") this.diagnose("error", known.message, known.urn ?? urn);
    if (!goOn) this.stop();
  }

  diagnose(severity: "info" | "warning" | "error", message: string, urn?: string): void {
    this.#emit({ kind: "diagnostic", severity, message, urn });
  }

  /** Notes a step that needs no work. */
  note(step: Step): void {
    this.#done(step);
    this.#tell(step, false);
  }

  /** Notes a step that was begun and failed. */
  noteFailed(step: Step): void {
    this.#tell(step, true);
  }

  #tell(step: Step, failed: boolean): void {
    this.#emitStep({ kind: "step", step, preview: this.preview });
    if (!this.preview) this.#emitStep({ kind: "done", step, failed, durationMs: 0 });
  }

  #done(step: Step): void {
    if (!isHiddenProvider(step.urn)) this.steps.push(step);
  }

  #emitStep(event: Extract<RunEvent, { step: Step }>): void {
    if (!isHiddenProvider(event.step.urn)) this.#emit(event);
  }

  /** Carries out a step when its turn comes, and notes its beginning and end. In a preview there is no work. */
  async run(step: Step, work: () => Promise<void>): Promise<void> {
    if (this.preview) return this.note(step);
    this.#ready ??= this.#readiness();
    await this.#ready;
    await this.turn(async () => {
      this.#emitStep({ kind: "step", step, preview: false });
      const started = performance.now();
      let failed = true;
      try {
        await work();
        failed = false;
        this.#done(step);
      } finally {
        this.#emitStep({ kind: "done", step, failed, durationMs: performance.now() - started });
      }
    });
  }

  /** Waits for a turn among the parallel steps, and takes it. Throws `RunIsOver` when the run has stopped meanwhile. */
  async turn<T>(work: () => Promise<T>): Promise<T> {
    while (this.#running >= this.#parallel && !this.#stopped)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#stopped) throw new RunIsOver();
    this.#running++;
    try {
      return await work();
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
      if (this.#running === 0) for (const tell of this.#onIdle.splice(0)) tell();
    }
  }

  /** Writes what happened before anything else happens: a killed process loses nothing of it. */
  save(): void {
    this.#store?.save(this.ledger);
  }

  /** Writes as `save`, and waits until it is on the disk: a power failure does not lose it either. `begins` is what begins now. */
  async commit(begins?: OperationType): Promise<void> {
    await this.#store?.commit(this.ledger, begins);
  }
}
