import type { Place } from "../../provider/run/place.ts";
import type { ProvenPlace } from "../../provider/run/proven-place.ts";
import { defaultConnection } from "../../provider/settings/setting-names.ts";
import { isNaturalKeySecret } from "../../sdk/contract/natural-key.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import {
  type CompareOptions,
  canonical,
  contains,
  defined,
  differences,
  isJsonObject,
  type Json,
  masked,
  type Pointer,
  withoutValueAt,
} from "../../sdk/json/index.ts";
import { contentOf } from "../model/content.ts";
import { pathFindingsOf } from "../model/path-findings.ts";
import { type Finding, type Report, reportOf } from "../model/report.ts";
import { type RuleSide, readLiveSide } from "../sides/index.ts";

/** One of two environments. */
export interface Environment {
  /** Its name in reports. */
  readonly name: string;
  readonly place: Place;
  /** Proves that it is the merchant of the environment's rules. @throws MerchantRulesError CONNECTION_FAILED */
  readonly prove: () => Promise<ProvenPlace>;
  /** Its address and credentials: two merchants may be told by their credentials alone. Holds secrets. */
  readonly identity: string;
}

/**
 * Compares the rules of two environments by natural key: their own fields, without ids, marks of owners and what the
 * service alone sets. Its own rules and dead ones are left out. One paged pass on each side. A rule that one side alone
 * has is the same as one that the other alone has, renamed, where marks say so or all else is equal.
 * @throws MerchantRulesError UNSUPPORTED_BY_CONTRACT: a contract has no list or no natural key; SETTINGS_INVALID: both
 * are the same place, or their natural keys differ; CONNECTION_FAILED: it is another merchant; and what a list throws
 */
export async function compareSides(from: Environment, to: Environment): Promise<Report> {
  const naturalKey = demandComparable(from, to);
  // A value that is secret in one of the two is shown of neither.
  const secrets = [...from.place.contract.rule.secret, ...to.place.contract.rule.secret];
  const isShown = ![from, to].some(({ place }) => isNaturalKeySecret(place.contract));
  const [one, other] = [from.place.contract.rule, to.place.contract.rule];
  const by = { unordered: [...one.unordered, ...other.unordered], forms: [...one.forms, ...other.forms] };
  // None is read before both are proven.
  const proven = await Promise.all([from, to].map(async ({ name, prove }) => [name, await prove()] as const));
  const sides = await Promise.all(proven.map(([name, each]) => readLiveSide(each, name, defaultConnection)));
  const [before, after] = sides.map((side) => byNaturalKey(side, naturalKey, { secrets, isShown, by }));
  if (before === undefined || after === undefined) throw new TypeError("two environments have two sides");
  const onlyIn = (change: "only-in-from" | "only-in-to", { name, ruleId, definition }: NamedRule): Finding => ({
    change,
    name,
    ...defined({ ruleId }),
    ...contentOf(change === "only-in-from" ? { before: definition } : { after: definition }),
    paths: [],
  });
  const findings: Finding[] = [
    ...before.odd.map(({ reason, ...rule }) => ({ ...onlyIn("only-in-from", rule), reason })),
    ...after.odd.map(({ reason, ...rule }) => ({ ...onlyIn("only-in-to", rule), reason })),
  ];
  const isAlone = (rules: ByNaturalKey["byKey"], { byKey }: ByNaturalKey): NamedRule[] =>
    [...rules].flatMap(([key, rule]) => (byKey.has(key) ? [] : [rule]));
  const [gone, come] = [isAlone(before.byKey, after), isAlone(after.byKey, before)];
  const renamed = renamedAmong(gone, come, ({ definition }) => {
    const rest = isJsonObject(definition) ? withoutValueAt(definition, naturalKey) : {};
    return contains(rest, (value) => !isJsonObject(value)) ? canonical(rest, by) : undefined;
  });
  const taken = new Set(renamed.values());
  let unchanged = 0;
  for (const [key, rule] of before.byKey) {
    const counterpart = after.byKey.get(key) ?? renamed.get(rule);
    if (counterpart === undefined) {
      findings.push(onlyIn("only-in-from", rule));
      continue;
    }
    const paths = pathFindingsOf(differences(rule.definition, counterpart.definition, by));
    const content = contentOf({ before: rule.definition, after: counterpart.definition });
    const { name } = counterpart;
    const names = isShown && renamed.has(rule) ? { name, formerName: rule.name } : { name: rule.name };
    if (paths.length === 0) unchanged += 1;
    else findings.push({ change: "changed", ...names, ...content, paths });
  }
  for (const rule of come) if (!taken.has(rule)) findings.push(onlyIn("only-in-to", rule));
  return reportOf({
    report: "diff",
    subject: `${from.name} and ${to.name}`,
    sides: { before: from.name, after: to.name },
    rules: unchanged + findings.length,
    unchanged,
    findings,
    notes: sides.flatMap(({ notes }) => notes),
  });
}

