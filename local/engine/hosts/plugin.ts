import { setTimeout as sleep } from "node:timers/promises";
import * as grpc from "@grpc/grpc-js";
import { Child, type ChildExit, type OnLines } from "./child.ts";
import { channelOptions } from "./grpc.ts";

export interface PluginOptions {
  readonly script: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Gets its stdout, line by line, without the port. */
  readonly onPrint: (line: string) => void;
  readonly onStderr: OnLines;
  /** After its last line. */
  readonly onEnd: () => void;
  /** The error of a start that failed; `how` goes on after the plugin's name: `ended before it was ready (exit code 1)`. */
  readonly startError: (how: string) => Error;
}

/** The errors of one call. `how` says what became of the plugin: `exit code 1`. */
interface CallErrors {
  readonly lost: (how: string) => Error;
  readonly returned: (error: grpc.ServiceError) => Error;
}

const startTimeoutMs = 120_000;

/** A process that serves gRPC, and says on which port by the first line that is a number. It never outlives this process. */
export class Plugin {
  readonly #child: Child;
  readonly #client: Promise<grpc.Client>;
  #open: grpc.Client | undefined;
  #exit: ChildExit | undefined;

  constructor({ script, args, cwd, env, onPrint, onStderr, onEnd, startError }: PluginOptions) {
    const port = Promise.withResolvers<string>();
    let isStarted = false;
    this.#child = new Child(script, args, {
      cwd,
      env,
      onStdout: (lines) => {
        for (const line of lines) {
          if (!isStarted && /^\d+$/.test(line)) {
            isStarted = true;
            port.resolve(line);
          } else if (line.trim() !== "") onPrint(line);
        }
      },
      onStderr,
    });
    const ended = this.#child.exited.then((exit) => {
      this.#exit = exit;
      onEnd();
      throw startError(`ended before it was ready (${describeExit(exit)})`);
    });
    const late = sleep(startTimeoutMs, undefined, { ref: false }).then(() => {
      throw startError(`was not ready within ${startTimeoutMs / 1000} s`);
    });
    this.#client = Promise.race([port.promise, ended, late]).then((number) => {
      this.#open = new grpc.Client(`127.0.0.1:${number}`, grpc.credentials.createInsecure(), channelOptions);
      return this.#open;
    });
    for (const promise of [ended, this.#client]) promise.catch(() => {});
  }

  async call<Request, Response>(
    method: grpc.MethodDefinition<Request, Response>,
    request: Request,
    { lost, returned }: CallErrors,
  ): Promise<Response> {
    const client = await this.#client;
    return await new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        (error, response) => {
          if (error === null && response !== undefined) resolve(response);
          else if (error === null) reject(lost("it gave no answer"));
          else if (error.code === grpc.status.UNAVAILABLE || error.code === grpc.status.CANCELLED)
            this.#fate().then((how) => reject(lost(how)));
          else reject(returned(error));
        },
      );
    });
  }

  /** Ends the process. What it prints until then is still passed on. */
  async stop(): Promise<void> {
    this.#open?.close();
    await this.#child.end(2_000);
  }

  kill(): void {
    this.#child.kill();
  }

  /** Says what became of the process, whose connection is gone: it is gone, too, or will be in a moment. */
  async #fate(): Promise<string> {
    await Promise.race([this.#child.exited, sleep(1_000, undefined, { ref: false })]).catch(() => {});
    return this.#exit === undefined ? "it no longer answers" : describeExit(this.#exit);
  }
}

function describeExit({ code, signal }: ChildExit): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}
