import { dependsOnList } from "../../meaning/evaluate/decide.ts";
import { type RuleReading, readRules, type Semantics, valueListsOf } from "../../meaning/index.ts";
import {
  asWritten,
  blindMask,
  canonical,
  isJsonObject,
  type Json,
  type JsonObject,
  masked,
  type Path,
  type Pointer,
  pointerOf,
  withValueAt,
} from "../../sdk/json/index.ts";
import { type Allowance, Allowances } from "./allowances.ts";
import type { AnalyzedRule } from "./analyzed-rule.ts";
import { type Baseline, type DeployedRule, emptyBaseline, noBaseline, readBaseline } from "./baseline.ts";
import type { PolicyFinding } from "./rule-policy.ts";
import { secretPathsIn } from "./secrets.ts";
import { noSemantics, type ReadSemantics, readSemantics } from "./semantics-file.ts";

export interface PolicySideRule {
  readonly resource: string;
  readonly key: string;
  /** As messages name it. */
  readonly name: string;
  /** Undefined of a deployed rule. */
  readonly declared: AnalyzedRule | undefined;
}

/** The rules of one connection on one side, as their semantics read them. */
export interface PolicySide {
  readonly rules: readonly RuleReading[];
  /** The rule that each reading is of. */
  readonly sources: readonly PolicySideRule[];
  readonly unlisted: ReadonlyMap<number, number>;
  /** For each reading a string that is the same exactly where the definition and the value lists that it may name are. */
  readonly texts: readonly string[];
}

/** What is deployed, with the changes that are allowed, and what the program declares. */
export interface TwoSides {
  readonly connection: string;
  readonly before: PolicySide;
  readonly after: PolicySide;
  /** False where it is unknown which values are secret: then no payment that is made of them may be shown. */
  readonly areSecretsKnown: boolean;
}

interface Definition extends PolicySideRule {
  readonly connection: string;
  /** Masks in the place of what is secret, or not known. */
  readonly masked: JsonObject;
  /** The same string exactly where nothing differs. */
  readonly text: string;
}

/** What a policy that compares by meaning judges; or what it finds where there is nothing to compare with. */
type SidesByMeaning =
  | { readonly finding: PolicyFinding }
  | { readonly sides: readonly TwoSides[]; readonly meaning: ReadSemantics; readonly allowances: Allowances };

interface MeaningConfig {
  readonly baseline: string | null;
  readonly semantics: string | null;
  readonly allowed: true | readonly Allowance[];
}

/** Returns why a configuration leaves nothing to compare; undefined where there is something. */
export function whyNoSides({ baseline, semantics, allowed }: MeaningConfig): string | undefined {
  if (allowed === true) return "all changes are allowed";
  if (baseline === null) return noBaseline;
  return semantics === null ? noSemantics : undefined;
}

/** Reads what is deployed and what rules mean, and puts what the program declares beside it; undefined as {@link whyNoSides} says. */
export function sidesByMeaning(
  rules: readonly AnalyzedRule[],
  { baseline, semantics, allowed }: MeaningConfig,
  { now, secret }: { readonly now: Date; readonly secret: readonly Pointer[] },
): SidesByMeaning | undefined {
  if (baseline === null || semantics === null || allowed === true) return undefined;
  const deployed = readBaseline(baseline);
  if (deployed.rules.length === 0 && rules.length > 0) return { finding: emptyBaseline };
  const meaning = readSemantics(semantics);
  const names = rules.map((rule) => ({ resource: rule.resource.name, key: rule.key ?? "" }));
  const allowances = new Allowances(allowed, now, names);
  return { sides: twoSidesOf(rules, deployed, meaning, { allowances, secret }), meaning, allowances };
}

/**
 * Returns both sides of each connection. Rules that the stack does not declare take no part. Secrets are replaced by masks before
 * rules are read, so that no payment shows one. A resource whose connection is not known yet is taken to stay where it is; a new one takes no
 * part.
 */
