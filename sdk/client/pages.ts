import type { Contract, Operations, Pagination } from "../contract/schema.ts";
import { isMerchantRulesError, MerchantRulesError } from "../errors.ts";
import { isJsonArray, type Json, valueAt } from "../rules/index.ts";
import { type LiveRule, ruleIdIn, ruleIn, UnusableAnswer } from "./response.ts";

type List = NonNullable<Operations["list"]>;

/** Sends the request of one page. `query` is `name=value` by `&`, encoded; `parse` may throw UnusableAnswer. */
type Ask = <T>(query: string, parse: (answer: Json) => T) => Promise<T>;

/**
 * The pages of a list, each with those of its rules that were on no page before.
 * @throws MerchantRulesError RESPONSE_INVALID when the pages do not end; what `ask` rejects with
 */
export async function* pagesOf(list: List, { rule, limits }: Contract, ask: Ask): AsyncGenerator<LiveRule[]> {
  const { pagination } = list;
  const ids = new Set<string>();
  const cursors = new Set<string>();
  let before: readonly LiveRule[] | undefined;
  let cursor: string | undefined;
  let passed = 0;
  for (let number = 1; number <= limits.maxPages; number += 1) {
    const { type } = pagination;
    const added: [string, string][] = [];
    if (type !== "none" && pagination.limit !== null) added.push([pagination.limit, String(limits.pageSize)]);
    if (type === "page") added.push([pagination.page, String(pagination.first + number - 1)]);
    if (type === "offset") added.push([pagination.offset, String(passed)]);
    if (type === "cursor" && cursor !== undefined) added.push([pagination.cursor, cursor]);
    const query = added.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
    const page = await askFor(number, ids.size, ask, query, (answer) => {
      const rules = rulesIn(answer, list, rule.id);
      const next = cursorIn(answer, pagination);
      const isLast = isLastPage(pagination, rules.length, moreIn(answer, pagination), next);
      if (!isLast && next !== undefined && cursors.has(next))
        throw new UnusableAnswer(`page ${number} of the list leads back to a page before it`);
      const isRepeated =
        rules.length === before?.length && rules.every(({ ruleId }, at) => ruleId === before?.[at]?.ruleId);
      if (!isLast && next === undefined && isRepeated) {
        const place = "see operations.list.pagination";
        throw new UnusableAnswer(`page ${number} of the list repeats the page before it; ${place}`);
      }
      return { rules, next, isLast };
    });
    yield page.rules.filter(({ ruleId }) => ids.size < ids.add(ruleId).size);
    if (page.isLast) return;
    if (page.next !== undefined) cursors.add(page.next);
    cursor = page.next;
    before = page.rules;
    passed += page.rules.length;
  }
  const reason = `the list has more than limits.maxPages (${limits.maxPages}) pages`;
  const advice = "raise limits.maxPages or limits.pageSize in the contract";
  throw new MerchantRulesError("RESPONSE_INVALID", reason, { attempted: "list rules", advice });
}

/** Asks for a page. One that is not there, behind others that were, is no sign of a wrong path. */
async function askFor<T>(
  page: number,
  before: number,
  ask: Ask,
  query: string,
  parse: (answer: Json) => T,
): Promise<T> {
  try {
    return await ask(query, parse);
  } catch (error) {
    const status = isMerchantRulesError(error) ? error.exchange?.status : undefined;
    if (!isMerchantRulesError(error) || page === 1 || (status !== 404 && status !== 410)) throw error;
    const reason = `the service answered ${status} to page ${page} of the list; the pages before it have ${before} rules`;
    const advice =
      "if the service answers so behind its last page, set operations.list.pagination.more in the contract to the field of a page that says whether there are more";
    throw error.with({ reason, advice });
  }
}

/** The rules of a page; every item must be a rule with an id. */
function rulesIn(answer: Json, { items, envelope }: List, id: Contract["rule"]["id"]): LiveRule[] {
  const found = valueAt(answer, items);
  if (!isJsonArray(found))
    throw new UnusableAnswer(`there is no array of rules at ${items || "the root"} (operations.list.items)`);
  return found.map((item, index) => {
    const rule = ruleIn(item, { id, envelope });
    if (rule === undefined)
      throw new UnusableAnswer(`item ${index} of the list has no rule object at ${envelope || "its root"}`);
    const ruleId = ruleIdIn(item, { id, envelope });
    if (ruleId === undefined)
      throw new UnusableAnswer(`item ${index} of the list has no id at ${id.join(" or ")} (rule.id)`);
    return { ruleId, rule };
  });
}

/**
 * True where the list ends with a page. Numbered or counted pages end when the answer says so, else with the first
 * empty page. A short page is not the end: the service may give fewer rules than were asked for.
 * @param more what the answer says; undefined when it does not say
 */
function isLastPage({ type }: Pagination, count: number, more: boolean | undefined, cursor: string | undefined) {
  if (type === "none" || more === false) return true;
  if (type === "cursor" ? cursor !== undefined : count > 0) return false;
  if (more === undefined) return true;
  const gives = type === "cursor" ? "gives no cursor (operations.list.pagination.next)" : "the page is empty";
  throw new UnusableAnswer(`the list says that there is more, but ${gives}`);
}

function moreIn(answer: Json, pagination: Pagination): boolean | undefined {
  if (pagination.type === "none" || pagination.more === null) return undefined;
  const more = valueAt(answer, pagination.more) ?? undefined;
  if (more === undefined || typeof more === "boolean") return more;
  const at = `${pagination.more} (operations.list.pagination.more)`;
  throw new UnusableAnswer(`what stands at ${at} is neither true nor false`);
}

function cursorIn(answer: Json, pagination: Pagination): string | undefined {
  if (pagination.type !== "cursor") return undefined;
  const next = valueAt(answer, pagination.next) ?? "";
  if (typeof next === "number" && Number.isSafeInteger(next)) return String(next);
  if (typeof next !== "string")
    throw new UnusableAnswer(`the cursor at ${pagination.next} (operations.list.pagination.next) is not a text`);
  return next === "" ? undefined : next;
}