interface NamedRule {
  readonly name: string;
  readonly ruleId?: string | undefined;
  readonly place?: string | undefined;
  readonly definition: Json;
}

/**
 * Returns the rules that got another natural key, from the one to the other. Their marks tell, by resource and key; without
 * marks it takes a pair that is equal in all else, and that no third rule is equal to.
 * @param restOf gives a string for all but the natural key; undefined where there is nothing else
 */
function renamedAmong(
  gone: readonly NamedRule[],
  come: readonly NamedRule[],
  restOf: (rule: NamedRule) => string | undefined,
): Map<NamedRule, NamedRule> {
  const renamed = new Map<NamedRule, NamedRule>();
  const pair = (tell: typeof restOf): void => {
    const taken = new Set(renamed.values());
    const [from, to] = [gone.filter((rule) => !renamed.has(rule)), come.filter((rule) => !taken.has(rule))];
    const told = Map.groupBy(to, tell);
    for (const [text, [rule, ...twins]] of Map.groupBy(from, tell)) {
      const [counterpart, ...others] = (text === undefined ? undefined : told.get(text)) ?? [];
      if (rule !== undefined && counterpart !== undefined && twins.length + others.length === 0)
        renamed.set(rule, counterpart);
    }
  };
  pair(({ place }) => place);
  pair((rule) => (rule.place === undefined ? restOf(rule) : undefined));
  return renamed;
}

/** The rules of a side by natural key, and those that have no counterpart by nature. */
interface ByNaturalKey {
  readonly byKey: ReadonlyMap<string, NamedRule>;
  readonly odd: readonly (NamedRule & { readonly reason: string })[];
}

interface Shown {
  readonly secrets: readonly Pointer[];
  /** True where natural keys may be shown. */
  readonly isShown: boolean;
  readonly by: CompareOptions;
}

function byNaturalKey({ rules }: RuleSide, naturalKey: Pointer, { secrets, isShown, by }: Shown): ByNaturalKey {
  const byKey = new Map<string, NamedRule>();
  const odd: ByNaturalKey["odd"][number][] = [];
  for (const rule of rules) {
    const definition = masked(rule.definition, secrets, by);
    const named = {
      name: isShown ? rule.name : (rule.ruleId ?? rule.name),
      ruleId: rule.ruleId,
      place: rule.place,
      definition,
    };
    const { identity } = rule;
    if (identity === undefined) odd.push({ ...named, reason: `it has no natural key (${naturalKey})` });
    else if (byKey.has(identity)) odd.push({ ...named, reason: "another rule there has the same natural key" });
    else byKey.set(identity, named);
  }
  return { byKey, odd };
}

/** Refuses two environments that cannot be compared. @returns the natural key of both */
function demandComparable(from: Environment, to: Environment): string {
  const attempted = `compare ${from.name} and ${to.name}`;
  for (const { name, place } of [from, to]) {
    const { operations, rule } = place.contract;
    const lacks =
      operations.list === null ? "operations.list" : rule.naturalKey === null ? "rule.naturalKey" : undefined;
    if (lacks === undefined) continue;
    throw new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", `the contract of ${name} has no ${lacks}`, {
      attempted,
      advice: `set ${lacks} in the contract: rules of two environments have different ids, so they are found by the list, and told by what is unique among them`,
    });
  }
  const [one, other] = [from.place.contract.rule.naturalKey ?? "", to.place.contract.rule.naturalKey ?? ""];
  if (one !== other) {
    throw new MerchantRulesError(
      "SETTINGS_INVALID",
      `the natural key is ${one} in ${from.name} and ${other} in ${to.name}`,
      {
        attempted,
        advice: "use one contract for both, or set the same rule.naturalKey in both contracts",
      },
    );
  }
  if (from.identity === to.identity) {
    throw new MerchantRulesError("SETTINGS_INVALID", `both are the same place, ${from.place.options.address}`, {
      attempted,
      advice: "give the two environments addresses or parameters of their own, or name two others",
    });
  }
  return one;
}
