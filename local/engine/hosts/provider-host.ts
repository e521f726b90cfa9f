import * as grpc from "@grpc/grpc-js";
import providerServices from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import type { DiffResponse } from "@pulumi/pulumi/proto/provider_pb.js";
import providerMessages from "@pulumi/pulumi/proto/provider_pb.js";
import statusMessages from "@pulumi/pulumi/proto/status_pb.js";
import { parseUrn } from "../deploy/urn.ts";
import { EngineError } from "../errors.ts";
import { annotateSecrets, containsUnknown, type PropertyMap } from "../values/value.ts";
import { fromWire, toProgram, toProvider, toWire, type WireOptions } from "../values/wire.ts";
import { Child, type ChildExit, resolveSdkModule } from "./child.ts";
import { Gate } from "./gate.ts";
import { channelOptions } from "./grpc.ts";
import { wholeError } from "./large-errors.ts";
import type { Message } from "./messages.ts";
import { readStruct, writeStruct } from "./monitor-server.ts";
import { StderrFilter } from "./stderr.ts";

export interface ProviderHostOptions {
  /** The program's folder: the host runs there, with the SDK that is installed for it. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** What the host prints to stdout, line by line. */
  readonly onPrint: (line: string) => void;
  /** What the provider says, message by message. */
  readonly onMessage: (message: Message) => void;
}

/** What a create, update or read gave. `reasons` is set when the resource exists, but something about it failed. */
export interface Outcome {
  readonly id: string;
  readonly outputs: PropertyMap;
  readonly inputs: PropertyMap | undefined;
  readonly failed: { readonly message: string; readonly reasons: string[] } | undefined;
}

/** What a diff says; `changes` is undefined when the provider leaves it to the engine to compare. */
export interface ProviderDiff {
  readonly changes: boolean | undefined;
  readonly replaceKeys: string[];
  readonly changedKeys: string[];
  readonly deleteBeforeReplace: boolean;
}

export interface CheckFailure {
  readonly property: string;
  readonly reason: string;
}

const service = providerServices.ResourceProviderService;
const startTimeoutMs = 120_000;

/** Check and diff do no I/O: more of them under way at once would only take memory. */
const maxPureCalls = 32;

/**
 * The dynamic provider host of the Pulumi SDK, one process for one run. It knows neither secrets nor references: they
 * go to it plain, and what comes back is marked secret where the input of the same key was.
 */
export class ProviderHost {
  readonly #child: Child;
  readonly #ready: Promise<grpc.Client>;
  readonly #pure = new Gate(maxPureCalls);
  #client: grpc.Client | undefined;
  #exit: ChildExit | undefined;

