import type { Pagination } from "../contract/schema.ts";
import { isJsonObject, type Json, valueAt } from "../json/index.ts";
import type { Address } from "./request-template.ts";
import { UnusableAnswer } from "./response.ts";
import type { Answer } from "./transport.ts";

/** One page of a list as it came. */
export interface PageAnswer {
  readonly json: Json;
  readonly headers: Answer["headers"];
}

const at = "operations.list.pagination";

/**
 * The next page as the contract has it: a cursor, or the path and query of a URL; undefined where the answer has none.
 * @param here the page that was answered, which a relative URL begins from
 * @throws UnusableAnswer for a cursor that is no text, and for a URL that is none or leads to another origin
 */
export function nextIn({ json, headers }: PageAnswer, pagination: Pagination, here: Address): string | undefined {
  switch (pagination.type) {
    case "cursor":
      return cursorIn(valueAt(json, pagination.next), pagination.next);
    case "link": {
      const links = linksIn(headers.link);
      if (links === undefined) throw new UnusableAnswer("the header Link is none (RFC 8288)");
      return targetOf(links.find(isNext)?.url, "of the header Link", here);
    }
    case "header":
      return targetOf(textOf(headers[pagination.header.toLowerCase()]), `in the header ${pagination.header}`, here);
    case "url": {
      const url = valueAt(json, pagination.url) ?? "";
      if (typeof url !== "string") throw new UnusableAnswer(`what stands at ${pagination.url} (${at}.url) is no text`);
      return targetOf(url, `at ${pagination.url}`, here);
    }
    default:
      return undefined;
  }
}

function cursorIn(found: Json | undefined, pointer: string): string | undefined {
  const next = found ?? "";
  if (typeof next === "number" && Number.isSafeInteger(next)) return String(next);
  if (typeof next !== "string") throw new UnusableAnswer(`the cursor at ${pointer} (${at}.next) is not a text`);
  return next === "" ? undefined : next;
}

/** The path and query of a URL at the origin of the service. Another origin would get the credentials. */
function targetOf(url: string | undefined, where: string, { origin, target }: Address): string | undefined {
  if (url === undefined || url === "") return undefined;
  if (!URL.canParse(url, origin + target)) throw new UnusableAnswer(`the next page ${where} is not a URL`);
  const next = new URL(url, origin + target);
  if (next.origin === origin) return next.pathname + next.search;
  const advice =
    "set baseUrl to the address by which the service names its own pages; they are read from nowhere else, because the credentials go with each request";
  throw new UnusableAnswer(`the next page ${where} is at ${next.origin}, not at ${origin}`, { advice });
}

/**
 * Refuses a page that would be the last one and itself says that there is more, in a way that the contract does not
 * describe: a list that was cut would be taken for the whole.
 * @param count the rules of the page
 * @throws UnusableAnswer, which names the field of the contract to set
 */
export function demandNoMore({ json, headers }: PageAnswer, pagination: Pagination, count: number): void {
  const isUnpaged = pagination.type === "none";
  if (isUnpaged && pagination.complete) return;
  const sign =
    signIn(headers, pagination) ??
    signWithin(json, "", describedBy(pagination), deepestSign) ??
    (isUnpaged ? (totalIn(headers, count) ?? totalWithin(json, "", count, deepestSign)) : undefined);
  if (sign === undefined) return;
  const pages = `describe in the contract how the list comes in pages: set ${at}, here likely to ${sign.toSet}`;
  const advice = isUnpaged
    ? `${pages}; if all rules are in this answer, set it to { type: none, complete: true }`
    : pages;
  throw new UnusableAnswer(`the answer says by ${sign.where} that the list goes on, where it ends by ${at}`, {
    advice,
  });
}

/** A part of an answer that says that there is more, and the pagination that would describe it. */
interface Sign {
  readonly where: string;
  readonly toSet: string;
}

