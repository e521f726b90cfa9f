import { ownFields } from "../../provider/decide/live-rule.ts";
import { leavingDefinition } from "../../provider/host/wire.ts";
import { markIn, ownerIn } from "../../provider/merchant/mark.ts";
import type { Place } from "../../provider/run/place.ts";
import type { RulePattern } from "../../report/files/rule-pattern.ts";
import type { LiveRule } from "../../sdk/client/index.ts";
import { type Contract, servicePointers } from "../../sdk/contract/index.ts";
import { isNaturalKeySecret, lackedKey } from "../../sdk/contract/natural-key.ts";
import { isMerchantRulesError, MerchantRulesError, shortened } from "../../sdk/errors.ts";
import {
  asWritten,
  canonical,
  canonicalAt,
  contains,
  findNotJson,
  isExactNumber,
  isMaskedText,
  type Json,
  type JsonObject,
  type Path,
  type Pointer,
  pathOf,
  valueAt,
  walk,
  withoutValueAt,
  withoutWriteOnly,
} from "../../sdk/json/index.ts";
import type { ExportedRule } from "./exported-rule.ts";
import { namesOf, type Renamed } from "./names.ts";
import { secretPaths } from "./secrets.ts";

/** The rules to read. */
export interface Selection {
  /** Empty: all. */
  readonly include: readonly RulePattern[];
  readonly exclude: readonly RulePattern[];
  /** True where one resource is to hold all rules. */
  readonly isSet: boolean;
}

export interface ReadRules {
  /** Sorted by key. */
  readonly rules: readonly ExportedRule[];
  /** Number of rules at the service, without dead ones. */
  readonly total: number;
  /** The contract's pointers to what the service computes, as far as a rule has something there. */
  readonly leftOut: readonly string[];
  readonly renamed: readonly Renamed[];
  /** Says that the list may not be whole; undefined where nothing looks like it. */
  readonly mayBeCut: string | undefined;
  /** The rules that were passed over, in words. */
  readonly passedOver: readonly string[];
}

/**
 * Reads every rule of a place by its list, once, and one of them by a GET too, which shows whether the list has whole rules.
 * @throws MerchantRulesError UNSUPPORTED_BY_CONTRACT: the contract has no list; RULE_INVALID: rules that cannot be
 * declared as they are; RULE_CONFLICT: rules that one set cannot hold; and whatever reading fails with
 */
export async function readRules(place: Place, selection: Selection): Promise<ReadRules> {
  const { contract } = place;
  if (contract.operations.list === null) throw noList();
  const all = await place.live.allWhole();
  // A name that is a secret stands in no file.
  const titleOf = ({ rule }: LiveRule): string | undefined =>
    isNaturalKeySecret(contract) ? undefined : naturalKeyOf(rule, contract);
  const passed = new Map<string, number>();
  const chosen = all.filter((live) => {
    const why = reasonToPassOver(live, titleOf(live), place, selection);
    if (why !== undefined) passed.set(why, (passed.get(why) ?? 0) + 1);
    return why === undefined;
  });
  if (selection.isSet) demandOneEach(chosen, contract);
  const { names, renamed } = namesOf(chosen.map((live) => ({ ruleId: live.ruleId, title: titleOf(live) })));
  const rules = chosen.map((live) => exported(live, names.get(live.ruleId) ?? live.ruleId, place));
  demandDeclarable(rules, contract);
  return {
    rules: rules.sort((a, b) => (a.key < b.key ? -1 : 1)),
    total: all.length,
    mayBeCut: place.live.mayBeCut,
    leftOut: computedPointers(place).filter((pointer) =>
      chosen.some(({ rule }) => valueAt(rule, pointer) !== undefined),
    ),
    renamed,
    passedOver: [...passed].sort().map(([why, count]) => `${count} ${count === 1 ? "rule" : "rules"}: ${why}`),
  };
}

/** Returns the pointers to what a program does not declare: the id, what the service alone sets or does not show, the mark of the owner. */
function computedPointers({ contract }: Place): string[] {
  const { owner } = contract.rule;
  const own = [...new Set(servicePointers(contract)), ...contract.rule.writeOnly];
  return owner === null ? own : [...own, owner.at];
}

function exported({ ruleId, rule }: LiveRule, key: string, place: Place): ExportedRule {
  const { owner } = place.contract.rule;
  const own = withoutWriteOnly(ownFields(rule, place), place.contract.rule);
  // No program declares what stands there, not even that nothing does.
  const definition = owner === null ? own : withoutValueAt(own, owner.at);
  return { key, ruleId, definition, secrets: secretPaths(definition, place.contract.rule.secret) };
}

function reasonToPassOver(
  { ruleId, rule }: LiveRule,
  naturalKey: string | undefined,
  place: Place,
  { include, exclude }: Selection,
): string | undefined {
  if (place.live.isForeign(rule)) return "the service's own (rule.foreign in the contract)";
  const mark = markIn(rule, place.contract);
  if (mark !== undefined) return `managed by "${ownerIn(mark)}", as the mark says: it is in code already`;
  const isNamed = (patterns: readonly RulePattern[]): boolean =>
    patterns.some((matches) => matches({ ruleId, naturalKey }));
  if (isNamed(exclude)) return "left out by --exclude";
  if (include.length > 0 && !isNamed(include)) return "not in --include";
  const { owner } = place.contract.rule;
  const text = (owner === null ? undefined : valueAt(rule, owner.at)) ?? "";
  if (owner !== null && text !== "")
    return `${owner.at} holds somebody's own text, and the mark of the rule's owner goes there, so a write would remove the text: name another place in the contract (rule.owner), or clear the text at the service`;
  return undefined;
}