  constructor(options: ProviderHostOptions) {
    const { folder, env, onPrint, onMessage } = options;
    const stderr = new StderrFilter(onMessage);
    let portText = "";
    let onPort: ((port: number) => void) | undefined;
    const port = new Promise<number>((resolve) => {
      onPort = resolve;
    });
    this.#child = new Child(resolveSdkModule("cmd/dynamic-provider", folder), ["127.0.0.1:0"], {
      cwd: folder,
      env,
      onStdout: (text) => {
        if (onPort === undefined) return printLines(text, onPrint);
        portText += text;
        const [first, ...rest] = portText.split("\n");
        if (rest.length === 0) return;
        onPort(Number(first));
        onPort = undefined;
        printLines(rest.join("\n"), onPrint);
      },
      onStderr: (text) => stderr.push(text),
    });
    const ended = this.#child.exited.then((exit) => {
      this.#exit = exit;
      stderr.end();
      throw new EngineError("PROVIDER_FAILED", `the provider host ended before it was ready (${describeExit(exit)})`);
    });
    const late = timeout(startTimeoutMs, `the provider host was not ready within ${startTimeoutMs / 1000} s`);
    this.#ready = Promise.race([port, ended, late.promise])
      .then((number) => {
        this.#client = new grpc.Client(`127.0.0.1:${number}`, grpc.credentials.createInsecure(), channelOptions);
        return this.#client;
      })
      .finally(() => late.clear());
    for (const promise of [ended, this.#ready]) promise.catch(() => {});
  }

  /** Hands the stack's configuration over; every later call waits for it. */
  async configure(config: PropertyMap): Promise<void> {
    const request = new providerMessages.ConfigureRequest()
      .setAcceptsecrets(true)
      .setAcceptresources(true)
      .setArgs(writeStruct(toWire(config, toProgram)));
    await this.#call("configure", "the provider", service.configure, request);
  }

  async check(
    urn: string,
    olds: PropertyMap,
    news: PropertyMap,
    preview: boolean,
  ): Promise<{ inputs: PropertyMap; failures: CheckFailure[] }> {
    const options = toProvider(preview);
    const request = new providerMessages.CheckRequest().setOlds(struct(olds, options)).setNews(struct(news, options));
    const response = await this.#pure.pass(() => this.#call("check", urn, service.check, named(request, urn)));
    const inputs = fromWire(readStruct(response.getInputs()));
    rejectUnknowns(inputs, preview, urn);
    return {
      inputs: annotateSecrets(inputs, news),
      failures: response
        .getFailuresList()
        .map((failure) => ({ property: failure.getProperty(), reason: failure.getReason() })),
    };
  }

  async diff(
    urn: string,
    id: string,
    old: { inputs: PropertyMap; outputs: PropertyMap },
    inputs: PropertyMap,
    options: { preview: boolean; ignoreChanges: readonly string[] },
  ): Promise<ProviderDiff> {
    const wire = toProvider(options.preview);
    const request = new providerMessages.DiffRequest()
      .setId(id)
      .setOlds(struct(old.outputs, wire))
      .setOldInputs(struct(old.inputs, wire))
      .setNews(struct(inputs, wire))
      .setIgnorechangesList([...options.ignoreChanges]);
    return readDiff(await this.#pure.pass(() => this.#call("diff", urn, service.diff, named(request, urn))));
  }

  async create(urn: string, inputs: PropertyMap, timeoutSeconds: number): Promise<Outcome> {
    const request = new providerMessages.CreateRequest()
      .setProperties(struct(inputs, toProvider(false)))
      .setTimeout(timeoutSeconds);
    const outcome = await this.#outcome("create", urn, service.create, named(request, urn), {
      inputs,
      outputs: inputs,
    });
    if (outcome.id === "")
      throw new EngineError("FAILED", `the provider created ${parseUrn(urn).name}, but gave no id for it`, { urn });
    return outcome;
  }

  async read(
    urn: string,
    id: string,
    state: { inputs: PropertyMap; outputs: PropertyMap },
    timeoutSeconds: number,
  ): Promise<Outcome> {
    const wire = toProvider(false);
    const request = new providerMessages.ReadRequest()
      .setId(id)
      .setProperties(struct(state.outputs, wire))
      .setInputs(struct(state.inputs, wire))
      .setTimeout(timeoutSeconds);
    return await this.#outcome("read", urn, service.read, named(request, urn), state);
  }

  async update(
    urn: string,
    id: string,
    old: { inputs: PropertyMap; outputs: PropertyMap },
    inputs: PropertyMap,
    ignoreChanges: readonly string[],
    timeoutSeconds: number,
  ): Promise<Outcome> {
    const wire = toProvider(false);
    const request = new providerMessages.UpdateRequest()
      .setId(id)
      .setOlds(struct(old.outputs, wire))
      .setOldInputs(struct(old.inputs, wire))
      .setNews(struct(inputs, wire))
      .setIgnorechangesList([...ignoreChanges])
      .setTimeout(timeoutSeconds);
    return await this.#outcome("update", urn, service.update, named(request, urn), { inputs, outputs: inputs });
  }

  async delete(
    urn: string,
    id: string,
    state: { inputs: PropertyMap; outputs: PropertyMap },
    timeoutSeconds: number,
  ): Promise<void> {
    const wire = toProvider(false);
    const request = new providerMessages.DeleteRequest()
      .setId(id)
      .setProperties(struct(state.outputs, wire))
      .setOldInputs(struct(state.inputs, wire))
      .setTimeout(timeoutSeconds);
    await this.#call("delete", urn, service.delete, named(request, urn));
  }

  /** Ends the process. What it prints until then is still passed on. */
  async stop(): Promise<void> {
    this.#client?.close();
    await this.#child.end(2_000);
  }

  kill(): void {
    this.#child.kill();
  }

  /** A call whose error may say that the resource exists all the same, and what is known of it. */
  async #outcome<Request, Response extends OutcomeMessage>(
    verb: string,
    urn: string,
    method: grpc.MethodDefinition<Request, Response>,
    request: Request,
    secrets: { inputs: PropertyMap; outputs: PropertyMap },
  ): Promise<Outcome> {
    let message: OutcomeMessage;
    let failed: Outcome["failed"];
    try {
      message = await this.#call(verb, urn, method, request);
    } catch (error) {
      const partial = error instanceof ProviderCallError ? error.partial() : undefined;
      if (partial === undefined || !(error instanceof Error)) throw error;
      message = partial;
      failed = {
        message: error.message,
        reasons: partial.getReasonsList().length > 0 ? partial.getReasonsList() : [error.message],
      };
    }
    const outputs = fromWire(readStruct(message.getProperties()));
    const live = message.getInputs?.();
    const inputs = live === undefined ? undefined : fromWire(readStruct(live));
    for (const map of [outputs, inputs ?? {}]) rejectUnknowns(map, false, urn);
    return {
      id: message.getId?.() ?? "",
      outputs: annotateSecrets(outputs, secrets.outputs),
      inputs: inputs === undefined ? undefined : annotateSecrets(inputs, secrets.inputs),
      failed,
    };
  }

  async #call<Request, Response>(
    verb: string,
    urn: string,
    method: grpc.MethodDefinition<Request, Response>,
    request: Request,
  ): Promise<Response> {
    const client = await this.#ready;
    return await new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        (error, response) => {
          if (error === null && response !== undefined) resolve(response);
          else if (error === null)
            reject(new EngineError("PROVIDER_FAILED", `the provider gave no answer to ${verb}`, { urn }));
          else if (error.code === grpc.status.UNAVAILABLE || error.code === grpc.status.CANCELLED)
            this.#lost(verb, urn).then(reject, reject);
          else reject(new ProviderCallError(error));
        },
      );
    });
  }

  /** The connection is gone; the process is, too, or will be in a moment. */
  async #lost(verb: string, urn: string): Promise<EngineError> {
    const moment = timeout(1_000, "");
    await Promise.race([this.#child.exited, moment.promise]).catch(() => {});
    moment.clear();
    const how = this.#exit === undefined ? "it no longer answers" : describeExit(this.#exit);
    const name = urn.startsWith("urn:") ? ` of ${parseUrn(urn).name}` : "";
    return new EngineError(
      "PROVIDER_FAILED",
      `the provider host ended during the ${verb}${name} (${how}): whether that took effect is not known`,
      { urn },
    );
  }
}

