import { EngineError } from "../../../stack/errors.ts";
import { needs, providerUrn, type ResourceState } from "../../../stack/state/resource-state.ts";
import { parseUrn } from "../../../stack/state/urn.ts";
import type { Execution } from "./execution.ts";
import type { Providers } from "./providers.ts";
import { stepOf } from "./step.ts";

interface PassedOverOptions {
  readonly execution: Execution;
  readonly providers: Providers;
  /** The resources in state, by URN. */
  readonly olds: Map<string, ResourceState>;
  /** The URNs that the program has registered. */
  readonly seen: ReadonlySet<string>;
  /** The URNs that have had their step. */
  readonly operated: Set<string>;
}

/** Resources that a program registers and that are no targets: they stay as they are, unasked; one that is not there yet is not created. */
export class PassedOver {
  readonly #options: PassedOverOptions;
  readonly #skipped = new Set<string>();
  /** Of those, the ones that a preview has complained of: once is enough. */
  readonly #told = new Set<string>();

  constructor(options: PassedOverOptions) {
    this.#options = options;
  }

  /** Passes over a resource. @returns the resource as it stays; undefined where there is none */
  take(old: ResourceState | undefined, now: ResourceState): ResourceState | undefined {
    const { execution, providers, operated } = this.#options;
    const { urn } = now;
    operated.add(urn);
    if (old === undefined) {
      this.#skipped.add(urn);
      execution.note(stepOf("same", now, now));
      return undefined;
    }
    if (old.provider !== "" && !providers.has(old.provider)) {
      const message = `${parseUrn(urn).name} is no target, and its provider ${providerUrn(old.provider)} is no longer declared for it. What to do: run without targets, or change the providers in another run`;
      throw new EngineError("FAILED", message, { urn });
    }
    return this.#keep(old);
  }

  isSkipped(urn: string): boolean {
    return this.#skipped.has(urn);
  }

  /** Refuses a resource that is worked on and needs one that is not created. */
  refuseNeeded(now: ResourceState): void {
    const { execution } = this.#options;
    for (const urn of new Set(needs(now))) {
      if (!this.#skipped.has(urn) || this.#told.has(urn)) continue;
      const message = `${parseUrn(now.urn).name} needs ${urn}, which is not there yet and is not a target. What to do: add it to the targets: --target '${urn}'`;
      const error = new EngineError("FAILED", message, { urn: now.urn });
      if (!execution.preview) throw error;
      execution.fail(error, now.urn, true);
      this.#told.add(urn);
    }
  }

  /** Keeps a resource, and before it what it needs: that may no longer be declared. */
  #keep(old: ResourceState): ResourceState {
    const { execution, olds, seen, operated } = this.#options;
    for (const urn of needs(old)) {
      const needed = olds.get(urn);
      if (needed === undefined || seen.has(urn) || operated.has(urn)) continue;
      operated.add(urn);
      this.#keep(needed);
    }
    const kept = { ...old };
    olds.set(old.urn, kept);
    execution.ledger.same(old, kept);
    execution.note(stepOf("same", old, kept));
    return kept;
  }
}
