import { type Pagination, pagingOf } from "../contract/pagination/kinds.ts";
import type { Address, PageQuery, PageResponse, Paging, PlaceInList } from "../contract/pagination/paging.ts";
import { type Contract, idPointers, type Operations } from "../contract/schema.ts";
import { isMerchantRulesError, MerchantRulesError } from "../errors.ts";
import { isJsonArray, isJsonObject, type Json, type Pointer, valueAt } from "../json/index.ts";
import { UnusableResponse } from "../unusable-response.ts";
import { type LiveRule, ruleIdIn, ruleIn, withoutId } from "./response.ts";
import { demandNoMore } from "./signs-of-more.ts";

type List = NonNullable<Operations["list"]>;

/** Sends the request of one page. `parse` may throw UnusableResponse; `here` is the address of the page. A response is undefined for a 204. */
type Ask = <T>(query: PageQuery, parse: (response: PageResponse | undefined, here: Address) => T) => Promise<T>;

/** The lengths at which services cut a list that they do not give whole. */
const roundLengths = [50, 100, 200, 500, 1000];

/**
 * Reads the pages of a list, and yields the rules of each that were on no page before.
 * @param onCut hears of a last page that may be cut, with its length: it is as long as pages are made, and nothing says that it is
 * the last
 * @throws MerchantRulesError RESPONSE_INVALID when the pages do not end; what `ask` rejects with
 */
export async function* pagesOf(
  list: List,
  { rule, limits }: Contract,
  ask: Ask,
  onCut: (length: number) => void = () => {},
): AsyncGenerator<LiveRule[]> {
  const { pagination } = list;
  const paging = pagingOf(pagination);
  const id = idPointers(rule);
  const ids = new Set<string>();
  const visited = new Set<string>();
  let before: readonly LiveRule[] | undefined;
  let repeats = 0;
  let following: string | undefined;
  let passed = 0;
  let counted = 0;
  let told: Told = { total: undefined, more: undefined };
  for (let number = 1; number <= limits.maxPages; number += 1) {
    const query = queryOf(paging, { number, passed, following }, limits.pageSize);
    const page = await askFor(number, ids.size, () =>
      ask(query, (response, here) => {
        // Nothing in place of a page, as `empty` says.
        if (response === undefined) {
          demandNoMoreAfter(told, counted);
          return { rules: [], next: undefined, isLast: true, counts: counted, told, repeats: 0 };
        }
        const rules = rulesIn(response.json, list, id);
        const next = paging.next({ ...response, here, lastRuleId: rules.at(-1)?.ruleId });
        const more = moreIn(response.json, pagination);
        // A rule that is twice on a page counts once: else another would be left out.
        const distinct = new Set(rules.map(({ ruleId }) => ruleId)).size;
        const counts = counted + distinct;
        const total = totalIn(response.json, pagination);
        const end = { count: rules.length, distinct, counted: counts, total, more, next };
        const isLast = isLastPage(paging, pagination, end, limits.pageSize);
        if (isLast && more === undefined) demandNoMore(response, pagination, rules.length);
        if (isLast && mayBeCut(paging, pagination, end, limits.pageSize)) onCut(rules.length);
        if (!isLast && next !== undefined && visited.has(next))
          throw new UnusableResponse(`page ${number} of the list leads back to a page before it`);
        const isRepeated =
          rules.length === before?.length && rules.every(({ ruleId }, at) => ruleId === before?.[at]?.ruleId);
        const times = next === undefined && rules.length > 0 && isRepeated ? repeats + 1 : 0;
        // Rules that are made meanwhile push those of one page to the next, once, and then more follow.
        if (times > 1 || (times > 0 && isLast)) throw repeating(number, times);
        return { rules, next, isLast, counts, told: { total, more }, repeats: times };
      }),
    );
    yield page.rules.filter(({ ruleId }) => ids.size < ids.add(ruleId).size);
    if (page.isLast) return;
    if (page.next !== undefined) visited.add(page.next);
    ({ told, repeats } = page);
    following = page.next;
    before = page.rules;
    passed += page.rules.length;
    counted = page.counts;
  }
  const reason = `the list has more than limits.maxPages (${limits.maxPages}) pages`;
  const advice = "raise limits.maxPages or limits.pageSize in the contract";
  throw new MerchantRulesError("RESPONSE_INVALID", reason, { attempted: "list rules", advice });
}

/** Returns the likeliest advice after the service refused a page; undefined where no parameter asked for it. */
export function adviceOnPages(
  { pagination }: List,
  { parameters = [] }: PageQuery,
  limits: Contract["limits"],
): string | undefined {
  if (parameters.length === 0) return undefined;
  const { limit = null } = pagingOf(pagination).parameters;
  const size =
    limit === null ? "" : `lower limits.pageSize in the contract (${limit}=${limits.pageSize} was asked for), or `;
  return `${size}correct operations.list.pagination there: the page was asked for with ${parameters.map(([name]) => name).join(", ")}`;
}

/** Returns what asks for a page, with the page size where the contract has a parameter for it. */
function queryOf(paging: Paging, place: PlaceInList, pageSize: number): PageQuery {
  const { limit = null } = paging.parameters;
  const { target, parameters = [] } = paging.ask(place);
  if (target !== undefined) return { target };
  return { parameters: limit === null ? parameters : [[limit, pageSize], ...parameters] };
}