function twoSidesOf(
  declared: readonly AnalyzedRule[],
  baseline: Baseline,
  { semantics, valueLists }: ReadSemantics,
  { allowances, secret }: { readonly allowances: Allowances; readonly secret: readonly Pointer[] },
): TwoSides[] {
  const after = declared.flatMap((rule) => {
    const connection = rule.knownConnection ?? deployedConnection(baseline, rule.resource.name);
    return connection === undefined ? [] : [ofDeclared(rule, connection, secret)];
  });
  const before = baseline.rules.map((rule) => ofDeployed(rule, secret));
  const areSecretsKnown = declared.every((rule) => secretPathsIn(rule) !== undefined);
  return [...new Set([...before, ...after].map(({ connection }) => connection))].sort().map((connection) => {
    const isHere = (rule: Definition): boolean => rule.connection === connection;
    const own = after.filter(isHere);
    // Allowed changes count as done, so that only the others are judged.
    const known = [
      ...before.filter((rule) => isHere(rule) && !allowances.covers(rule)),
      ...own.filter((rule) => allowances.covers(rule)),
    ];
    const side = (rules: readonly Definition[]): PolicySide => sideOf(rules, semantics, valueLists);
    return { connection, before: side(known), after: side(own), areSecretsKnown };
  });
}

function sideOf(
  definitions: readonly Definition[],
  semantics: Semantics,
  fromFiles: ReadSemantics["valueLists"],
): PolicySide {
  const valueLists = valueListsOf(
    definitions.map(({ masked }) => masked),
    semantics,
    fromFiles,
  );
  const [rules, sources, texts]: [RuleReading[], PolicySideRule[], string[]] = [[], [], []];
  const unlisted = new Map<number, number>();
  // Where the service lists a definition among others is not known.
  const isListed = dependsOnList(semantics.wins) && definitions.length > 1;
  for (const [number, definition] of definitions.entries())
    for (const [index, reading] of readRules(definition.masked, semantics, { valueLists }).entries()) {
      if (isListed) unlisted.set(rules.length, number);
      const name = semantics.rules === null ? definition.name : `${definition.name}, rule ${index + 1}`;
      rules.push(reading);
      sources.push({ ...definition, name });
      texts.push(`${index} ${definition.text}${listsIn(definition.text, valueLists)}`);
    }
  return { rules, sources, texts, unlisted };
}

/** Returns the connection at which a resource is deployed; undefined where it is at none, or at several. */
function deployedConnection({ rules }: Baseline, resource: string): string | undefined {
  const [one, ...others] = new Set(rules.flatMap((rule) => (rule.resource === resource ? [rule.connection] : [])));
  return others.length === 0 ? one : undefined;
}

/** Returns the value lists whose names stand in a definition, as a string; empty where none do. */
function listsIn(text: string, lists: ReadonlyMap<string, readonly Json[]>): string {
  const named = [...lists].filter(([name]) => text.includes(JSON.stringify(name).slice(1, -1)));
  return named.length === 0 ? "" : ` ${canonical(named, asWritten)}`;
}

function ofDeclared(rule: AnalyzedRule, connection: string, secret: readonly Pointer[]): Definition {
  const { definition, label, unknownPaths } = rule;
  const unknown = rule.key === undefined ? [[]] : unknownPaths;
  const isWhole = unknown.length === 0;
  return {
    resource: rule.resource.name,
    key: rule.key ?? "",
    name: label,
    declared: rule,
    connection,
    masked: maskedAt(masked(definition, secret, asWritten), [...(secretPathsIn(rule) ?? []), ...unknown]),
    // A definition with unknown values equals no other.
    text: isWhole ? canonical(definition, asWritten) : `declared ${label}`,
  };
}

function ofDeployed(
  { resource, key, connection, definition, sealed, open }: DeployedRule,
  secret: readonly Pointer[],
): Definition {
  const isWhole = sealed.length === 0;
  return {
    resource,
    key,
    name: key,
    declared: undefined,
    connection,
    masked: maskedAt(masked(definition, secret, asWritten), [...open, ...sealed]),
    text: isWhole ? canonical(definition, asWritten) : `deployed ${resource} ${key}`,
  };
}

function maskedAt(definition: Json, paths: readonly Path[]): JsonObject {
  const hidden = paths.reduce<Json>((value, path) => withValueAt(value, pointerOf(path), blindMask), definition);
  return isJsonObject(hidden) ? hidden : blindMask;
}
