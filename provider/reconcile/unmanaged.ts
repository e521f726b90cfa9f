import type { LiveRule } from "../../sdk/client/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { getOrMake } from "../get-or-make.ts";
import { print } from "../print.ts";
import { markIn, type Owner, ownerIn } from "./mark.ts";
import { naturalKeyText } from "./natural-key.ts";
import type { Place } from "./place.ts";
import type { Declared, Known } from "./plan.ts";

/** A set's word on the rules beside its own. */
export interface Watch {
  readonly onUnmanaged: "ignore" | "warn" | "fail";
  readonly rules: Declared;
  /** The sets over which a ShardedMerchantRuleSet spreads its rules; undefined for a set by itself. */
  readonly group: Group | undefined;
}

export interface Group {
  readonly name: string;
  readonly sets: number;
}

/** The rules that one set holds, or is about to take over. */
interface Part {
  readonly known: Known;
  readonly rules: Declared;
}

/** Reports of one place: what its sets have said so far in this run. */
class Reports {
  readonly #parts = new Map<string, Map<Owner, Part>>();
  readonly #reported = new Set<string>();

  /** Takes what a set says; gives what all of its group say, once each of them has. */
  gathered(owner: Owner, part: Part, group: Group | undefined): Part[] | undefined {
    if (group === undefined) return [part];
    const parts = this.#parts.get(group.name) ?? new Map<Owner, Part>();
    this.#parts.set(group.name, parts.set(owner, part));
    return parts.size < group.sets ? undefined : [...parts.values()];
  }

  /** True of a report that was not made yet: the engine calls several hooks of a resource in one run. */
  isNews(report: string): boolean {
    return this.#reported.size < this.#reported.add(report).size;
  }
}

const reports = new WeakMap<Place, Reports>();

function reportsOf(place: Place): Reports {
  return getOrMake(reports, place, () => new Reports());
}

/**
 * Looks for rules at the service that a set neither holds nor is about to take over; of a group the last set looks, for
 * all of them.
 * @throws MerchantRulesError RULE_CONFLICT: for `fail`, naming them; or why it could not be looked
 */
export async function lookForUnmanaged(owner: Owner, known: Known, place: Place, watch: Watch): Promise<void> {
  const { onUnmanaged, rules, group } = watch;
  if (onUnmanaged === "ignore") return;
  const parts = reportsOf(place).gathered(owner, { known, rules }, group);
  if (parts === undefined) return;
  const found = await describeUnmanaged(parts, place);
  if (found === undefined || (onUnmanaged === "warn" && !reportsOf(place).isNews(found))) return;
  if (onUnmanaged === "warn") return print(found);
  throw new MerchantRulesError("RULE_CONFLICT", found, {
    advice: "declare them in the set (with adopt), delete them at the service, or set onUnmanaged to warn or ignore",
  });
}

/** The same where nothing else is asked of the service: for `warn`, a look that fails is said and stops nothing. */
export async function glanceAtUnmanaged(owner: Owner, known: Known, place: Place, watch: Watch): Promise<void> {
  try {
    await lookForUnmanaged(owner, known, place, watch);
  } catch (error) {
    if (watch.onUnmanaged === "fail" || !isMerchantRulesError(error)) throw error;
    const report = `rules that are not in the set could not be looked for: ${error.message}`;
    if (reportsOf(place).isNews(report)) print(...report.split("\n"));
  }
}

async function describeUnmanaged(parts: readonly Part[], place: Place): Promise<string | undefined> {
  const managed = new Set(parts.flatMap(({ known }) => [...known.values()].map(({ ruleId }) => ruleId)));
  for (const { definition, adopt } of parts.flatMap(({ rules }) => [...rules.values()])) {
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