/** Asks for a page. One that is not there, behind others that were, is no sign of a wrong path. */
async function askFor<T>(page: number, before: number, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const status = isMerchantRulesError(error) ? error.exchange?.status : undefined;
    if (!isMerchantRulesError(error) || page === 1 || (status !== 404 && status !== 410)) throw error;
    const reason = `the service answered ${status} to page ${page} of the list; the pages before it have ${before} rules`;
    const advice =
      "if the service answers so behind its last page, set operations.list.pagination.more in the contract to the field of a page that says whether there are more, or total to the one that says how many rules there are in all";
    throw error.with({ reason, advice });
  }
}

/** Reads the rules of a page. @throws UnusableResponse where an item is no rule with an id */
function rulesIn(response: Json, { items, envelope, empty }: List, id: readonly Pointer[]): LiveRule[] {
  const found = valueAt(response, items);
  const nothing = found === null ? null : found === undefined && isJsonObject(response) ? "absent" : undefined;
  if (nothing !== undefined && empty.includes(nothing)) return [];
  if (!isJsonArray(found)) {
    const reason = `there is no array of rules at ${items || "the root"} (operations.list.items)`;
    if (nothing === undefined) throw new UnusableResponse(reason);
    throw new UnusableResponse(nothing === null ? `${reason}, but null` : reason, {
      advice: `compare the answer with operations.list.items in the contract; where the service answers so when it has no rules, set operations.list.empty there to [${nothing}]`,
    });
  }
  return found.map((item, index) => {
    const rule = ruleIn(item, { id, envelope });
    if (rule === undefined)
      throw new UnusableResponse(`item ${index} of the list has no rule object at ${envelope || "its root"}`);
    const ruleId = ruleIdIn(item, { id, envelope });
    if (ruleId === undefined) throw withoutId(`item ${index} of the list`, item, { id });
    return { ruleId, rule };
  });
}

/** Makes the error of a page that repeats those before it. */
function repeating(page: number, times: number): UnusableResponse {
  const repeated = times > 1 ? "two pages" : "page";
  return new UnusableResponse(`page ${page} of the list repeats the ${repeated} before it`, {
    advice: "correct operations.list.pagination in the contract: what asks for another page is not heeded",
  });
}

/** Decides whether a last page is as long as pages are made, and nothing says that it is the last. */
function mayBeCut(
  { endsWith }: Paging,
  pagination: Pagination,
  { count, total, more }: Told & { readonly count: number },
  pageSize: number,
): boolean {
  const isTold = more !== undefined || total !== undefined || ("complete" in pagination && pagination.complete);
  const isLong = count === pageSize || roundLengths.includes(count);
  return isLong && !isTold && endsWith !== "a page that names no other";
}

/** What a page has said of the whole list. */
interface Told {
  readonly total: number | undefined;
  readonly more: boolean | undefined;
}

/** Refuses nothing at all in place of a page, where the page before it has said that more follow. @throws UnusableResponse */
function demandNoMoreAfter({ total = 0, more }: Told, counted: number): void {
  if (more !== true && counted >= total) return;
  throw new UnusableResponse("the list says that there is more, but the next page has no content");
}

/**
 * Decides whether the list ends with a page. Pages without a cursor end when the response says so or all are there, else
 * with the first empty page. A short page is the end only where the contract says so: the service may give fewer rules
 * than were asked for.
 * @param end the number of rules on the page, without those that are twice, with those of the pages before it, and in all; whether there are more; what
 * names the next page. The last three are undefined where the response does not say.
 */
function isLastPage(
  { endsWith }: Paging,
  pagination: Pagination,
  end: {
    count: number;
    distinct: number;
    counted: number;
    total: number | undefined;
    more: boolean | undefined;
    next: string | undefined;
  },
  pageSize: number,
): boolean {
  const { count, distinct, counted, total, more, next } = end;
  if (endsWith === "its only page" || more === false) return true;
  if (more === undefined && total !== undefined) {
    if (distinct > total)
      throw new UnusableResponse(
        `the list says that it has ${total} rules, and a page of it has ${distinct} (operations.list.pagination.total)`,
        {
          // A rule may have been made since the rules were counted.
          isCut: true,
          advice:
            "set operations.list.pagination.total to null in the contract, so that the first empty page ends the list: the service's number is no count of its rules",
        },
      );
    if (counted >= total) return true;
    if (count > 0) return false;
    const found = `the list says that it has ${total} rules, but the page after ${counted} of them is empty`;
    throw new UnusableResponse(`${found} (operations.list.pagination.total)`);
  }
  if (more === undefined && "shortPage" in pagination && pagination.shortPage && count < pageSize) return true;
  if (endsWith === "an empty page" ? count > 0 : next !== undefined) return false;
  if (more === undefined) return true;
  const gives =
    endsWith === "an empty page" ? "the page is empty" : "gives no cursor (operations.list.pagination.next)";
  throw new UnusableResponse(`the list says that there is more, but ${gives}`);
}

function totalIn(response: Json, pagination: Pagination): number | undefined {
  if (!("total" in pagination) || pagination.total === null) return undefined;
  const total = valueAt(response, pagination.total);
  if (typeof total === "number" && Number.isSafeInteger(total) && total >= 0) return total;
  const at = `${pagination.total} (operations.list.pagination.total)`;
  throw new UnusableResponse(`there is no whole number at ${at}`);
}

function moreIn(response: Json, pagination: Pagination): boolean | undefined {
  if (!("more" in pagination) || pagination.more === null) return undefined;
  const more = valueAt(response, pagination.more) ?? undefined;
  if (more === undefined || typeof more === "boolean") return more;
  const at = `${pagination.more} (operations.list.pagination.more)`;
  throw new UnusableResponse(`what stands at ${at} is neither true nor false`);
}
