import type { JsonObject } from "../../../sdk/json/index.ts";
import { EngineError } from "../../../stack/errors.ts";
import { configIn } from "../../../stack/open/read-stack.ts";
import { isProvider, needs, type PendingOperation, type ResourceState } from "../../../stack/state/resource-state.ts";
import { parseUrn } from "../../../stack/state/urn.ts";
import { toProgram, toWire } from "../../../stack/values/wire.ts";
import type { Execution } from "./execution.ts";
import type { Providers } from "./providers.ts";
import { stepOf } from "./step.ts";

/** The settings with which a provider works on a resource. */
interface ProviderSettings {
  /** Returns a value of the stack's config, or of an explicit provider's inputs, by its whole key. */
  readonly config: (key: string) => string | undefined;
  readonly environment: NodeJS.ProcessEnv;
  /** The folder of the program. */
  readonly folder: string;
}

/** A resource that the service keeps in parts, each with an id of its own. The texts end up in messages. */
interface Parts {
  /** Why it has no id: `a set has no id at the service`. */
  readonly reason: string;
  /** What to do about parts that a create has made, as the beginning of a sentence, and the same in short. */
  readonly whereThere: string;
  readonly advice: string;
}

/** What the engine must be told of a program's resources: it knows none. */
export interface ProgramKnowledge {
  /** Decides whether a provider that creates a resource again finds by itself what an earlier create made. */
  findsCreates(resource: { readonly type: string; readonly inputs: JsonObject }, settings: ProviderSettings): boolean;
  /** Returns what is to be said of a type whose resources have no id; undefined for all others. */
  partsOf(type: string): Parts | undefined;
}

/** Without knowledge no create can be found again, so that a run stops before each that was left open. */
export const noKnowledge: ProgramKnowledge = { findsCreates: () => false, partsOf: () => undefined };

/**
 * Returns the resources whose creates an earlier run left open and of which nobody can tell whether they took effect:
 * neither has the engine a response, nor does the provider look for them before it creates.
 */
export function undecidedCreates(
  interrupted: readonly PendingOperation[],
  { findsCreates }: ProgramKnowledge,
  settingsOf: (resource: ResourceState) => ProviderSettings,
): readonly ResourceState[] {
  return interrupted.flatMap(({ type, resource }) => {
    // A provider is a resource of the engine itself.
    if (type !== "creating" || isProvider(resource.type)) return [];
    const known = { type: resource.type, inputs: toWire(resource.inputs, toProgram) };
    return findsCreates(known, settingsOf(resource)) ? [] : [resource];
  });
}

/** Returns the settings for a resource: those of its explicit provider, else the stack's config. */
export function settingsFor(
  resource: ResourceState,
  base: readonly ResourceState[],
  ofStack: ProviderSettings,
): ProviderSettings {
  const explicit = base.find(({ urn, id, inputs }) => {
    return `${urn}::${id}` === resource.provider && "merchant-rules:provider" in inputs;
  });
  if (explicit === undefined) return ofStack;
  const { texts } = configIn(explicit.inputs);
  return { ...ofStack, config: (key) => texts.get(key) };
}

/** Resources that a run does not come to: undecided creates, and what needs them. They stay as they are, and the run fails. */
export class HeldBack {
  readonly #execution: Execution;
  readonly #undecided: ReadonlySet<string>;
  readonly #knowledge: ProgramKnowledge;
  readonly #held = new Set<string>();

  constructor(execution: Execution, undecided: readonly ResourceState[], knowledge: ProgramKnowledge) {
    this.#execution = execution;
    this.#knowledge = knowledge;
    this.#undecided = new Set(undecided.map(({ urn }) => urn));
  }

  has(urn: string): boolean {
    return this.#held.has(urn);
  }

