import type { LiveRule } from "../../sdk/client/index.ts";
import { naturalKeyText } from "../../sdk/contract/natural-key.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import type { Declared, Known } from "../decide/plan.ts";
import { warn } from "../host/print.ts";
import { markId, markIn, ownerIn } from "../merchant/mark.ts";
import type { Link } from "../merchant/site.ts";
import type { Place } from "../run/place.ts";

/** A set's word on the rules beside its own. */
export interface Watch {
  readonly onUnmanaged: "ignore" | "warn" | "fail";
  readonly rules: Declared;
  readonly link: Link | undefined;
}

/** True of a report that was not made yet: the engine calls several hooks of a resource in one run. */
function isNews(report: string, place: Place): boolean {
  const { size } = place.reported;
  return size < place.reported.add(report).size;
}

/**
 * Looks for rules at the service that a set neither holds nor is about to take over.
 * @throws MerchantRulesError RULE_CONFLICT: for `fail`, naming them; or why it could not be looked
 */
export async function lookForUnmanaged(known: Known, place: Place, { onUnmanaged, rules, link }: Watch): Promise<void> {
  if (onUnmanaged === "ignore") return;
  const found = await describeUnmanaged(known, rules, place, link?.ownerId);
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

/** Listed, its id in no heard row, and without our owner id, or with the same mark as another rule. Never by natural key. */
async function describeUnmanaged(
  known: Known,
  rules: Declared,
  place: Place,
  ownerId?: string,
): Promise<string | undefined> {
  const managed = new Set(known.values().map(({ ruleId }) => ruleId));
  for (const { adopt } of rules.values()) if (typeof adopt === "string") managed.add(adopt);
  const all = await place.live.all();
  const marks = Map.groupBy(all, ({ rule }) => idOfMark(rule, place));
  const unmanaged = all.filter(({ ruleId, rule }) => {
    if (managed.has(ruleId) || place.claims.isKnown(ruleId) || place.live.isForeign(rule)) return false;
    const mark = markIn(rule, place.contract);
    return mark === undefined || mark.ownerId !== ownerId || (marks.get(markId(mark))?.length ?? 0) > 1;
  });
  if (unmanaged.length === 0) return undefined;
  const named = unmanaged.slice(0, 20).map((live) => nameOf(live, place));
  if (unmanaged.length > named.length) named.push(`and ${unmanaged.length - named.length} more`);
  const [what, are] = unmanaged.length === 1 ? ["rule", "is"] : ["rules", "are"];
  return `${unmanaged.length} ${what} at the service ${are} not in the set: ${named.join(", ")}`;
}

function idOfMark(rule: LiveRule["rule"], { contract }: Place): string | undefined {
  const mark = markIn(rule, contract);
  return mark === undefined ? undefined : markId(mark);
}

/** `"large-amounts" (17, of "shop/prod/all")`: its natural key, where there is one and it may be shown; its id; its owner. */
function nameOf({ ruleId, rule }: LiveRule, place: Place): string {
  const name = naturalKeyText(rule, place.contract);
  const mark = markIn(rule, place.contract);
  const owner = mark === undefined ? [] : [`of "${ownerIn(mark)}"`];
  if (name !== undefined) return `${JSON.stringify(name).slice(0, 100)} (${[ruleId, ...owner].join(", ")})`;
  return mark === undefined ? ruleId : `${ruleId} (${owner.join()})`;
}
