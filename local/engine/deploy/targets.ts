import { EngineError } from "../../../stack/errors.ts";
import { needs, type ResourceState } from "../../../stack/state/resource-state.ts";
import { parseUrn } from "../../../stack/state/urn.ts";
import type { Execution } from "./execution.ts";
import { stepOf } from "./step.ts";

/** The limits of a run: URNs, in which `*` stands for anything but a colon and `**` for anything. None is everything. */
export class Targets {
  readonly #names: readonly string[];
  readonly #patterns: readonly RegExp[];

  constructor(given: readonly string[]) {
    const isPattern = (target: string): boolean => target.includes("*");
    this.#names = given.filter((target) => !isPattern(target));
    this.#patterns = given.filter(isPattern).map((target) => {
      const parts = target.split("**").map((part) => part.split("*").map(literally).join("[^:]*"));
      return new RegExp(`^${parts.join(".*")}$`, "s");
    });
  }

  get isAll(): boolean {
    return this.#names.length === 0 && this.#patterns.length === 0;
  }

  has(urn: string): boolean {
    return this.isAll || this.#names.includes(urn) || this.#patterns.some((pattern) => pattern.test(urn));
  }

  /** Returns an error for each target that names nothing. */
  unknown(isThere: (urn: string) => boolean): EngineError[] {
    return this.#names
      .filter((urn) => !isThere(urn))
      .map((urn) => new EngineError("FAILED", `the target ${urn} is not in the stack; $ must be quoted in a shell`));
  }
}

/** Limits deletions to the targets, and notes what stays. It is an error where something that stays needs what goes. */
export function limitDeletes(
  execution: Execution,
  targets: Targets,
  base: readonly ResourceState[],
  condemned: readonly ResourceState[],
): readonly ResourceState[] {
  if (targets.isAll) return condemned;
  const reached = new Set<string>();
  // Each stands behind what it needs.
  for (const one of base) if (targets.has(one.urn) || needs(one).some((urn) => reached.has(urn))) reached.add(one.urn);
  const going = condemned.filter(({ urn }) => reached.has(urn));
  const others = going.filter(({ urn }) => !targets.has(urn));
  for (const { urn } of others) {
    const message = `${parseUrn(urn).name} needs what is to be deleted, and is not a target. What to do: add it to the targets: --target '${urn}'`;
    execution.fail(new EngineError("FAILED", message, { urn }), urn, true);
  }
  if (others.length > 0 && !execution.preview) return [];
  for (const one of condemned) if (!reached.has(one.urn) && !one.delete) execution.note(stepOf("same", one, one));
  return going;
}

function literally(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
}
