import { isDeepStrictEqual } from "node:util";
import {
  type Evaluation,
  evaluate,
  type RuleReading,
  readRules,
  type Semantics,
  valueListsOf,
} from "../../meaning/index.ts";
import { isUnknown } from "../../provider/host/wire.ts";
import { type Contract, servicePointers } from "../../sdk/contract/index.ts";
import {
  defined,
  isAtOrBelow,
  isMask,
  type Json,
  type JsonObject,
  type Path,
  type Pointer,
  pointerOf,
  walk,
} from "../../sdk/json/index.ts";
import type { RuleSide, SideRule } from "../sides/index.ts";
import type { DeclaredSemantics } from "./semantics-file.ts";

/** A rule as its semantics read it. A definition that is a list of rules gives several. */
export interface ReadRule {
  /** Its name for people; of one of several in a definition with its number: `routes, rule 2`. */
  readonly name: string;
  readonly rule: SideRule;
  readonly reading: RuleReading;
}

/** The rules of a side with their meaning: everything that decides payments takes these. */
export interface SideMeaning {
  /** In reports: `production`. */
  readonly name: string;
  readonly semantics: Semantics;
  /** In the order of the side. `decide` and `evaluate` speak of them by their index. */
  readonly rules: readonly ReadRule[];
  /** The lists of values that conditions can name. */
  readonly valueLists: ReadonlyMap<string, readonly Json[]>;
  /** As `EvaluateOptions.unlisted`. */
  readonly unlisted: ReadonlyMap<number, number>;
  /** What a reader must know, such as that the side is a part of all rules. */
  readonly notes: readonly string[];
}

/**
 * Reads the rules of a side that one connection reaches.
 * @param connection the rules of others are left out
 * @param other another side by the same semantics: definitions that both have are not read, and held, twice
 */
export function meaningOf(
  side: RuleSide,
  { semantics, valueLists: fromFiles }: Pick<DeclaredSemantics, "semantics" | "valueLists">,
  connection: string,
  other?: SideMeaning,
): SideMeaning {
  const contract = side.contractOf(connection);
  const own = side.rules.filter((rule) => rule.connection === connection);
  const valueLists = valueListsOf(
    own.map(({ definition }) => definition),
    semantics,
    fromFiles,
  );
  const ignored = contract === undefined ? [] : addedBy(contract);
  const known = other !== undefined && isDeepStrictEqual(other.valueLists, valueLists) ? readingsOf(other) : undefined;
  const rules: ReadRule[] = [];
  const unlisted = new Map<number, number>();
  for (const [number, rule] of own.entries()) {
    const readings = known?.get(rule.definition) ?? readKnown(rule.definition, semantics, { valueLists, ignored });
    for (const [index, reading] of readings.entries()) {
      if (rule.isUnlisted === true || side.kind !== "live") unlisted.set(rules.length, number);
      rules.push({ name: semantics.rules === null ? rule.name : `${rule.name}, rule ${index + 1}`, rule, reading });
    }
  }
  return { name: side.name, semantics, rules, valueLists, unlisted, notes: [...side.notes, ...partNote(side)] };
}

/** Returns the readings of each definition, by the object that it is. */
function readingsOf({ rules }: SideMeaning): Map<JsonObject, RuleReading[]> {
  const ofRules = Map.groupBy(rules, ({ rule }) => rule);
  return new Map([...ofRules].map(([{ definition }, own]) => [definition, own.map(({ reading }) => reading)]));
}

/** Returns the instant by which rules are in force: the given one, else the present where that counts; undefined: the payment's own. */
export function clockOf({ force }: Semantics, at: string | undefined): string | undefined {
  return at ?? (force.clock === "now" ? new Date().toISOString() : undefined);
}

/** Evaluates one payment by the rules. @throws MerchantRulesError SETTINGS_INVALID: `at` is no instant */
export function decideBy(
  { rules, semantics, unlisted }: SideMeaning,
  payment: JsonObject,
  options: { readonly at?: string | undefined } = {},
): Evaluation {
  const at = clockOf(semantics, options.at);
  const readings = rules.map(({ reading }) => reading);
  return evaluate(payment, readings, semantics, defined({ unlisted, at }));
}

/** Returns the outcome of a rule, as far as it could be read; `unknown` where it could not. */
export function outcomeOf({ reading }: Pick<ReadRule, "reading">): string {
  return (reading.kind === "rule" ? reading.rule.outcome : reading.known.outcome) ?? "unknown";
}

/** Says why a rule could not be read, and where; empty of one that was read. */
export function faultsText(reading: RuleReading): string {
  return reading.kind === "rule" ? "" : reading.faults.map(({ at, why }) => `${at} ${why}`).join("; ");
}

/** Warns of rules that could not be read, each once; of many the first twenty. */
export function unknownRules(rules: readonly ReadRule[]): string[] {
  const all = rules.flatMap(({ name, reading }) => {
    if (reading.kind === "rule") return [];
    return [`What rule ${name} means is unknown, and so may be what hangs on it: ${faultsText(reading)}`];
  });
  const distinct = [...new Set(all)];
  const left = distinct.length - mostUnknown;
  return left <= 0 ? distinct : [...distinct.slice(0, mostUnknown), `What ${left} more rules mean is unknown`];
}

const mostUnknown = 20;

/** Returns the fields that the service adds to a rule, and the mark: they do not matter to payments. */
export function addedBy(contract: Contract): Pointer[] {
  const { owner } = contract.rule;
  return [...servicePointers(contract), ...(owner === null ? [] : [owner.at])];
}

function readKnown(
  definition: JsonObject,
  semantics: Semantics,
  options: { valueLists: ReturnType<typeof valueListsOf>; ignored: readonly Pointer[] },
): readonly RuleReading[] {
  if (isMask(definition))
    return [unknownAs("", "is not known here: it is a secret as a whole, or not known before up")];
  const unimportant = [...semantics.ignored, ...options.ignored];
  let open: Path | undefined;
  // The engine's text for a value that is not known yet must not be read as that text.
  walk(definition, (value, { path }) => {
    if (open === undefined && isUnknown(value) && !unimportant.some((each) => isAtOrBelow(path, each)))
      open = [...path];
  });
  if (open !== undefined) return [unknownAs(pointerOf(open), "is known only after up")];
  return readRules(definition, semantics, options);
}

function unknownAs(at: Pointer, why: string): RuleReading {
  return { kind: "unknown", faults: [{ at, why }], known: {} };
}

const parts: Readonly<Record<Exclude<RuleSide["kind"], "live">, string>> = {
  program: "the program declares",
  folder: "the folder holds",
  state: "the state has",
};

function partNote({ kind }: RuleSide): string[] {
  if (kind === "live") return [];
  return [
    `Only the rules that ${parts[kind]} take part: rules that other stacks or people made may decide otherwise, and are not seen here`,
  ];
}
