import type { Contract, Operations, Pagination } from "../contract/schema.ts";
import { MerchantRulesError } from "../errors.ts";
import { isJsonArray, type Json, valueAt } from "../rules/index.ts";
import { type LiveRule, type RulePlaces, ruleIdIn, ruleIn, UnusableAnswer } from "./response.ts";

type List = NonNullable<Operations["list"]>;

/** One answer of the list operation. */
export interface Page {
  readonly rules: readonly LiveRule[];
  /** Whether there are more pages; undefined when the contract or the answer does not say. */
  readonly more: boolean | undefined;
  readonly cursor: string | undefined;
}

/** How far the pages have been read. */
export interface Position {
  /** From 1. */
  readonly number: number;
  /** Rules on the pages before this one. */
  readonly passed: number;
  readonly cursor: string | undefined;
}

/** Asks for one page. `check` throws when the page or the place of the next one is wrong. */
export type AskForPage = (
  position: Position,
  check: (page: Page, next: Position | undefined) => void,
) => Promise<{ page: Page; next: Position | undefined }>;

/** The rules on all pages, each id once. @throws MerchantRulesError RESPONSE_INVALID when the pages do not end */
export async function* allPages(ask: AskForPage, { limits }: Contract): AsyncGenerator<LiveRule, void, undefined> {
  const ids = new Set<string>();
  const cursors = new Set<string>();
  let before: Page | undefined;
  let position: Position | undefined = { number: 1, passed: 0, cursor: undefined };
  while (position !== undefined) {
    const { number } = position;
    if (number > limits.maxPages) {
      const reason = `the list has more than limits.maxPages (${limits.maxPages}) pages`;
      const advice = "raise limits.maxPages or limits.pageSize in the contract";
      throw new MerchantRulesError("RESPONSE_INVALID", reason, { attempted: "list rules", advice });
    }
    const last = before;
    const { page, next }: Awaited<ReturnType<AskForPage>> = await ask(position, (found, following) => {
      if (following?.cursor !== undefined && cursors.has(following.cursor)) {
        throw new UnusableAnswer(`page ${number} of the list leads back to a page before it`);
      }
      if (following !== undefined && following.cursor === undefined && last !== undefined && isSame(last, found)) {
        throw new UnusableAnswer(
          `page ${number} of the list repeats the page before it; see operations.list.pagination`,
        );
      }
    });
    for (const rule of page.rules) {
      if (ids.has(rule.ruleId)) continue;
      ids.add(rule.ruleId);
      yield rule;
    }
    if (next?.cursor !== undefined) cursors.add(next.cursor);
    before = page;
    position = next;
  }
}

function isSame(a: Page, b: Page): boolean {
  return a.rules.length === b.rules.length && a.rules.every(({ ruleId }, index) => ruleId === b.rules[index]?.ruleId);
}

/** The query of a page: `name=value` by `&`, encoded. */
export function pageQuery(pagination: Pagination, pageSize: number, position: Position): string {
  if (pagination.type === "none") return "";
  const pairs: [string, string][] = [];
  if (pagination.limit !== null) pairs.push([pagination.limit, String(pageSize)]);
  if (pagination.type === "page") pairs.push([pagination.page, String(pagination.first + position.number - 1)]);
  if (pagination.type === "offset") pairs.push([pagination.offset, String(position.passed)]);
  if (pagination.type === "cursor" && position.cursor !== undefined) pairs.push([pagination.cursor, position.cursor]);
  return pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
}

/** A page in an answer: every item must be a rule with an id. @throws UnusableAnswer */
export function pageIn(answer: Json, { items, envelope, pagination }: List, id: RulePlaces["id"]): Page {
  const found = valueAt(answer, items);
  if (!isJsonArray(found))
    throw new UnusableAnswer(
      `there is no array of rules at ${items === "" ? "the root" : items} (operations.list.items)`,
    );
  const places = { id, envelope };
  const rules = found.map((item, index) => {
    const rule = ruleIn(item, places);
    if (rule === undefined)
      throw new UnusableAnswer(
        `item ${index} of the list has no rule object at ${envelope === "" ? "its root" : envelope}`,
      );
    const ruleId = ruleIdIn(item, places);
    if (ruleId === undefined)
      throw new UnusableAnswer(`item ${index} of the list has no id at ${id.join(" or ")} (rule.id)`);
    return { ruleId, rule };
  });
  return { rules, more: moreIn(answer, pagination), cursor: cursorIn(answer, pagination) };
}

/**
 * Where the next page is; undefined after the last. Numbered or counted pages end when the answer says so, else with
 * the first empty page. A short page is not the end: the service may give fewer rules than were asked for.
 * @throws UnusableAnswer when the answer says that there is more, but not where
 */
export function nextPosition({ type }: Pagination, page: Page, { number, passed }: Position): Position | undefined {
  if (type === "none" || page.more === false) return undefined;
  if (type === "cursor") {
    if (page.cursor !== undefined)
      return { number: number + 1, passed: passed + page.rules.length, cursor: page.cursor };
    if (page.more === true)
      throw new UnusableAnswer(
        "the list says that there is more, but gives no cursor (operations.list.pagination.next)",
      );
    return undefined;
  }
  if (page.rules.length === 0) {
    if (page.more === true) throw new UnusableAnswer("the list says that there is more, but the page is empty");
    return undefined;
  }
  return { number: number + 1, passed: passed + page.rules.length, cursor: undefined };
}

function moreIn(answer: Json, pagination: Pagination): boolean | undefined {
  if (pagination.type === "none" || pagination.more === null) return undefined;
  const more = valueAt(answer, pagination.more) ?? undefined;
  if (more !== undefined && typeof more !== "boolean")
    throw new UnusableAnswer(
      `what stands at ${pagination.more} (operations.list.pagination.more) is neither true nor false`,
    );
  return more;
}

function cursorIn(answer: Json, pagination: Pagination): string | undefined {
  if (pagination.type !== "cursor") return undefined;
  const next = valueAt(answer, pagination.next) ?? "";
  if (typeof next === "number" && Number.isSafeInteger(next)) return String(next);
  if (typeof next !== "string")
    throw new UnusableAnswer(`the cursor at ${pagination.next} (operations.list.pagination.next) is not a text`);
  return next === "" ? undefined : next;
}
