import { listed, naturalKeyIn, seenAs, undeclaredIn } from "../../provider/decide/live-rule.ts";
import { type DeclaredRule, type KnownRule, reasonToReplace } from "../../provider/decide/plan.ts";
import { isKept } from "../../provider/steps/erased.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import {
  field,
  isEqual,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  type Path,
  pathOf,
  withoutMasks,
} from "../../sdk/json/index.ts";
import type { ChangedRule, Drift } from "../drift/drift.ts";
import type { UnmanagedRule } from "../drift/unmanaged-rules.ts";
import { mask } from "./preview.ts";
import { editedMask } from "./secrets.ts";

/** The rules of a plan as the service has them, where the plan is of `up --refresh`. */
export class AtService {
  readonly #changed: ReadonlyMap<string, ChangedRule>;
  readonly #missing: ReadonlySet<string>;
  readonly #unmanaged: readonly UnmanagedRule[];

  /** @param drift of the same stack as the plan, from its state to the service */
  constructor(drift: Drift) {
    this.#changed = new Map(drift.changed.map((rule) => [nameIn(rule.resource, rule.key), rule]));
    this.#missing = new Set(
      drift.missing.filter(({ ruleId }) => ruleId !== undefined).map(({ resource, key }) => nameIn(resource, key)),
    );
    this.#unmanaged = drift.unmanaged;
  }

  /** Returns a known rule as the service has it now; undefined where it is gone. */
  now(resource: string, key: string, known: KnownRule): { rule: KnownRule; isEdited: boolean } | undefined {
    const name = nameIn(resource, key === "" ? undefined : key);
    if (this.#missing.has(name)) return undefined;
    const changed = this.#changed.get(name);
    // What is not the stack's any more is neither read into the state nor reset.
    if (changed === undefined || changed.isNotOurs) return { rule: known, isEdited: false };
    const paths = changed.differences.map(({ path }) => path);
    const definition = laidOver(known.definition, changed.seen, paths, []);
    return { rule: { ...known, definition: isJsonObject(definition) ? definition : {} }, isEdited: true };
  }

  /** Finds the rule that the run takes over for a rule with `adopt`, or that stands in its way without the word. */
  existing({ definition, adopt }: DeclaredRule, connection: string, contract: Contract): UnmanagedRule | undefined {
    const here = this.#unmanaged.filter((each) => each.connection === connection);
    if (typeof adopt === "string") return here.find(({ ruleId }) => ruleId === adopt);
    const keyIn = (one: JsonObject) => naturalKeyIn(one, { contract });
    const key = keyIn(definition);
    return here.find((each) => each.naturalKey !== undefined && key !== undefined && keyIn(each.live) === key);
  }

  /** Returns the rules that no resource of the stack declares, but for those that it takes over. */
  others(taken: ReadonlySet<string>): readonly UnmanagedRule[] {
    return this.#unmanaged.filter(({ connection, ruleId }) => !taken.has(JSON.stringify([connection, ruleId])));
  }
}

function nameIn(resource: string, key: string | undefined): string {
  return JSON.stringify([resource, key ?? ""]);
}

/**
 * Returns what was seen of a rule in the form of a preview: where the preview masks a value, it stays masked, and is another
 * mask where something at or below it was edited.
 */
function laidOver(known: Json | undefined, seen: Json, edited: readonly Path[], here: Path): Json {
  if (known === mask) return edited.some((path) => isBeside(path, here)) ? editedMask : mask;
  if (isJsonObject(known) && isJsonObject(seen))
    return Object.fromEntries(
      Object.entries(seen).map(([key, value]) => [key, laidOver(field(known, key), value, edited, [...here, key])]),
    );
  if (isJsonArray(known) && isJsonArray(seen))
    return seen.map((value, index) => laidOver(known[index], value, edited, [...here, index]));
  return withoutMasks(seen);
}

/** Decides whether one of two paths leads to the other, or through it. */
function isBeside(path: Path, other: Path): boolean {
  return path.slice(0, other.length).every((key, index) => String(key) === String(other[index]));
}

/** What a run makes of a rule that it takes over, beside the declared values. */
export interface TakeOver {
  /** Why the run will refuse it, as the rest of a sentence about the rule, with what to do. */
  readonly refusal: string | undefined;
  /** The paths that stay, though the program does not declare them. */
  readonly kept: readonly string[];
}

/** Judges a take-over by `adopt` as the run does: nothing is taken from the rule that nobody declared. */
export function judgeTakeOver({ live }: UnmanagedRule, definition: JsonObject, contract: Contract): TakeOver {
  const seen = seenAs(asDeclaredForm(live, definition), definition, { contract });
  // A mask is one value, and no object with fields.
  const own = withoutMasks(live);
  const undeclared = isJsonObject(own) ? undeclaredIn(own, seen, contract) : [];
  const kept = undeclared.map((path) => pathOf(path));
  if (isEqual(seen, definition, contract.rule)) return { refusal: undefined, kept };
  const reason = reasonToReplace(seen, definition, contract);
  if (reason !== undefined)
    return {
      refusal: `cannot be changed (${reason}). What to do: declare it as it is at the service`,
      kept: [],
    };
  const lost = undeclared.filter((path) => !isKept(path, seen, definition, contract)).map((path) => pathOf(path));
  if (lost.length === 0) return { refusal: undefined, kept };
  const refusal = `would lose ${listed(lost)}, which the program does not declare. What to do: declare these fields as they are`;
  return { refusal, kept: [] };
}

/** Returns a live rule as far as a declaration speaks of it, in the form of the declaration: masked where that is. */
export function asDeclaredForm(live: JsonObject, declared: JsonObject): JsonObject {
  const form = (wanted: Json, value: Json | undefined): Json | undefined => {
    if (value === undefined || wanted === mask) return value === undefined ? undefined : mask;
    if (isJsonObject(wanted) && isJsonObject(value))
      return Object.fromEntries(
        Object.entries(wanted).flatMap(([key, each]) => {
          const found = form(each, field(value, key));
          return found === undefined ? [] : [[key, found]];
        }),
      );
    if (isJsonArray(wanted) && isJsonArray(value))
      return value.map((each, index) => form(wanted[index] ?? null, each) ?? null);
    return value;
  };
  const found = form(declared, live);
  return isJsonObject(found) ? found : {};
}
