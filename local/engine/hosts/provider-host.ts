import { setTimeout as sleep } from "node:timers/promises";
import * as grpc from "@grpc/grpc-js";
import providerServices from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import type { CheckFailure, DiffResponse } from "@pulumi/pulumi/proto/provider_pb.js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import statusMessages from "@pulumi/pulumi/proto/status_pb.js";
import PQueue from "p-queue";
import { EngineError } from "../errors.ts";
import type { ResourceState } from "../state/resource-state.ts";
import { parseUrn } from "../state/urn.ts";
import { annotateSecrets, containsUnknown, type PropertyMap } from "../values/value.ts";
import { toProgram, toProvider } from "../values/wire.ts";
import { Child, type ChildExit, resolveSdkModule } from "./child.ts";
import { channelOptions, type Properties, readProperties, writeProperties } from "./grpc.ts";
import { wholeError } from "./large-errors.ts";
import { type Message, MessageReader } from "./messages.ts";

interface ProviderHostOptions {
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

/** A resource as it is in state. */
type Known = Pick<ResourceState, "urn" | "id" | "inputs" | "outputs" | "customTimeouts">;

const service = providerServices.ResourceProviderService;
const startTimeoutMs = 120_000;

/** Outside of a preview nothing is unknown. */
const outsidePreview = toProvider(false);

/** Check and diff do no I/O: more of them under way at once would only take memory. */
const maxPureCalls = 32;

/**
 * The dynamic provider host of the Pulumi SDK, one process for one run. It knows neither secrets nor references: they
 * go to it plain, and what comes back is marked secret where the input of the same key was.
 */
export class ProviderHost {
  readonly #child: Child;
  readonly #ready: Promise<grpc.Client>;
  readonly #pure = new PQueue({ concurrency: maxPureCalls });
  #client: grpc.Client | undefined;
  #exit: ChildExit | undefined;

