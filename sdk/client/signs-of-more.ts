import { type Pagination, pagingOf } from "../contract/pagination/kinds.ts";
import { linksIn } from "../contract/pagination/link-header.ts";
import { headerIn, type PageResponse, type ResponseHeaders } from "../contract/pagination/paging.ts";
import { isJsonObject, type Json, numberText, type Path, type Pointer, pointerOf } from "../json/index.ts";
import { UnusableResponse } from "../unusable-response.ts";

const at = "operations.list.pagination";

/**
 * Refuses a page that would be the last one and itself says that there is more, in a way that the contract does not
 * describe: a list that was cut would be taken for the whole.
 * @param count the rules of the page
 * @throws UnusableResponse, which names the field of the contract to set
 */
export function demandNoMore({ json, headers }: PageResponse, pagination: Pagination, count: number): void {
  if ("complete" in pagination && pagination.complete) return;
  const { namedBy, endsWith } = pagingOf(pagination);
  const isUnpaged = endsWith === "its only page";
  const described = [namedBy.pointer, "more" in pagination ? pagination.more : null].flatMap((each) => each ?? []);
  const total = (name: string, field: Json, pointer: Pointer) => signOfTotal(count, name, field, pointer);
  const sign =
    signIn(headers, namedBy.header) ??
    findWithin(json, signOfNext, described) ??
    (isUnpaged ? (totalIn(headers, count) ?? findWithin(json, total)) : undefined);
  if (sign === undefined) return;
  const pages = `describe in the contract how the list comes in pages: set ${at}, here likely to ${sign.toSet}`;
  const advice = isUnpaged
    ? `${pages}; if all rules are in this answer, set it to { type: none, complete: true }`
    : pages;
  throw new UnusableResponse(`the answer says by ${sign.where} that the list goes on, where it ends by ${at}`, {
    advice,
  });
}

/** A part of a response that says that there is more, and the pagination that would describe it. */
interface Sign {
  readonly where: string;
  readonly toSet: string;
}

/** Finds a header that says that there is more, apart from the one that the contract describes. `own`: its name in lower case. */
function signIn(headers: ResponseHeaders, own: string | undefined): Sign | undefined {
  if (own !== "link" && linksIn(headerIn(headers, "link"))?.some(({ isNext }) => isNext))
    return { where: "its header Link (rel=next)", toSet: "{ type: link }" };
  for (const name of Object.keys(headers)) {
    const text = headerIn(headers, name);
    if (name === own || !isNextName(name.replace(/^x-/, "")) || text === undefined || isNothing(text)) continue;
    return { where: `its header ${name}`, toSet: toSetForHeader(name, text) };
  }
  return undefined;
}

function toSetForHeader(name: string, text: string): string {
  if (isUrl(text)) return `{ type: header, header: ${name} }`;
  return /^\d+$/.test(text) ? numbered : "{ type: cursor, next: … }, with the cursor in the body";
}

const numbered = "{ type: page } or { type: offset }";

/** Services put it beside the items, or into an object such as `links`, `_links.next` or `meta.pagination`. */
const deepestSign = 3;

/** Finds a sign among the fields of a value, and of objects in it; the fields at `described` are passed over. */
function findWithin(
  value: Json,
  signOf: (name: string, field: Json, pointer: Pointer) => Sign | undefined,
  described: readonly Pointer[] = [],
  path: Path = [],
): Sign | undefined {
  if (path.length === deepestSign || !isJsonObject(value)) return undefined;
  for (const [name, field] of Object.entries(value)) {
    const below = [...path, name];
    const pointer = pointerOf(below);
    if (described.includes(pointer)) continue;
    const sign = signOf(name, field, pointer) ?? findWithin(field, signOf, described, below);
    if (sign !== undefined) return sign;
  }
  return undefined;
}

/** Returns the sign of a field that names a next page, or says that there is one. */
function signOfNext(name: string, field: Json, where: Pointer): Sign | undefined {
  const isMore = moreNames.test(plain(name)) && field === true;
  const toSet = isNextName(name) ? toSetFor(field, where) : isMore ? more : "";
  return toSet === "" ? undefined : { where, toSet };
}

const more = "{ type: cursor }, { type: page } or { type: offset }";

/** Returns the pagination to set for a field with the name of a next page; "" where its value names none. */
function toSetFor(next: Json, pointer: string): string {
  if (typeof next === "boolean") return next ? more : "";
  if (isJsonObject(next)) {
    const href = ["href", "url"].find((name) => typeof next[name] === "string");
    return href === undefined ? "" : toSetFor(next[href] ?? null, `${pointer}/${href}`);
  }
  if (numberText(next) !== undefined) return Number(next) > 0 ? numbered : "";
  if (typeof next !== "string" || isNothing(next)) return "";
  return isUrl(next) ? `{ type: url, url: ${pointer} }` : `{ type: cursor, next: ${pointer} }`;
}

const totalNames = /^x?total(count|items?|results?|records?|elements?|rules?|hits|size|number)?$/;
/** Objects beside the items in which `count` is that of the whole list. */
const pageNames = /^(meta|metadata|paging|pagination|page|pageinfo)$/;

function totalIn(headers: ResponseHeaders, count: number): Sign | undefined {
  const found = Object.keys(headers).find(
    (name) => totalNames.test(plain(name)) && Number(headerIn(headers, name)) > count,
  );
  return found === undefined ? undefined : { where: `its header ${found}`, toSet: numbered };
}

/** Returns the sign of a field with a number of all rules that is greater than `count`, that of the page. */
function signOfTotal(count: number, name: string, field: Json, pointer: Pointer): Sign | undefined {
  const isOfPages = pageNames.test(plain(pointer.split("/").at(-2) ?? ""));
  const isTotal = totalNames.test(plain(name)) || (isOfPages && plain(name) === "count");
  if (!isTotal || typeof field !== "number" || field <= count) return undefined;
  const toSet = `{ type: page, total: ${pointer} } or { type: offset, total: ${pointer} }`;
  return { where: `${pointer}, which is ${field},`, toSet };
}

const nextNames =
  /^(odata|ms)?(next(page|results?|records?)?(cursor|token|url|uri|links?|href|number|key|marker|id|start|offset)?|continuation(token)?)$/;
const moreNames = /^(has|is)?(more|next|nextpage|moreitems|moreresults|truncated)$/;

function isNextName(name: string): boolean {
  return nextNames.test(plain(name));
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, "");
}

/** Decides whether a value names no next page, as services write it. */
function isNothing(text: string): boolean {
  return /^\s*(|null|none|false|0|-1)\s*$/i.test(text);
}

function isUrl(text: string): boolean {
  return /^(https?:\/\/|\/|\?)/i.test(text);
}
