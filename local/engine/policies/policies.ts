import PQueue from "p-queue";
import { EngineError } from "../../../stack/errors.ts";
import type { PropertyMap } from "../../../stack/values/value.ts";
import type { Severity } from "../hosts/registration.ts";
import type { PackRun, PolicyEvent, PolicyFindings, Remediation, Violation } from "./findings.ts";
import type { Pack } from "./pack.ts";
import { settle } from "./policy-config.ts";
import { PolicyHost, type PolicyRun } from "./policy-host.ts";
import type { PolicyResource } from "./policy-messages.ts";

interface PoliciesOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly run: PolicyRun | undefined;
  /** True where the next policies get what a policy changes. Otherwise the change is only told. */
  readonly applies: boolean;
  readonly emit: (event: PolicyEvent) => void;
  /** Gets what a pack logs or prints. */
  readonly onOutput: (severity: Severity, message: string) => void;
}

/** The outcome of the policies for a resource. */
interface Review {
  readonly properties: PropertyMap;
  readonly violations: readonly Violation[];
}

/** The policy packs of a run, each a process, and what they found. */
export class Policies {
  readonly #packs: readonly Pack[];
  readonly #hosts: PolicyHost[] = [];
  readonly #options: PoliciesOptions;
  /** As in Pulumi's own engine a resource is looked at when all packs are done with the one before it. */
  readonly #turns = new PQueue({ concurrency: 1 });
  readonly #loaded: PackRun[] = [];
  readonly #violations: Violation[] = [];
  readonly #remediations: Remediation[] = [];
  #isOver = false;

  /** Starts the packs; `load` waits for them. */
  constructor(packs: readonly Pack[], options: PoliciesOptions) {
    this.#packs = packs;
    this.#options = options;
    const { env, run, onOutput } = options;
    try {
      for (const pack of packs) this.#hosts.push(new PolicyHost({ pack, env, run, onOutput }));
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  /** Waits for the packs. @throws EngineError POLICY_PACK: a pack does not start, or does not take its configuration */
  async load(signal: AbortSignal | undefined): Promise<void> {
    const loaded = this.#packs.map((pack, at) => this.#load(pack, this.#hosts[at]));
    this.#loaded.push(...(await unlessAborted(Promise.all(loaded), signal, "while the policy packs started")));
  }

  get findings(): PolicyFindings {
    return { packs: this.#loaded, violations: this.#violations, remediations: this.#remediations };
  }

  /** Lets each pack in turn change the resource where it wants to, then every pack look at what became of it. */
  async review(resource: PolicyResource): Promise<Review> {
    return await this.#turns.add(async () => {
      let { properties } = resource;
      for (const host of this.#hosts) properties = await this.#remediate(host, { ...resource, properties });
      const found = await Promise.all(this.#hosts.map((host) => host.analyze({ ...resource, properties })));
      return { properties, violations: this.#tell(found.flat()) };
    });
  }

  /** Lets every pack look at all resources, with their outputs. */
  async reviewStack(resources: readonly PolicyResource[], stackUrn: string): Promise<readonly Violation[]> {
    const found = await Promise.all(this.#hosts.map((host) => host.analyzeStack(resources, stackUrn)));
    return this.#tell(found.flat());
  }

  /** Ends the packs. Nothing that is still under way is told any more. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#turns.clear();
    await Promise.all(this.#hosts.map((host) => host.stop()));
  }

  kill(): void {
    for (const host of this.#hosts) host.kill();
  }

  async #load({ settings, configFile, shown }: Pack, host: PolicyHost | undefined): Promise<PackRun> {
    this.#options.emit({ kind: "policy-load" });
    if (host === undefined) throw new EngineError("POLICY_PACK", `the policy pack in ${shown} was not started`);
    const info = await host.info();
    await host.configure(settle(info, settings, configFile), this.#options.run);
    return { name: info.name, version: info.version, folder: shown };
  }

  /** Gives the properties that the next pack gets. */
  async #remediate(host: PolicyHost, resource: PolicyResource): Promise<PropertyMap> {
    const { urn } = resource.state;
    let before = resource.properties;
    for (const { policy, pack, version, properties: after, problem } of await host.remediate(resource)) {
      const finding = { policy, pack, version, urn };
      if (problem !== "") this.#tell([{ ...finding, level: "advisory", severity: "", message: problem }]);
      else {
        const remediation = { ...finding, before, after };
        this.#remediations.push(remediation);
        if (!this.#isOver) this.#options.emit({ kind: "remediation", remediation });
        if (this.#options.applies) before = after;
      }
    }
    return before;
  }

  #tell(violations: readonly Violation[]): readonly Violation[] {
    this.#violations.push(...violations);
    if (!this.#isOver) for (const violation of violations) this.#options.emit({ kind: "violation", violation });
    return violations;
  }
}

/** Waits for a pack, which may take for ever: the work fails when the signal comes. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined, when: string): Promise<T> {
  const cancelled = Promise.withResolvers<never>();
  const cancel = (): void => cancelled.reject(new EngineError("FAILED", `cancelled ${when}`));
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted === true) cancel();
  try {
    return await Promise.race([work, cancelled.promise]);
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}