function signIn(headers: Answer["headers"], pagination: Pagination): Sign | undefined {
  if (pagination.type !== "link" && linksIn(headers.link)?.some(isNext))
    return { where: "its header Link (rel=next)", toSet: "{ type: link }" };
  const own = pagination.type === "header" ? pagination.header.toLowerCase() : undefined;
  for (const [name, value] of Object.entries(headers)) {
    const text = textOf(value);
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

function signWithin(value: Json, pointer: string, described: readonly string[], levels: number): Sign | undefined {
  if (levels === 0 || !isJsonObject(value)) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const here = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (described.includes(here)) continue;
    const toSet = isNextName(name) ? toSetFor(inner, here) : moreNames.test(plain(name)) && inner === true ? more : "";
    if (toSet !== "") return { where: here, toSet };
    const sign = signWithin(inner, here, described, levels - 1);
    if (sign !== undefined) return sign;
  }
  return undefined;
}

const more = "{ type: cursor }, { type: page } or { type: offset }";

/** "": it does not say that there is more. */
function toSetFor(next: Json, pointer: string): string {
  if (typeof next === "boolean") return next ? more : "";
  if (isJsonObject(next)) {
    const href = ["href", "url"].find((name) => typeof next[name] === "string");
    return href === undefined ? "" : toSetFor(next[href] ?? null, `${pointer}/${href}`);
  }
  if (typeof next === "number") return next > 0 ? numbered : "";
  if (typeof next !== "string" || isNothing(next)) return "";
  return isUrl(next) ? `{ type: url, url: ${pointer} }` : `{ type: cursor, next: ${pointer} }`;
}

const totalNames = /^x?total(count|items?|results?|records?|elements?|rules?|hits|size|number)?$/;
/** Objects beside the items in which `count` is that of the whole list. */
const pageNames = /^(meta|metadata|paging|pagination|page|pageinfo)$/;

function totalIn(headers: Answer["headers"], count: number): Sign | undefined {
  const found = Object.entries(headers).find(
    ([name, value]) => totalNames.test(plain(name)) && Number(textOf(value)) > count,
  );
  return found === undefined ? undefined : { where: `its header ${found[0]}`, toSet: numbered };
}

/** A number of rules that is greater than that of the page. */
function totalWithin(value: Json, pointer: string, count: number, levels: number): Sign | undefined {
  if (levels === 0 || !isJsonObject(value)) return undefined;
  const isOfPages = pageNames.test(plain(pointer.slice(pointer.lastIndexOf("/") + 1)));
  for (const [name, inner] of Object.entries(value)) {
    const here = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const isTotal = totalNames.test(plain(name)) || (isOfPages && plain(name) === "count");
    if (isTotal && typeof inner === "number" && inner > count)
      return {
        where: `${here}, which is ${inner},`,
        toSet: `{ type: page, total: ${here} } or { type: offset, total: ${here} }`,
      };
    const sign = totalWithin(inner, here, count, levels - 1);
    if (sign !== undefined) return sign;
  }
  return undefined;
}

function describedBy(pagination: Pagination): string[] {
  const own = pagination.type === "cursor" ? pagination.next : pagination.type === "url" ? pagination.url : undefined;
  const said = "more" in pagination ? (pagination.more ?? undefined) : undefined;
  return [own, said].filter((pointer) => pointer !== undefined);
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

/** Services write these where there is no next page. */
function isNothing(text: string): boolean {
  return /^\s*(|null|none|false|0|-1)\s*$/i.test(text);
}

function isUrl(text: string): boolean {
  return /^(https?:\/\/|\/|\?)/i.test(text);
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" ? header : header?.join(", ");
}

interface Link {
  readonly url: string;
  readonly rel: readonly string[];
}

function isNext({ rel }: Link): boolean {
  return rel.includes("next");
}

const parameter = String.raw`\s*;\s*([\w!#$%&'*+.^\x60|~-]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^\s",;]*))?`;
const link = new RegExp(String.raw`\s*,*\s*<([^>]*)>((?:${parameter})*)\s*(?=,|$)`, "y");

/** The links of a header Link (RFC 8288, section 3); undefined where it is not one. Of several `rel` the first counts. */
function linksIn(header: string | string[] | undefined): Link[] | undefined {
  const text = textOf(header) ?? "";
  const links: Link[] = [];
  for (link.lastIndex = 0; link.lastIndex < text.length; ) {
    const rest = link.lastIndex;
    const [, url = "", parameters = ""] = link.exec(text) ?? [];
    if (link.lastIndex === 0) return /^[\s,]*$/.test(text.slice(rest)) ? links : undefined;
    const rel = [...parameters.matchAll(new RegExp(parameter, "g"))].find(([, name]) => name?.toLowerCase() === "rel");
    links.push({ url, rel: (rel?.[2] ?? "").replaceAll('"', "").toLowerCase().trim().split(/\s+/) });
  }
  return links;
}
