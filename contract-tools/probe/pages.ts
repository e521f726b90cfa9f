import { type Pagination, parseContract } from "../../sdk/contract/index.ts";
import { isJsonArray, isJsonObject, type Json, type Pointer, segmentsOf, valueAt } from "../../sdk/json/index.ts";
import type { Probing } from "./known.ts";
import type { ListReader, ListShape } from "./list-reader.ts";
import { type Leaf, leavesOf, valuesIn } from "./response-parts.ts";
import { type SeenResponse, type Sent, Stopped } from "./wire.ts";

export const limitNames = [
  "limit",
  "pageSize",
  "page_size",
  "per_page",
  "perPage",
  "size",
  "count",
  "maxResults",
  "_limit",
];
export const pageNames = ["page", "pageNumber", "page_number", "pageNo", "number", "_page"];
export const offsetNames = ["offset", "skip", "start", "from", "startIndex", "_start"];
export const afterNames = ["starting_after", "after", "startingAfter", "cursor", "after_id", "lastId", "last_id"];
export const cursorNames = [
  "cursor",
  "after",
  "next",
  "page_token",
  "pageToken",
  "next_token",
  "nextToken",
  "continuation",
  "token",
  "starting_after",
];

type Parameters = NonNullable<Sent["parameters"]>;

/**
 * Finds out how a list of two rules or more comes in pages, by asking for one rule a page. It only reads, at the path of
 * the list. The shape of the list has it afterwards.
 * @throws Stopped: the list says that it has more, and no way to ask for it was found
 */
export async function probePages(probing: Probing, list: ListReader): Promise<void> {
  const { findings, told } = probing;
  const { shape } = list;
  if (shape === undefined) return;
  const whole = await list.page();
  const ids = idsOn(whole, shape);
  const known: Partial<Record<string, Json>> = { ...told.connection.contract.operations.list?.pagination };
  const namesOf = (parameter: string, usual: readonly string[]): Set<string> => {
    const name = known[parameter];
    return new Set(typeof name === "string" ? [name, ...usual] : usual);
  };
  const limit = await probeLimit(list, shape, ids, namesOf("limit", limitNames));
  if (limit === undefined) {
    list.arrays(whole);
    return findings.fact(
      "/operations/list/pagination",
      { type: "none" },
      `${whole.said}: shows all ${ids.length} rules, and no parameter such as ${limitNames.slice(0, 4).join(", ")} makes it show one`,
    );
  }
  const first = limit.seen;
  const found = await probeWay({ list, shape, asked: [[limit.name, 1]], ids, first, namesOf });
  if (found === undefined) {
    list.arrays(whole);
    return findings.gap(
      "/operations/list/pagination",
      `${first.said}: shows one rule, and no way to the next one was found; ${whole.said} shows ${ids.length}`,
    );
  }
  const paged = { limit: limit.name, ...found.pagination };
  const end = endOf(shape, asPagination(paged), { whole, first, ids });
  const pagination = { ...paged, ...end.fields };
  list.shape = { ...shape, pagination: asPagination(pagination) };
  const read = (await list.rows()).flatMap(({ ruleId }) => (ruleId === undefined ? [] : [ruleId]));
  const isAll = ids.every((id) => read.includes(id));
  if (!isAll)
    throw new Stopped(
      `${found.said}: pages read so lack rules that the whole list has`,
      "describe operations.list.pagination in the contract",
    );
  findings.fact(
    "/operations/list/pagination",
    pagination,
    `${first.said}: shows one rule; ${found.said}: the next${end.said}`,
  );
}

/** A pagination as a contract has it, but for its limit. */
type Found = { readonly pagination: Readonly<Record<string, Json>>; readonly said: string };

async function probeLimit(
  list: ListReader,
  shape: ListShape,
  ids: readonly string[],
  names: ReadonlySet<string>,
): Promise<{ name: string; seen: SeenResponse } | undefined> {
  for (const name of names) {
    const seen = await list.try({ parameters: [[name, 1]] });
    if (seen.isSuccess && ids.length > 1 && idsOn(seen, shape).length === 1) return { name, seen };
  }
  return undefined;
}

/** What is known when the next page is looked for. */
interface Search {
  readonly list: ListReader;
  readonly shape: ListShape;
  /** The parameter by which a page has one rule. */
  readonly asked: Parameters;
  /** The ids of all rules. */
  readonly ids: readonly string[];
  /** The first page. */
  readonly first: SeenResponse;
  /** Returns the names to try for a parameter: first the one that the contract has already. */
  readonly namesOf: (parameter: string, usual: readonly string[]) => ReadonlySet<string>;
}

