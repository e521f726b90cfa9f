import { randomUUID } from "node:crypto";
import providerMessages from "@pulumi/pulumi/proto/provider_pb.js";
import { EngineError } from "../../../stack/errors.ts";
import {
  defaultProviderName,
  isProvider,
  providerReference,
  type ResourceState,
} from "../../../stack/state/resource-state.ts";
import { parseUrn } from "../../../stack/state/urn.ts";
import { containsUnknown, equalMaps, type PropertyMap } from "../../../stack/values/value.ts";
import { unknownText } from "../../../stack/values/wire.ts";
import type { ProviderHost } from "../hosts/provider-host.ts";

/** The host that is asked about a resource. */
export interface Hooks extends Pick<ProviderHost, "check" | "diff" | "create" | "update" | "delete"> {
  /** True where nothing can be asked: the provider's own inputs are not known in this preview. */
  readonly isUnconfigured?: true;
}

interface ProvidersOptions {
  /** Starts a provider host. */
  readonly start: () => ProviderHost;
  /** One that was started ahead, for whichever provider is needed first. */
  readonly first: ProviderHost | undefined;
  /** The inputs of the default provider where its resource is not registered first. Undefined is what the state says. */
  readonly defaultConfig: PropertyMap | undefined;
  /** The resources in state when the run begins. */
  readonly base: readonly ResourceState[];
  readonly onFailure: (error: unknown) => void;
  readonly warn: (message: string, urn: string) => void;
}

interface Configured {
  readonly config: PropertyMap;
  readonly hooks: Hooks;
  readonly host: ProviderHost | undefined;
}

const { DIFF_SOME, DIFF_NONE } = providerMessages.DiffResponse.DiffChanges;

/**
 * The providers of a run, each with a host of its own. A resource names its provider by URN and id; one that the
 * program does not register is taken from the state.
 */
export class Providers {
  readonly #options: ProvidersOptions;
  readonly #byReference = new Map<string, Configured>();
  readonly #hosts: ProviderHost[];
  #unused: ProviderHost | undefined;

  constructor(options: ProvidersOptions) {
    this.#options = options;
    this.#unused = options.first;
    this.#hosts = options.first === undefined ? [] : [options.first];
  }

  /** Returns the hooks of a resource: those of its provider's host, and for a provider those of the engine itself. */
  of({ urn, type, provider }: Pick<ResourceState, "urn" | "type" | "provider">): Hooks {
    return isProvider(type) ? providerHooks : this.#get(provider, urn).hooks;
  }

  /** Returns the host that reads a resource in state. @throws EngineError STATE_INVALID: its inputs are not known */
  hostOf({ urn, provider }: Pick<ResourceState, "urn" | "provider">): ProviderHost {
    const { host } = this.#get(provider, urn);
    if (host === undefined) throw new EngineError("STATE_INVALID", `the inputs of ${provider} are not known`, { urn });
    return host;
  }

  /** Decides whether a provider was registered, or read with, in this run. */
  has(reference: string): boolean {
    return this.#byReference.has(reference);
  }

  /** Gives a provider, as it is after its step, the configuration that its resources are worked on with. */
  configure({ urn, id, outputs, aliases }: Pick<ResourceState, "urn" | "id" | "outputs" | "aliases">): void {
    const references = [urn, ...aliases].map((each) => providerReference({ urn: each, id: id || unknownText }));
    const [reference = ""] = references;
    const known = this.#byReference.get(reference);
    // A host hands its configuration to the hooks once. A changed one needs a new host.
    const configured = known !== undefined && equalMaps(known.config, outputs) ? known : this.#configured(outputs);
    for (const each of references) this.#byReference.set(each, configured);
  }

  /** Ends the processes. What they print until then is still passed on. */
  async stop(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.stop()));
  }

  kill(): void {
    for (const host of this.#hosts) host.kill();
  }

  #get(reference: string, urn: string): Configured {
    const known = this.#byReference.get(reference);
    if (known !== undefined) return known;
    const stored = this.#options.base.find((each) => isProvider(each.type) && providerReference(each) === reference);
    if (stored === undefined) {
      const message = `${parseUrn(urn).name} names the provider ${reference}, which neither the program nor the state has`;
      throw new EngineError("STATE_INVALID", message, { urn });
    }
    const isDefault = parseUrn(stored.urn).name === defaultProviderName;
    const configured = this.#configured((isDefault ? this.#options.defaultConfig : undefined) ?? stored.inputs);
    this.#byReference.set(reference, configured);
    return configured;
  }

  #configured(config: PropertyMap): Configured {
    if (containsUnknown(config)) return { config, hooks: this.#unconfigured(), host: undefined };
    const host = this.#unused ?? this.#options.start();
    if (host !== this.#unused) this.#hosts.push(host);
    this.#unused = undefined;
    host.configure(config).catch(this.#options.onFailure);
    return { config, hooks: host, host };
  }

  /** Returns hooks that ask nobody: as for the real engine, what cannot be compared counts as an update. */
  #unconfigured(): Hooks {
    return {
      ...providerHooks,
      isUnconfigured: true,
      diff: async (urn) => {
        const message =
          "The provider for this resource has inputs that are not known during preview.\nThis preview may not correctly represent the changes that will be applied during an update.";
        this.#options.warn(message, urn);
        return new providerMessages.DiffResponse().setChanges(DIFF_SOME);
      },
    };
  }
}

/** A provider is a resource of the engine itself: it is what the program says, and a new one gets an id. */
const providerHooks: Hooks = {
  check: async (_urn, _olds, news) => ({ inputs: news, failures: [] }),
  diff: async (_urn, { outputs }, inputs) =>
    new providerMessages.DiffResponse().setChanges(equalMaps(outputs, inputs) ? DIFF_NONE : DIFF_SOME),
  create: async ({ inputs }) => ({ id: randomUUID(), outputs: inputs, inputs: undefined, failed: undefined }),
  update: async ({ id }, { inputs }) => ({ id, outputs: inputs, inputs: undefined, failed: undefined }),
  delete: async () => {},
};