  constructor(options: ProviderHostOptions) {
    const { folder, env, onPrint, onMessage } = options;
    const reader = new MessageReader(onMessage);
    const port = Promise.withResolvers<string>();
    let isStarted = false;
    this.#child = new Child(resolveSdkModule("cmd/dynamic-provider", folder), ["127.0.0.1:0"], {
      cwd: folder,
      env,
      onStdout: (lines) => {
        for (const line of lines) {
          if (!isStarted && /^\d+$/.test(line)) {
            isStarted = true;
            port.resolve(line);
          } else if (line.trim() !== "") onPrint(line);
        }
      },
      onStderr: (lines, isWhole) => reader.read(lines, isWhole),
    });
    const ended = this.#child.exited.then((exit) => {
      this.#exit = exit;
      reader.end();
      throw new EngineError("PROVIDER_FAILED", `the provider host ended before it was ready (${describeExit(exit)})`);
    });
    const late = sleep(startTimeoutMs, undefined, { ref: false }).then(() => {
      const message = `the provider host was not ready within ${startTimeoutMs / 1000} s`;
      throw new EngineError("PROVIDER_FAILED", message);
    });
    this.#ready = Promise.race([port.promise, ended, late]).then((number) => {
      this.#client = new grpc.Client(`127.0.0.1:${number}`, grpc.credentials.createInsecure(), channelOptions);
      return this.#client;
    });
    for (const promise of [ended, this.#ready]) promise.catch(() => {});
  }

  /** Hands the stack's configuration over; every later call waits for it. */
  async configure(config: PropertyMap): Promise<void> {
    const request = new messages.ConfigureRequest()
      .setAcceptsecrets(true)
      .setAcceptresources(true)
      .setArgs(writeProperties(config, toProgram));
    await this.#call("configure", "the provider", service.configure, request);
  }

  async check(
    urn: string,
    olds: PropertyMap,
    news: PropertyMap,
    preview: boolean,
  ): Promise<{ inputs: PropertyMap; failures: CheckFailure[] }> {
    const wire = toProvider(preview);
    const request = new messages.CheckRequest()
      .setOlds(writeProperties(olds, wire))
      .setNews(writeProperties(news, wire));
    const response = await this.#pure.add(() => this.#call("check", urn, service.check, named(request, urn)));
    const inputs = readProperties(response.getInputs());
    rejectUnknowns(inputs, preview, urn);
    return { inputs: annotateSecrets(inputs, news), failures: response.getFailuresList() };
  }

  async diff(
    urn: string,
    old: Pick<Known, "id" | "inputs" | "outputs">,
    inputs: PropertyMap,
    options: { preview: boolean; ignoreChanges: readonly string[] },
  ): Promise<DiffResponse> {
    const wire = toProvider(options.preview);
    const request = new messages.DiffRequest()
      .setId(old.id)
      .setOlds(writeProperties(old.outputs, wire))
      .setOldInputs(writeProperties(old.inputs, wire))
      .setNews(writeProperties(inputs, wire))
      .setIgnorechangesList([...options.ignoreChanges]);
    return await this.#pure.add(() => this.#call("diff", urn, service.diff, named(request, urn)));
  }

  async create({ urn, inputs, customTimeouts }: Known): Promise<Outcome> {
    const request = new messages.CreateRequest()
      .setProperties(writeProperties(inputs, outsidePreview))
      .setTimeout(customTimeouts?.create ?? 0);
    const secrets = { inputs, outputs: inputs };
    const outcome = await this.#outcome("create", urn, service.create, named(request, urn), secrets);
    if (outcome.id === "")
      throw new EngineError("FAILED", `the provider created ${parseUrn(urn).name}, but gave no id for it`, { urn });
    return outcome;
  }

  async read(state: Known): Promise<Outcome> {
    const request = new messages.ReadRequest()
      .setId(state.id)
      .setProperties(writeProperties(state.outputs, outsidePreview))
      .setInputs(writeProperties(state.inputs, outsidePreview))
      .setTimeout(state.customTimeouts?.read ?? 0);
    return await this.#outcome("read", state.urn, service.read, named(request, state.urn), state);
  }

  async update(old: Known, { urn, inputs, ignoreChanges, customTimeouts }: ResourceState): Promise<Outcome> {
    const request = new messages.UpdateRequest()
      .setId(old.id)
      .setOlds(writeProperties(old.outputs, outsidePreview))
      .setOldInputs(writeProperties(old.inputs, outsidePreview))
      .setNews(writeProperties(inputs, outsidePreview))
      .setIgnorechangesList(ignoreChanges)
      .setTimeout(customTimeouts?.update ?? 0);
    const secrets = { inputs, outputs: inputs };
    return await this.#outcome("update", urn, service.update, named(request, urn), secrets);
  }

  async delete({ urn, id, inputs, outputs, customTimeouts }: Known): Promise<void> {
    const request = new messages.DeleteRequest()
      .setId(id)
      .setProperties(writeProperties(outputs, outsidePreview))
      .setOldInputs(writeProperties(inputs, outsidePreview))
      .setTimeout(customTimeouts?.delete ?? 0);
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
    const outputs = readProperties(message.getProperties());
    const live = message.getInputs?.();
    const inputs = live && readProperties(live);
    for (const map of [outputs, inputs ?? {}]) rejectUnknowns(map, false, urn);
    return {
      id: message.getId?.() ?? "",
      outputs: annotateSecrets(outputs, secrets.outputs),
      inputs: inputs && annotateSecrets(inputs, secrets.inputs),
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
    await Promise.race([this.#child.exited, sleep(1_000, undefined, { ref: false })]).catch(() => {});
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
  getProperties(): Properties;
  getId?(): string;
  getInputs?(): Properties;
}

/** An error that the provider returned; the message is the provider's own. */
class ProviderCallError extends Error {
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
    return found === undefined ? undefined : messages.ErrorResourceInitFailed.deserializeBinary(found.getValue_asU8());
  }
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