/** How each kind of pagination is looked for, in this order. */
const tries: { readonly [Kind in Pagination["type"]]: (search: Search) => Promise<Found | undefined> } = {
  link: (search) => probeUrl(search, [{ type: "link" }]),

  header: (search) => {
    const named = Object.entries(search.first.headers).flatMap(([name, value]) =>
      typeof value === "string" && !otherUrls.includes(name) && isUrl(value) ? [{ type: "header", header: name }] : [],
    );
    return probeUrl(search, named);
  },

  url: (search) => {
    const named = beside(search.first.json, search.shape.items).flatMap(({ at, value }) =>
      typeof value === "string" && isUrl(value) ? [{ type: "url", url: at }] : [],
    );
    return probeUrl(search, named);
  },

  page: async (search) => {
    for (const name of search.namesOf("page", pageNames)) {
      const [one, two] = [await probePage(search, name, 1), await probePage(search, name, 2)];
      if (isFirst(one, search) && isAnother(two, search))
        return { pagination: { type: "page", page: name, first: 1 }, said: two.said };
      if (isAnother(one, search) && isFirst(await probePage(search, name, 0), search))
        return { pagination: { type: "page", page: name, first: 0 }, said: one.said };
    }
    return undefined;
  },

  offset: async (search) => {
    for (const name of search.namesOf("offset", offsetNames)) {
      const one = await probePage(search, name, 1);
      if (isAnother(one, search) && isFirst(await probePage(search, name, 0), search))
        return { pagination: { type: "offset", offset: name }, said: one.said };
    }
    return undefined;
  },

  lastId: async (search) => {
    const [last] = idsOn(search.first, search.shape);
    if (last === undefined) return undefined;
    for (const name of search.namesOf("cursor", afterNames)) {
      const next = await probePage(search, name, last);
      if (isAnother(next, search)) return { pagination: { type: "lastId", cursor: name }, said: next.said };
    }
    return undefined;
  },

  cursor: async (search) => {
    for (const { at, value } of beside(search.first.json, search.shape.items)) {
      if (value === "") continue;
      const own = segmentsOf(at).at(-1) ?? "";
      for (const name of search.namesOf("cursor", [...cursorNames, own])) {
        const next = await probePage(search, name, value);
        if (isAnother(next, search))
          return {
            pagination: { type: "cursor", cursor: name, next: at },
            said: `${next.said.split("?")[0]} with ${name}`,
          };
      }
    }
    return undefined;
  },

  // The list has more rules than its first page.
  none: async () => undefined,
};

/** Tries the kinds of pagination one after the other, until a page with other rules comes. */
async function probeWay(search: Search): Promise<Found | undefined> {
  for (const attempt of Object.values(tries)) {
    const found = await attempt(search);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Asks for the next page by the URL that the first page names, where it is at the path of the list. */
async function probeUrl(search: Search, candidates: readonly Found["pagination"][]): Promise<Found | undefined> {
  for (const pagination of candidates) {
    const target = search.list.nextTarget(search.first, asPagination(pagination));
    if (target === undefined) continue;
    const next = await search.list.try({ target });
    if (isAnother(next, search))
      return { pagination, said: `the URL that it names (${Object.values(pagination).join(" ")}) shows` };
  }
  return undefined;
}

/** Headers with URLs that lead to no page. */
const otherUrls = ["link", "location", "content-location"];

async function probePage({ list, asked }: Search, name: string, value: string | number): Promise<SeenResponse> {
  return await list.try({ parameters: [...asked, [name, value]] });
}

/** Decides whether a page has the same rules as the first one. */
function isFirst(seen: SeenResponse, { shape, first }: Search): boolean {
  return seen.isSuccess && idsOn(seen, shape).join() === idsOn(first, shape).join();
}

/** Finds what tells the end of the list in a response: the number of all rules, or whether there are more. */
function endOf(
  shape: ListShape,
  pagination: Pagination,
  { whole, first, ids }: { whole: SeenResponse; first: SeenResponse; ids: readonly string[] },
): { fields: Readonly<Record<string, Json>>; said: string } {
  if (!("more" in pagination)) return { fields: {}, said: "" };
  const isTrue = (value: Json): value is true => value === true;
  const more = valuesIn(first.json ?? null, isTrue).find(({ at }) => valueAt(whole.json, at) === false)?.at;
  if (more !== undefined) return { fields: { more }, said: `; ${more} says whether there are more` };
  const isWhole = ids.length > 1 && "total" in pagination;
  const total = beside(first.json, shape.items).find(
    ({ at, value }) => isWhole && value === ids.length && valueAt(whole.json, at) === value,
  )?.at;
  return total === undefined
    ? { fields: {}, said: "" }
    : { fields: { total }, said: `; ${total} says how many rules there are` };
}

/** Decides whether a page has rules, and none of them stands on the first one. */
function isAnother(seen: SeenResponse, { shape, first, ids }: Search): boolean {
  if (!seen.isSuccess) return false;
  const before = idsOn(first, shape);
  const now = idsOn(seen, shape);
  return now.length > 0 && now.every((id) => !before.includes(id)) && (ids.length === 0 || now.length <= ids.length);
}

/** Returns the ids of the rules on a page. */
function idsOn(seen: SeenResponse, { items, envelope, id }: ListShape): string[] {
  const found = valueAt(seen.json, items);
  if (!isJsonArray(found)) return [];
  return found.flatMap((item) => {
    const value = [...id.map((at) => valueAt(valueAt(item, envelope), at)), ...id.map((at) => valueAt(item, at))].find(
      (each) => each !== undefined,
    );
    return typeof value === "string" || typeof value === "number" ? [String(value)] : [];
  });
}

/** Returns the values of a response beside its items. */
function beside(response: Json | undefined, items: Pointer): Leaf[] {
  return isJsonObject(response) ? leavesOf(response).filter(({ at }) => !at.startsWith(`${items}/`)) : [];
}

/** Parses a pagination as a contract has it, with its defaults. */
function asPagination(pagination: Readonly<Record<string, Json>>): Pagination {
  const list = { path: "/", items: "", pagination };
  const described = parseContract(JSON.stringify({ version: 1, operations: { list } }), "the pages found").operations
    .list;
  if (described === null) throw new Error("unreachable: a list was given");
  return described.pagination;
}

function isUrl(text: string): boolean {
  return /^(https?:\/\/|\/|\?)/.test(text);
}