interface OutcomeMessage {
  getProperties(): { toJavaScript(): unknown } | undefined;
  getId?(): string;
  getInputs?(): { toJavaScript(): unknown } | undefined;
}

/** An error that the provider returned; the message is the provider's own. */
export class ProviderCallError extends Error {
  readonly #details: Buffer | undefined;

  constructor(error: grpc.ServiceError) {
    const { message, details } = wholeError(error);
    super(message);
    this.#details = details;
  }

  /** What is known of the resource, when the error says that it exists. */
  partial() {
    if (this.#details === undefined) return undefined;
    const details = statusMessages.Status.deserializeBinary(this.#details).getDetailsList();
    const found = details.find((detail) => detail.getTypeUrl().endsWith("pulumirpc.ErrorResourceInitFailed"));
    return found === undefined
      ? undefined
      : providerMessages.ErrorResourceInitFailed.deserializeBinary(found.getValue_asU8());
  }
}

function readDiff(response: DiffResponse): ProviderDiff {
  const { DIFF_SOME, DIFF_NONE } = providerMessages.DiffResponse.DiffChanges;
  const changes = response.getChanges();
  return {
    changes: changes === DIFF_SOME ? true : changes === DIFF_NONE ? false : undefined,
    replaceKeys: response.getReplacesList(),
    changedKeys: response.getDiffsList(),
    deleteBeforeReplace: response.getDeletebeforereplace(),
  };
}

function struct(map: PropertyMap, options: WireOptions) {
  return writeStruct(toWire(map, options));
}

interface Named<T> {
  setUrn(urn: string): T;
  setName(name: string): T;
  setType(type: string): T;
}

function named<T extends Named<T>>(request: T, urn: string): T {
  const { name, type } = parseUrn(urn);
  return request.setUrn(urn).setName(name).setType(type);
}

function rejectUnknowns(map: PropertyMap, preview: boolean, urn: string): void {
  if (!preview && containsUnknown(map))
    throw new EngineError("FAILED", "the provider returned a value that is not known outside of a preview", { urn });
}

function describeExit({ code, signal }: ChildExit): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}

function printLines(text: string, print: (line: string) => void): void {
  for (const line of text.split("\n")) if (line.trim() !== "") print(line);
}

function timeout(ms: number, message: string): { promise: Promise<never>; clear: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const promise = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new EngineError("PROVIDER_FAILED", message)), ms);
  });
  return { promise, clear: () => clearTimeout(timer) };
}
