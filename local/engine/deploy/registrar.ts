import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { EngineError, RunIsOver } from "../../../stack/errors.ts";
import { formerUrns } from "../../../stack/state/aliases.ts";
import { decodeResource } from "../../../stack/state/codec.ts";
import {
  defaultProviderName,
  defaultProviderType,
  isDynamic,
  isProvider,
  providerReference,
  providerTypePrefix,
  providerUrn,
  type ResourceState,
  resourceSchema,
  stackType,
} from "../../../stack/state/resource-state.ts";
import { makeUrn, parseUrn } from "../../../stack/state/urn.ts";
import { unsupported } from "../../../stack/unsupported.ts";
import { containsUnknown, equalMaps, keepCiphertexts, type PropertyMap } from "../../../stack/values/value.ts";
import { unknownText } from "../../../stack/values/wire.ts";
import type { MonitorHandler, Registered, Registration, Severity } from "../hosts/registration.ts";
import type { Policies } from "../policies/policies.ts";
import { deleteAll } from "./deletes.ts";
import { newState, settleSame } from "./goal.ts";
import { PassedOver } from "./passed-over.ts";
import { HeldBack, type ProgramKnowledge } from "./pending-creates.ts";
import { planResource } from "./resource.ts";
import type { ResourceContext } from "./resource-context.ts";
import { reviewResource, reviewStack } from "./review.ts";
import { type Step, type StepOp, stepOf } from "./step.ts";
import { limitDeletes, type Targets } from "./targets.ts";

/** After so long without a registration, a program waits for the responses to those that it has made. */
const quietMs = 25;

interface RegistrarOptions extends Pick<ResourceContext, "execution" | "providers" | "base"> {
  readonly stack: string;
  readonly project: string;
  /** The stack's configuration, as the default provider's inputs. */
  readonly config: PropertyMap;
  readonly policies: Policies | undefined;
  readonly targets: Targets;
  /** The creates of earlier runs of which nobody can tell whether they took effect. */
  readonly undecided: readonly ResourceState[];
  readonly knowledge: ProgramKnowledge;
}

/**
 * Compares each resource that a program registers with the state, decides what is to be done, does it, and
 * responds to the program. When the program has ended well, `deleteUnnamed` deletes what it no longer names.
 */
export class Registrar implements MonitorHandler {
  readonly #options: RegistrarOptions;
  readonly #olds = new Map<string, ResourceState>();
  readonly #news = new Map<string, ResourceState>();
  readonly #registrations = new Map<string, Registration>();
  /** The URNs seen in this run, also of resources that are still being worked on. */
  readonly #seen = new Set<string>();
  /** Former URN by present one, and the other way round. */
  readonly #formerByUrn = new Map<string, string>();
  readonly #urnByFormer = new Map<string, string>();
  readonly #context: ResourceContext;
  readonly #passedOver: PassedOver;
  readonly #heldBack: HeldBack;
  readonly #outputsDone = new Set<string>();
  readonly #open = new Set<Promise<unknown>>();
  /** Errors that the program has logged, and so shown already. */
  readonly loggedErrors: EngineError[] = [];
  /** True where the program has come to its end by itself. One that leaves by process.exit has not. */
  #isProgramDone = false;
  #defaultProvider: Promise<ResourceState> | undefined;
  #registeredAt = Number.NEGATIVE_INFINITY;
  #stackOutputs: { readonly urn: string; readonly outputs: PropertyMap } | undefined;

  constructor(options: RegistrarOptions) {
    this.#options = options;
    const { policies } = options;
    this.#context = {
      ...options,
      review: policies && ((now, { deleteBeforeReplace }) => this.#review(policies, now, deleteBeforeReplace)),
      operated: new Set(),
      replaced: new Set(),
      deletedEarly: new Map(),
    };
    const { operated } = this.#context;
    this.#passedOver = new PassedOver({ ...options, olds: this.#olds, seen: this.#seen, operated });
    this.#heldBack = new HeldBack(options.execution, options.undecided, options.knowledge);
    for (const resource of options.base) if (!resource.delete) this.#olds.set(resource.urn, resource);
  }

  /** The stack's outputs as the program gave them, or as they were. */
  get stackOutputs(): PropertyMap {
    const { stack, project } = this.#options;
    const old = this.#olds.get(makeUrn(stack, project, "", stackType, `${project}-${stack}`));
    return this.#stackOutputs?.outputs ?? old?.outputs ?? {};
  }

