import { setImmediate as turn } from "node:timers/promises";
import { setAllConfig } from "@pulumi/pulumi/runtime/config.js";
import { disconnect, resetOptions } from "@pulumi/pulumi/runtime/settings.js";
import { runInPulumiStack } from "@pulumi/pulumi/runtime/stack.js";
import * as sdkState from "@pulumi/pulumi/runtime/state.js";
import { EngineError, messageOf } from "../../../stack/errors.ts";
import { secretKeysOf, textsOf } from "../../../stack/project/stack-config.ts";
import type { ProgramEnd, ProgramRun, RunningProgram } from "./program-host.ts";
import { isMethod, type Method } from "./served-methods.ts";

interface InlineOptions extends ProgramRun {
  /** The methods of the service that the program registers its resources with, by name. */
  readonly monitor: { readonly [name: string]: unknown };
}

/** The programs that run now in this process. */
const running = new Set<InlineProgram>();

/**
 * Fails the program whose promise rejects where nobody waits for it: an input of a resource, or what an `apply` throws. The
 * resource is then never registered, and to the engine it is as if the program no longer had it. Where it cannot be told
 * whose the promise is, every program that runs now fails.
 */
function hearRejection(reason: unknown): void {
  const store = stateOfSdk().getLocalStore();
  const owners = [...running].filter((program) => program.store === store);
  for (const program of owners.length === 0 ? running : owners) program.fail(reason);
}

/**
 * A program that is a function, run in this process as Pulumi's Automation API runs one: with a store of the SDK's own
 * settings that only this run sees, so that several runs go on side by side.
 *
 * Once the run has failed, the program gets no response any more, and it is forgotten. To respond with errors would
 * leave promises in it that reject and that nobody waits for, and these would fail the test that runs it.
 */
export class InlineProgram implements RunningProgram {
  readonly ended: Promise<ProgramEnd>;
  /** The SDK's own store of this run. */
  store: unknown;
  readonly #end = Promise.withResolvers<ProgramEnd>();
  #isOver = false;

  constructor(program: () => unknown, options: InlineOptions) {
    this.ended = this.#end.promise;
    if (running.size === 0) process.on("unhandledRejection", hearRejection);
    running.add(this);
    const { withLocalStorage } = stateOfSdk();
    withLocalStorage(() => this.#run(program, options)).then(
      () => this.#finish({ ok: true, reported: false, description: "came to its end" }),
      (error: unknown) => this.fail(error),
    );
  }

  /** Gives the program up for an error of its own. */
  fail(error: unknown): void {
    this.#finish({ ok: false, reported: false, description: `failed: ${messageOf(error)}`, cause: error });
  }

  /** Forgets the program: a function cannot be ended. */
  async stop(): Promise<void> {
    this.kill();
  }

  kill(): void {
    this.#finish({ ok: false, reported: false, description: "was given up" });
  }

  async #run(
    program: () => unknown,
    { project, stack, config, preview, parallel, monitor }: InlineOptions,
  ): Promise<void> {
    resetOptions(project.name, stack, parallel, "", "in this process", preview, "organization");
    const store = stateOfSdk().getStore();
    this.store = store;
    store.settings.monitor = this.#client(monitor);
    setAllConfig(textsOf(config), secretKeysOf(config));
    const never = new Promise<never>(() => {});
    const caught = async () => {
      try {
        return await program();
      } catch (error) {
        this.fail(error);
        return await never;
      }
    };
    await runInPulumiStack(caught);
    await disconnect(true);
    // Node tells of a promise that rejected once it has nothing else to do.
    await turn();
  }

  /** Makes an object that the SDK takes for the client of a server. It calls the server's methods in this process. */
  #client(monitor: InlineOptions["monitor"]): { readonly [name: string]: unknown } {
    const calls = Object.entries(monitor).flatMap(([name, method]) =>
      isMethod(method) ? [[name, (request: unknown, respond: Respond) => this.#call(method, request, respond)]] : [],
    );
    return { ...Object.fromEntries(calls), close: () => {} };
  }

  #call(method: Method, request: unknown, respond: Respond): void {
    method({ request }, (error, response) => {
      if (this.#isOver) return;
      if (error) this.fail(error);
      else respond(null, response);
    });
  }

  #finish(end: ProgramEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#end.resolve(end);
    // One error makes many promises reject.
    setImmediate(() => {
      running.delete(this);
      if (running.size === 0) process.off("unhandledRejection", hearRejection);
    });
  }
}

type Respond = (error: null, response: unknown) => void;

/** The SDK's state of a run. Its types are the SDK's own, but Automation API and all releases of the SDK share it. */
interface SdkState {
  withLocalStorage(run: () => Promise<void>): Promise<void>;
  getLocalStore(): unknown;
  getStore(): { readonly settings: { monitor: unknown } };
}

function stateOfSdk(): SdkState {
  const state: unknown = sdkState;
  if (isSdkState(state)) return state;
  throw new EngineError(
    "UNSUPPORTED",
    "this version of @pulumi/pulumi cannot run a function as a program. What to do: put the program into a file, and give its path",
  );
}

function isSdkState(state: unknown): state is SdkState {
  const { withLocalStorage, getLocalStore, getStore }: { [name: string]: unknown } = Object(state);
  return [withLocalStorage, getLocalStore, getStore].every((each) => typeof each === "function");
}
