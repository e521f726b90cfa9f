import type { Contract, Operations, Pagination } from "../contract/schema.ts";
import { MerchantRulesError } from "../errors.ts";
import { isJsonArray, type Json, valueAt } from "../rules/index.ts";
import { type LiveRule, ruleIdIn, ruleIn, UnusableAnswer } from "./response.ts";

/** One pass over the pages of a list. */
export class Pages {
  readonly #list: NonNullable<Operations["list"]>;
  readonly #contract: Contract;
  readonly #ids = new Set<string>();
  readonly #cursors = new Set<string>();
  #before: readonly LiveRule[] | undefined;
  /** Of the next page, from 1; undefined after the last. */
  #number: number | undefined = 1;
  /** Rules on the pages before the next one. */
  #passed = 0;
  #cursor: string | undefined;

  constructor(list: NonNullable<Operations["list"]>, contract: Contract) {
    this.#list = list;
    this.#contract = contract;
  }

  /**
   * The query of the next page, `name=value` by `&`, encoded; undefined after the last.
   * @throws MerchantRulesError RESPONSE_INVALID when the pages do not end
   */
  nextQuery(): string | undefined {
    if (this.#number === undefined) return undefined;
    const { maxPages, pageSize } = this.#contract.limits;
    if (this.#number > maxPages) {
      const reason = `the list has more than limits.maxPages (${maxPages}) pages`;
      const advice = "raise limits.maxPages or limits.pageSize in the contract";
      throw new MerchantRulesError("RESPONSE_INVALID", reason, { attempted: "list rules", advice });
    }
    const { pagination } = this.#list;
    if (pagination.type === "none") return "";
    const pairs: [string, string][] = [];
    if (pagination.limit !== null) pairs.push([pagination.limit, String(pageSize)]);
    if (pagination.type === "page") pairs.push([pagination.page, String(pagination.first + this.#number - 1)]);
    if (pagination.type === "offset") pairs.push([pagination.offset, String(this.#passed)]);
    if (pagination.type === "cursor" && this.#cursor !== undefined) pairs.push([pagination.cursor, this.#cursor]);
    return pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
  }

  /**
   * Takes the answer to the next query: every item must be a rule with an id.
   * @returns its rules that were on no page before
   * @throws UnusableAnswer when the page, or what it says of the next one, cannot be right
   */
  take(answer: Json): LiveRule[] {
    const rules = this.#rulesIn(answer);
    const { pagination } = this.#list;
    const cursor = cursorIn(answer, pagination);
    const isLast = isLastPage(pagination, rules.length, moreIn(answer, pagination), cursor);
    if (!isLast && cursor !== undefined && this.#cursors.has(cursor))
      throw new UnusableAnswer(`page ${this.#number} of the list leads back to a page before it`);
    if (!isLast && cursor === undefined && this.#before !== undefined && isSame(this.#before, rules)) {
      const place = "see operations.list.pagination";
      throw new UnusableAnswer(`page ${this.#number} of the list repeats the page before it; ${place}`);
    }
    if (cursor !== undefined) this.#cursors.add(cursor);
    this.#cursor = cursor;
    this.#before = rules;
    this.#passed += rules.length;
    this.#number = isLast || this.#number === undefined ? undefined : this.#number + 1;
    return rules.filter(({ ruleId }) => this.#ids.size < this.#ids.add(ruleId).size);
  }

  #rulesIn(answer: Json): LiveRule[] {
    const { items, envelope } = this.#list;
    const places = { id: this.#contract.rule.id, envelope };
    const found = valueAt(answer, items);
    if (!isJsonArray(found))
      throw new UnusableAnswer(`there is no array of rules at ${items || "the root"} (operations.list.items)`);
    return found.map((item, index) => {
      const rule = ruleIn(item, places);
      if (rule === undefined)
        throw new UnusableAnswer(`item ${index} of the list has no rule object at ${envelope || "its root"}`);
      const ruleId = ruleIdIn(item, places);
      if (ruleId === undefined)
        throw new UnusableAnswer(`item ${index} of the list has no id at ${places.id.join(" or ")} (rule.id)`);
      return { ruleId, rule };
    });
  }
}

function isSame(a: readonly LiveRule[], b: readonly LiveRule[]): boolean {
  return a.length === b.length && a.every(({ ruleId }, index) => ruleId === b[index]?.ruleId);
}

/**
 * Whether the list ends with a page. Numbered or counted pages end when the answer says so, else with the first empty
 * page. A short page is not the end: the service may give fewer rules than were asked for.
 * @param more whether the answer says that there is more; undefined when it does not say
 * @throws UnusableAnswer when the answer says that there is more, but not where
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
