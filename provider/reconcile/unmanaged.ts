import type { LiveRule } from "../../sdk/client/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import { warn } from "../host/print.ts";
import { markIn, ownerIn } from "./mark.ts";
import { naturalKeyText } from "./natural-key.ts";
import type { Place } from "./place.ts";
import type { Declared, Known } from "./plan.ts";

/** A set's word on the rules beside its own. */
export interface Watch {
  readonly onUnmanaged: "ignore" | "warn" | "fail";
  readonly rules: Declared;
}

const reports = new WeakMap<Place, Set<string>>();

/** True of a report that was not made yet: the engine calls several hooks of a resource in one run. */
function isNews(report: string, place: Place): boolean {
  const reported = getOrMake(reports, place, () => new Set<string>());
  return reported.size < reported.add(report).size;
}

/**
 * Looks for rules at the service that a set neither holds nor is about to take over.
 * @throws MerchantRulesError RULE_CONFLICT: for `fail`, naming them; or why it could not be looked
 */
export async function lookForUnmanaged(known: Known, place: Place, { onUnmanaged, rules }: Watch): Promise<void> {
  if (onUnmanaged === "ignore") return;
  const found = await describeUnmanaged(known, rules, place);
  if (found === undefined || (onUnmanaged === "warn" && !isNews(found, place))) return;
  if (onUnmanaged === "warn") return warn(found);
  throw new MerchantRulesError("RULE_CONFLICT", found, {
    advice: "declare them in the set (with adopt), delete them at the service, or set onUnmanaged to warn or ignore",
  });
}

/** The same where nothing else is asked of the service: for `warn`, a look that fails is said and stops nothing. */
export async function glanceAtUnmanaged(known: Known, place: Place, watch: Watch): Promise<void> {
  try {
    await lookForUnmanaged(known, place, watch);
  } catch (error) {
    if (watch.onUnmanaged === "fail" || !isMerchantRulesError(error)) throw error;
    const report = `rules that are not in the set could not be looked for: ${error.message}`;
    if (isNews(report, place)) warn(...report.split("\n"));
  }
}

async function describeUnmanaged(known: Known, rules: Declared, place: Place): Promise<string | undefined> {
  const managed = new Set(known.values().map(({ ruleId }) => ruleId));
  for (const { definition, adopt } of rules.values()) {
    const existing = typeof adopt === "string" ? adopt : (await place.live.search(definition, () => false))[0]?.ruleId;
    if (existing !== undefined) managed.add(existing);
  }
  const unmanaged = (await place.live.all()).filter(
    ({ ruleId, rule }) => !managed.has(ruleId) && !place.live.isForeign(rule),
  );
  if (unmanaged.length === 0) return undefined;
  const named = unmanaged.slice(0, 20).map((live) => nameOf(live, place));
  if (unmanaged.length > named.length) named.push(`and ${unmanaged.length - named.length} more`);
  const [what, are] = unmanaged.length === 1 ? ["rule", "is"] : ["rules", "are"];
  return `${unmanaged.length} ${what} at the service ${are} not in the set: ${named.join(", ")}`;
}

/** `"large-amounts" (17, of "shop/prod/all")`: its natural key, where there is one and it may be shown; its id; its owner. */
function nameOf({ ruleId, rule }: LiveRule, place: Place): string {
  const name = naturalKeyText(rule, place.contract);
  const mark = markIn(rule, place.contract);
  const owner = mark === undefined ? [] : [`of "${ownerIn(mark)}"`];
  if (name !== undefined) return `${JSON.stringify(name).slice(0, 100)} (${[ruleId, ...owner].join(", ")})`;
  return mark === undefined ? ruleId : `${ruleId} (${owner.join()})`;
}
