import type { Place } from "../../provider/reconcile/index.ts";
import { ownFields } from "../../provider/reconcile/live-rule.ts";
import { isNaturalKeySecret } from "../../provider/reconcile/natural-key.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { canonical, differences, type Json, type JsonObject, valueAt } from "../../sdk/rules/index.ts";
import { type Finding, type Report, reportOf } from "../index.ts";
import { pathFindingsOf } from "../path-findings.ts";

/** One of two environments. */
export interface Side {
  /** Its name in reports. */
  readonly name: string;
  readonly place: Place;
  /** Its address and credentials: two merchants may be told by their credentials alone. Holds secrets. */
  readonly identity: string;
}

/**
 * Compares the rules of two environments by natural key: their own fields, without ids, marks of owners and what the
 * service alone sets. Its own rules and dead ones are left out. One paged pass on each side.
 * @throws MerchantRulesError UNSUPPORTED_BY_CONTRACT: a contract has no list or no natural key; SETTINGS_INVALID: both
 * are the same place, or their natural keys differ; and what a list throws
 */
export async function compareSides(from: Side, to: Side): Promise<Report> {
  const naturalKey = demandComparable(from, to);
  // As with the values below: what is secret in one of the two is shown of neither.
  const isShown = ![from, to].some(({ place }) => isNaturalKeySecret(place.contract));
  const [before, after] = await Promise.all([rulesOf(from, naturalKey, isShown), rulesOf(to, naturalKey, isShown)]);
  const [one, other] = [from.place.contract.rule, to.place.contract.rule];
  const options = { unordered: [...one.unordered, ...other.unordered] };
  const secrets = [...one.secret, ...other.secret];
  const findings: Finding[] = [...before.odd, ...after.odd].map(({ side, ...finding }) => ({
    ...finding,
    change: side === from ? "only-in-from" : "only-in-to",
  }));
  let unchanged = 0;
  for (const [key, rule] of before.byKey) {
    const counterpart = after.byKey.get(key);
    if (counterpart === undefined) {
      findings.push({ change: "only-in-from", name: rule.name, ruleId: rule.ruleId, paths: [] });
      continue;
    }
    const paths = pathFindingsOf(differences(rule.fields, counterpart.fields, options), secrets);
    if (paths.length === 0) unchanged += 1;
    else findings.push({ change: "changed", name: rule.name, paths });
  }
  for (const [key, { name, ruleId }] of after.byKey)
    if (!before.byKey.has(key)) findings.push({ change: "only-in-to", name, ruleId, paths: [] });
  return reportOf({
    report: "diff",
    subject: `${from.name} and ${to.name}`,
    sides: { before: from.name, after: to.name },
    rules: unchanged + findings.length,
    unchanged,
    findings,
  });
}

interface LiveRule {
  readonly name: string;
  readonly ruleId: string;
  readonly fields: JsonObject;
}

/** A rule that has no counterpart by nature. */
type OddRule = Omit<Finding, "change"> & { readonly side: Side };

async function rulesOf(
  side: Side,
  naturalKey: string,
  isShown: boolean,
): Promise<{ readonly byKey: ReadonlyMap<string, LiveRule>; readonly odd: readonly OddRule[] }> {
  const { place } = side;
  const byKey = new Map<string, LiveRule>();
  const odd: OddRule[] = [];
  for (const { ruleId, rule } of await place.live.allWhole()) {
    if (place.live.isForeign(rule)) continue;
    const value = valueAt(rule, naturalKey);
    if (value === undefined || value === null) {
      odd.push({ side, name: ruleId, ruleId, reason: `it has no natural key (${naturalKey})`, paths: [] });
      continue;
    }
    const key = canonical(value);
    const name = isShown ? nameOf(value) : ruleId;
    if (!byKey.has(key)) byKey.set(key, { name, ruleId, fields: ownFields(rule, place) });
    else odd.push({ side, name, ruleId, reason: "another rule there has the same natural key", paths: [] });
  }
  return { byKey, odd };
}

function nameOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** @returns the natural key of both */
function demandComparable(from: Side, to: Side): string {
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