  /** Holds a resource back where it must be, and says so. `formerUrns`: what it may have been created under. @returns whether it is held back */
  take(old: ResourceState | undefined, now: ResourceState, formerUrns: () => readonly string[]): boolean {
    if (this.#undecided.size === 0) return false;
    const undecided = [now.urn, ...formerUrns()].find((urn) => this.#undecided.has(urn));
    const needed = needs(now).find((urn) => this.#held.has(urn));
    if (undecided === undefined && needed === undefined) return false;
    this.#held.add(now.urn);
    if (undecided !== undefined) {
      this.#execution.fail(mayExist(now, undecided, this.#knowledge), now.urn, true);
      this.#execution.noteFailed(stepOf(old === undefined ? "create" : "same", old, now));
    } else if (needed !== undefined) {
      const message = `${parseUrn(now.urn).name} stays as it is, because it needs ${parseUrn(needed).name}`;
      this.#execution.diagnose("info", message, now.urn);
    }
    return true;
  }
}

function mayExist({ urn, type }: ResourceState, undecided: string, knowledge: ProgramKnowledge): EngineError {
  const { name } = parseUrn(urn);
  const reason = `an earlier run ended while it created ${name}, so it may exist already, and nothing is known by which it could be looked up`;
  const parts = knowledge.partsOf(type);
  const taken =
    parts !== undefined
      ? `${parts.whereThere}; then refresh --clear-pending-creates, and run again`
      : `where it is there, refresh --import-pending-creates '${undecided}' --import-pending-creates <its id>; where it is not, refresh --clear-pending-creates; then run again`;
  return new EngineError("FAILED", `create ${name} failed: ${reason}. What to do: look at the service; ${taken}`, {
    urn,
  });
}

/** A resource, by the URN under which it was being created, and the id that the service gave it. */
interface Named {
  readonly urn: string;
  readonly id: string;
}

/**
 * Takes resources whose create an earlier run left open into the state, as they are at the service.
 * @param pairs a URN and an id by turns, as the CLI takes them
 * @returns all resources; of one that was being replaced the old one is to be deleted
 * @throws EngineError: no such create is open, or the provider finds nothing under that id
 */
export async function importPendingCreates(
  pairs: readonly string[],
  interrupted: readonly PendingOperation[],
  base: readonly ResourceState[],
  { execution, providers, knowledge }: { execution: Execution; providers: Providers; knowledge: ProgramKnowledge },
): Promise<{ resources: readonly ResourceState[]; imported: readonly string[] }> {
  let resources = base;
  const imported: string[] = [];
  for (const { urn, id } of namedIn(pairs)) {
    const open = interrupted.find(({ type, resource }) => type === "creating" && resource.urn === urn)?.resource;
    if (open === undefined) throw cannotImport(urn, "no run has left a create of it open", "leave it out");
    const parts = knowledge.partsOf(open.type);
    if (parts !== undefined)
      throw cannotImport(urn, parts.reason, `${parts.advice}, and refresh --clear-pending-creates`);
    const found = await execution.turn(() => providers.hostOf(open).read({ ...open, id, outputs: open.inputs }));
    if (found.id === "")
      throw cannotImport(urn, `its provider finds nothing with the id ${id}`, "look which id it has");
    const time = new Date().toISOString();
    const now = { ...open, id: found.id, inputs: found.inputs ?? open.inputs, outputs: found.outputs };
    const others = resources.flatMap((one) => {
      if (one.urn !== urn || one.delete) return [one];
      return one.pendingReplacement ? [] : [{ ...one, delete: true }];
    });
    resources = [...others, { ...now, created: time, modified: time }];
    imported.push(urn);
    execution.diagnose("info", `${parseUrn(urn).name} was taken into the state with the id ${found.id}`, urn);
  }
  return { resources, imported };
}

function namedIn(pairs: readonly string[]): Named[] {
  return pairs.flatMap((urn, k) => {
    const id = pairs[k + 1];
    if (k % 2 === 1) return [];
    if (id === undefined) throw cannotImport(urn, "its id is missing", "give a URN and an id by turns");
    return [{ urn, id }];
  });
}

function cannotImport(urn: string, why: string, advice: string): EngineError {
  return new EngineError("FAILED", `import the pending create ${urn} failed: ${why}. What to do: ${advice}`, { urn });
}