  async register(registration: Registration): Promise<Registered> {
    const { execution } = this.#options;
    if (execution.stopped) throw new RunIsOver();
    this.#registeredAt = performance.now();
    let urn = "";
    const work = (async () => {
      urn = this.#claimUrn(registration);
      return await this.#process(urn, this.#inherit(registration));
    })();
    const told = work.catch((error: unknown) => {
      execution.fail(error, urn === "" ? undefined : urn);
      throw new RunIsOver();
    });
    this.#open.add(told);
    told.catch(() => {}).finally(() => this.#open.delete(told));
    // Once the run has stopped the program is not kept waiting for what is still under way.
    const over = execution.whenStopped().then(() => {
      throw new RunIsOver();
    });
    return await Promise.race([told, over]);
  }

  async registerOutputs(urn: string, outputs: PropertyMap): Promise<void> {
    const { execution } = this.#options;
    if (execution.stopped) throw new RunIsOver();
    if (parseUrn(urn).type === stackType) {
      this.#stackOutputs = { urn, outputs };
      return;
    }
    if (this.#passedOver.isSkipped(urn) || this.#heldBack.has(urn)) return;
    const state = this.#news.get(urn);
    if (state === undefined || this.#outputsDone.has(urn)) {
      const when = state === undefined ? "before the resource" : "twice";
      throw this.fail(new EngineError("FAILED", `the outputs of ${urn} were registered ${when}`, { urn }));
    }
    this.#outputsDone.add(urn);
    this.#setOutputs(state, outputs);
  }

  fail(error: unknown): Error {
    this.#options.execution.fail(error, undefined);
    return error instanceof Error ? error : new Error(String(error));
  }

  /** Passes on a line that the program logs or prints. A logged error alone fails nothing, as with the CLI. */
  log(severity: Severity, message: string): void {
    const { execution } = this.#options;
    if (severity === "debug" || execution.stopped) return;
    if (severity === "error") this.loggedErrors.push(new EngineError("PROGRAM_FAILED", message));
    execution.diagnose(severity, message);
  }

  programDone(): void {
    this.#isProgramDone = true;
  }

  /**
   * Decides whether a program that has just ended declared everything. One that left by process.exit has where nothing
   * speaks against it: its modules are through, each registration has a response, and no resource of the state is left over.
   */
  hasDeclaredAll(): boolean {
    if (this.#isProgramDone) return true;
    const isLeftOver = (resource: ResourceState): boolean => !resource.delete && this.#isUnnamed(resource);
    return this.#stackOutputs !== undefined && this.#open.size === 0 && !this.#options.base.some(isLeftOver);
  }

  #isUnnamed({ urn }: ResourceState): boolean {
    return !this.#context.operated.has(this.#urnByFormer.get(urn) ?? urn);
  }

  /** Resolves when the program has registered what it can before any of it is done. */
  async quiet(): Promise<void> {
    for (let leftMs = quietMs; leftMs > 0; leftMs = this.#registeredAt + quietMs - performance.now())
      await sleep(leftMs);
  }

  /** Resolves when every registration that has begun has come to its end, well or not. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
  }

  /** Deletes, after the program has ended well, what it did not register, and what was replaced. */
  async deleteUnnamed(): Promise<void> {
    const { execution, providers, base, targets } = this.#options;
    const condemned = base.filter((resource) => resource.delete || this.#isUnnamed(resource));
    for (const error of targets.unknown((urn) => this.#seen.has(urn) || base.some((one) => one.urn === urn)))
      execution.fail(error, undefined, true);
    await deleteAll(execution, providers, limitDeletes(execution, targets, base, condemned), "up");
  }

  /** Lets the policies look, after everything else, at all that the program registered, with its outputs. */
  async reviewStack(policies: Policies): Promise<void> {
    const { stack, project, execution } = this.#options;
    const resources = [...this.#news.values()].map((state) => {
      const { deleteBeforeReplace } = this.#registrations.get(state.urn) ?? {};
      const provider = this.#news.get(providerUrn(state.provider));
      return { state, properties: state.outputs, deleteBeforeReplace, provider };
    });
    const stackUrn = makeUrn(stack, project, "", stackType, `${project}-${stack}`);
    await reviewStack(execution, policies, resources, stackUrn);
  }

  /** Settles the stack's outputs; those of a failed run, as far as they are known, are added to what was there. */
  finishOutputs(failed: boolean): void {
    if (this.#stackOutputs === undefined) return;
    const { urn, outputs } = this.#stackOutputs;
    const state = this.#news.get(urn);
    if (state === undefined || this.#outputsDone.has(urn)) return;
    this.#outputsDone.add(urn);
    const known = Object.entries(outputs).filter(([, value]) => !containsUnknown(value));
    this.#setOutputs(state, failed ? { ...this.#olds.get(urn)?.outputs, ...Object.fromEntries(known) } : outputs);
  }

  #setOutputs(state: ResourceState, outputs: PropertyMap): void {
    const { execution } = this.#options;
    const before = state.outputs;
    for (const [key, value] of Object.entries(outputs)) keepCiphertexts(value, before[key]);
    state.outputs = outputs;
    if (equalMaps(before, outputs)) return;
    execution.ledger.put(state);
    execution.save();
  }

  #claimUrn({ type, name, parent }: Registration): string {
    const { stack, project } = this.#options;
    if (parent !== "" && !this.#seen.has(parent))
      throw new EngineError("FAILED", `${type} "${name}" names a parent that is not registered: ${parent}`);
    return this.#claimed(makeUrn(stack, project, parent === "" ? "" : parseUrn(parent).qualifiedType, type, name));
  }

  #claimed(urn: string): string {
    if (this.#seen.has(urn))
      throw new EngineError(
        "FAILED",
        `there are two resources with the URN ${urn}: give one of them another name or parent`,
        { urn },
      );
    this.#seen.add(urn);
    return urn;
  }

  /** Fills in what a resource takes from its parent when it says nothing itself. */
  #inherit(registration: Registration): Registration {
    const parent = this.#registrations.get(registration.parent);
    if (parent === undefined) return registration;
    return {
      ...registration,
      protect: registration.protect ?? parent.protect,
      retainOnDelete: registration.retainOnDelete ?? parent.retainOnDelete,
      deletedWith: registration.deletedWith === "" ? parent.deletedWith : registration.deletedWith,
    };
  }

  async #process(urn: string, registration: Registration): Promise<Registered> {
    this.#registrations.set(urn, registration);
    refuseType(registration, urn);
    const old = this.#findOld(urn, registration);
    const provider = await this.#referenceOf(registration);
    const now = newState(urn, registration, old, { provider, formerUrn: this.#formerByUrn.get(urn) });
    if (!this.#isTarget(now)) return this.#passOver(registration, old, now);
    if (this.#heldBack.take(old, now, () => this.#formerUrns(registration))) {
      this.#context.operated.add(urn);
      return { urn, id: "", outputs: {}, isUnknown: true };
    }
    this.#passedOver.refuseNeeded(now);
    if (registration.custom) await planResource(this.#context, registration, old, now);
    else {
      await this.#context.review?.(now, registration);
      this.#component(old, now);
    }
    this.#news.set(urn, now);
    if (isProvider(now.type)) this.#options.providers.configure(now);
    // A component's old outputs may name resources that this run has not registered yet: the program gets none.
    return { urn, id: now.id, outputs: registration.custom ? now.outputs : {} };
  }

  /** Decides whether a resource is worked on: providers and the stack itself always are, as by the real engine. */
  #isTarget({ urn, type }: ResourceState): boolean {
    return isProvider(type) || type === stackType || this.#options.targets.has(urn);
  }

  #passOver(registration: Registration, old: ResourceState | undefined, now: ResourceState): Registered {
    const kept = this.#passedOver.take(old, now);
    if (kept === undefined) return { urn: now.urn, id: "", outputs: {}, isUnknown: true };
    this.#news.set(now.urn, kept);
    return { urn: kept.urn, id: kept.id, outputs: registration.custom ? kept.outputs : {} };
  }

  #component(old: ResourceState | undefined, now: ResourceState): void {
    const { execution, operated, replaced } = this.#context;
    operated.add(now.urn);
    // A component goes with what it is deleted with; and it cannot become what has a provider, or the other way round.
    const goesWith = now.deletedWith !== "" && replaced.has(now.deletedWith);
    const isReplaced = old !== undefined && (old.custom || goesWith);
    const replaceKeys = isReplaced ? [goesWith ? "deletedWith" : "provider"] : [];
    const step = (op: StepOp): Step => stepOf(op, old, now, { replaceKeys });
    if (old === undefined || isReplaced) {
      now.created = now.modified = new Date().toISOString();
      execution.ledger.put(now);
      execution.note(step(isReplaced ? "create-replacement" : "create"));
      if (old !== undefined) {
        old.delete = true;
        execution.ledger.put(old);
        replaced.add(now.urn);
        execution.note(step("replace"));
      }
    } else {
      now.outputs = old.outputs;
      const unchanged = equalMaps(old.inputs, now.inputs);
      settleSame(execution.ledger, old, now);
      execution.note(step(unchanged ? "same" : "update"));
    }
    execution.save();
  }

  #findOld(urn: string, registration: Registration): ResourceState | undefined {
    const claimed = this.#urnByFormer.get(urn);
    if (claimed !== undefined) {
      throw new EngineError("FAILED", `${urn} is registered, but ${claimed} has it as an alias already`, { urn });
    }
    for (const candidate of [urn, ...this.#formerUrns(registration)]) {
      const old = this.#olds.get(candidate);
      if (old === undefined) continue;
      if (candidate !== urn) {
        const taken = this.#seen.has(candidate) ? candidate : this.#urnByFormer.get(candidate);
        if (taken !== undefined)
          throw new EngineError(
            "FAILED",
            `the alias ${candidate} of ${urn} is taken: ${taken} is, or was, that resource`,
            { urn },
          );
        this.#formerByUrn.set(urn, candidate);
        this.#urnByFormer.set(candidate, urn);
      }
      return old;
    }
    return undefined;
  }

  #formerUrns(registration: Registration): string[] {
    const { stack, project } = this.#options;
    return formerUrns(registration, { stack, project, formerUrn: (of) => this.#formerByUrn.get(of) });
  }

  async #review(policies: Policies, now: ResourceState, deleteBeforeReplace: boolean | undefined): Promise<void> {
    const provider = this.#news.get(providerUrn(now.provider));
    const resource = { state: now, properties: now.inputs, deleteBeforeReplace, provider };
    now.inputs = await reviewResource(this.#options.execution, policies, resource);
  }

  /** Returns the reference of a resource's provider; empty for what has none. */
  async #referenceOf({ type, custom, provider }: Registration): Promise<string> {
    if (!custom || isProvider(type)) return "";
    return provider === "" ? providerReference(await this.#provider()) : provider;
  }

  /** Returns the provider of every dynamic resource that names none; its inputs are the stack's configuration. */
  #provider(): Promise<ResourceState> {
    if (this.#defaultProvider === undefined) {
      // At once: two resources must not register it twice.
      this.#defaultProvider = this.#registerProvider();
      return this.#defaultProvider;
    }
    // Where it failed, the resource that needed it first has said so.
    return this.#defaultProvider.catch(() => {
      throw new RunIsOver();
    });
  }

  async #registerProvider(): Promise<ResourceState> {
    const { stack, project, execution, config, providers } = this.#options;
    const type = defaultProviderType;
    const urn = this.#claimed(makeUrn(stack, project, "", type, defaultProviderName));
    const old = this.#olds.get(urn);
    const blank = decodeResource(resourceSchema.parse({ urn, type, custom: true }), undefined);
    const registration = {
      ...blank,
      name: defaultProviderName,
      inputs: config,
      aliases: [],
      deleteBeforeReplace: undefined,
    };
    const now = newState(urn, registration, old, { provider: "", formerUrn: undefined });
    this.#context.operated.add(urn);
    await this.#context.review?.(now, registration);
    now.outputs = now.inputs;
    if (old === undefined) {
      // As the real engine: a preview makes up no id.
      now.id = execution.preview ? unknownText : randomUUID();
      now.created = now.modified = new Date().toISOString();
      execution.ledger.put(now);
    } else {
      now.id = old.id;
      if (!equalMaps(old.inputs, now.inputs)) now.modified = new Date().toISOString();
      settleSame(execution.ledger, old, now);
    }
    execution.save();
    this.#news.set(urn, now);
    providers.configure(now);
    return now;
  }
}

/** Fails, by name, on resources of any other kind than dynamic ones and components. */
function refuseType({ type, custom }: Registration, urn: string): void {
  if (!custom || isDynamic(type)) return;
  if (isProvider(type))
    throw unsupported("provider", `the explicit provider ${type.slice(providerTypePrefix.length)}`, urn);
  throw unsupported("resource type", `the resource type ${type}`, urn);
}