function naturalKeyOf(rule: JsonObject, { rule: { naturalKey } }: Contract): string | undefined {
  const value = naturalKey === null ? undefined : valueAt(rule, naturalKey);
  if (value === undefined || value === null || value === "") return undefined;
  return typeof value === "string" ? value : canonical(value, asWritten);
}

/** Throws where two rules have one natural key: a preview of a set refuses them. */
function demandOneEach(rules: readonly LiveRule[], contract: Contract): void {
  const keyed = rules.flatMap((live) => {
    const name = naturalKeyOf(live.rule, contract);
    const key = canonicalAt(live.rule, contract.rule.naturalKey ?? "", contract.rule);
    return name === undefined ? [] : [{ ruleId: live.ruleId, name, key }];
  });
  const shared = [...Map.groupBy(keyed, ({ key }) => key).values()].filter((same) => same.length > 1);
  if (shared.length === 0) return;
  const lines = shared.map((same) => {
    const ids = same.map(({ ruleId }) => ruleId).sort();
    return `  ${isNaturalKeySecret(contract) ? "one" : JSON.stringify(shortened(same[0]?.name ?? "", 100))}: ${ids.join(", ")}`;
  });
  const what = `a set cannot hold two rules with one natural key (${contract.rule.naturalKey}):`;
  throw new MerchantRulesError("RULE_CONFLICT", what, {
    lines: firstOf(lines),
    attempted: "export rules",
    advice: "delete all but one of each at the service, leave them out with --exclude, or use --as program",
  });
}

/** Returns why a preview refuses a rule without a natural key. */
export function namelessAt(lacked: Pointer): string {
  return `it has no value at ${lacked}, the natural key (rule.naturalKey in the contract)`;
}

/** Returns the first lines of a list that may be long, and how many more there are. */
export function firstOf(lines: readonly string[], most = 20): string[] {
  return lines.length > most ? [...lines.slice(0, most), `  and ${lines.length - most} more`] : [...lines];
}

/** Throws a MerchantRulesError RULE_INVALID where a preview would refuse rules, so that no file is of use. */
function demandDeclarable(rules: readonly ExportedRule[], contract: Contract): void {
  const faults = rules.flatMap(({ ruleId, definition, secrets }) => {
    const lacked = lackedKey(definition, contract);
    const what = faultOf(definition, secrets) ?? (lacked === undefined ? undefined : namelessAt(lacked));
    // By this name --exclude knows it.
    const name = isNaturalKeySecret(contract) ? undefined : naturalKeyOf(definition, contract);
    return what === undefined ? [] : [`  ${name === undefined ? ruleId : `${name} (${ruleId})`}: ${what}`];
  });
  if (faults.length === 0) return;
  const reason = `${faults.length === 1 ? "a rule" : `${faults.length} rules`} cannot be declared as the service has them:`;
  const advice =
    "leave these rules out with --exclude, or change them at the service; where a secret is masked, use credentials that may read it, or declare the rule by hand";
  throw new MerchantRulesError("RULE_INVALID", reason, { lines: firstOf(faults), attempted: "export rules", advice });
}

function faultOf(definition: JsonObject, secrets: readonly Path[]): string | undefined {
  const masked = secrets.find((path) => contains(valueAtPath(definition, path), isMaskedText));
  if (masked !== undefined) return `${pathOf(masked) || "it"} is masked: the service does not show this secret`;
  return whyNotDeclarable(definition);
}

/** Returns the reason why no program can declare a live rule as it is, as a sentence; undefined where one can. */
export function whyNotDeclarable(definition: JsonObject): string | undefined {
  const odd = findNotJson(definition);
  if (odd !== undefined) return `${pathOf(odd.path) || "it"} holds ${odd.found}, which is not JSON`;
  const inexact = walk(definition, (value, { path }) => (isExactNumber(value) ? path : undefined));
  if (inexact !== undefined) return `${pathOf(inexact)} holds a number whose last digits a program loses`;
  const proto = walk(definition, (_, { path }) => (path.at(-1) === "__proto__" ? path : undefined));
  if (proto !== undefined) return `${pathOf(proto)} cannot be declared: a field of this name does not reach the engine`;
  try {
    leavingDefinition(definition);
  } catch (error) {
    if (isMerchantRulesError(error)) return error.reason;
    throw error;
  }
  return undefined;
}

/** Returns the value at a path that is known to be there. */
export function valueAtPath(definition: Json, path: Path): Json {
  return path.reduce<Json>((here, key) => Reflect.get(Object(here), key), definition);
}

function noList(): MerchantRulesError {
  const reason = "the contract has no list operation (operations.list), so nothing tells which rules there are";
  const advice =
    "put operations.list into the contract, as the service documents it: { path: /api/v1/merchants/rules, items: /rules }, with pagination where it has pages";
  return new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", reason, { attempted: "export rules", advice });
}
