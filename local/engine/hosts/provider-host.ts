import type * as grpc from "@grpc/grpc-js";
import providerServices from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import type { CheckFailure, DiffResponse } from "@pulumi/pulumi/proto/provider_pb.js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import statusMessages from "@pulumi/pulumi/proto/status_pb.js";
import PQueue from "p-queue";
import { EngineError } from "../../../stack/errors.ts";
import type { ResourceState } from "../../../stack/state/resource-state.ts";
import { parseUrn } from "../../../stack/state/urn.ts";
import { annotateSecrets, containsUnknown, type PropertyMap } from "../../../stack/values/value.ts";
import { toProgram, toProvider } from "../../../stack/values/wire.ts";
import { resolveSdkModule } from "./child.ts";
import { type Properties, readProperties, writeProperties } from "./grpc.ts";
import { wholeError } from "./large-errors.ts";
import { type Message, MessageReader } from "./messages.ts";
import { Plugin, type PluginOptions } from "./plugin.ts";

interface ProviderHostOptions {
  /** The program's folder: the host runs there, with the SDK that is installed for it. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Gets the host's stdout, line by line. */
  readonly onPrint: (line: string) => void;
  /** Gets each message of the provider. */
  readonly onMessage: (message: Message) => void;
  readonly startPlugin?: StartPlugin | undefined;
}

/** Starts what answers the calls of a host. Default: the SDK's own process for dynamic providers. */
export type StartPlugin = (options: PluginOptions) => Pick<Plugin, "call" | "stop" | "kill">;

/** The result of a create, update or read. `reasons` is set when the resource exists, but something about it failed. */
export interface Outcome {
  readonly id: string;
  readonly outputs: PropertyMap;
  readonly inputs: PropertyMap | undefined;
  readonly failed: { readonly message: string; readonly reasons: string[] } | undefined;
}

/** A resource as it is in state. */
type Known = Pick<ResourceState, "urn" | "id" | "inputs" | "outputs" | "customTimeouts">;

const service = providerServices.ResourceProviderService;

/** Outside of a preview nothing is unknown. */
const outsidePreview = toProvider(false);

/** But for a set with onUnmanaged, check and diff do no I/O: more of them under way at once would only take memory. */
const maxPureCalls = 32;

/**
 * The dynamic provider host of the Pulumi SDK, one process for one run. It knows neither secrets nor references: they
 * go to it plain, and what comes back is marked secret where the input of the same key was.
 */
export class ProviderHost {
  readonly #plugin: ReturnType<StartPlugin>;
  readonly #pure = new PQueue({ concurrency: maxPureCalls });

  constructor({ folder, env, onPrint, onMessage, startPlugin = startProcess }: ProviderHostOptions) {
    const reader = new MessageReader(onMessage);
    this.#plugin = startPlugin({
      script: resolveSdkModule("cmd/dynamic-provider", folder),
      args: ["127.0.0.1:0"],
      cwd: folder,
      env,
      onPrint,
      onStderr: (lines, isWhole) => reader.read(lines, isWhole),
      onEnd: () => reader.end(),
      startError: (how) => new EngineError("PROVIDER_FAILED", `the provider host ${how}`),
    });
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
    await this.#plugin.stop();
  }

  kill(): void {
    this.#plugin.kill();
  }

  /** Calls a method whose error may say that the resource exists all the same, and what is known of it. */
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
    return await this.#plugin.call(method, request, {
      lost: (how) => {
        const name = urn.startsWith("urn:") ? ` of ${parseUrn(urn).name}` : "";
        const message = `the provider host ended during the ${verb}${name} (${how}): whether that took effect is not known`;
        return new EngineError("PROVIDER_FAILED", message, { urn });
      },
      returned: (error) => new ProviderCallError(error),
    });
  }
}

function startProcess(options: PluginOptions): Plugin {
  return new Plugin(options);
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

  /** Returns the known part of the resource, when the error says that it exists. */
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
