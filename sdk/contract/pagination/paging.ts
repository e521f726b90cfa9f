import { z } from "zod";
import { type Json, numberText, type Pointer, valueAt } from "../../json/index.ts";
import { UnusableResponse } from "../../unusable-response.ts";
import { says, strict } from "../schema-parts.ts";

/** The headers of a response, by their names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The address of a request. */
export interface Address {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query, encoded. */
  readonly target: string;
}

/** One page of a list, as the service sent it. */
export interface PageResponse {
  readonly json: Json;
  readonly headers: ResponseHeaders;
}

/** A page that was read: what may name the page after it. */
export interface ReadPage extends PageResponse {
  /** The address of the page, which a relative URL begins from. */
  readonly here: Address;
  /** The id of the last rule of the page; undefined for an empty page. */
  readonly lastRuleId: string | undefined;
}

/** The place of a page in its list. */
export interface PlaceInList {
  /** The number of the page, from 1. */
  readonly number: number;
  /** The number of rules on the pages before it. */
  readonly passed: number;
  /** What {@link Paging.next} gave for the page before it. */
  readonly following: string | undefined;
}

/** What asks for a page: parameters, or the path and query of its URL. */
export interface PageQuery {
  readonly target?: string;
  readonly parameters?: readonly (readonly [name: string, value: string | number])[];
}

/** How a client reads a list page by page, by what its contract says. */
export interface Paging {
  /** The names of the parameters of requests, by the fields of the contract that give them; null where none is sent. */
  readonly parameters: Readonly<Record<string, string | null>>;
  /** The header, in lower case, or the place in the body that names the next page. */
  readonly namedBy: { readonly header?: string; readonly pointer?: Pointer };
  /** True where the next page is named by a URL, which GET alone asks for. */
  readonly isByUrl: boolean;
  /** What ends a list whose responses say neither how many rules there are nor whether there are more. */
  readonly endsWith: "its only page" | "an empty page" | "a page that names no other";
  /** True where rules may move between pages while they are read, so that one is missed or comes twice. */
  readonly canShift: boolean;
  /** Returns what asks for the page at `place`, but for the page size. */
  ask(place: PlaceInList): PageQuery;
  /**
   * Returns a cursor, an id, or the path and query of a URL that leads to the page after `page`; undefined where nothing does.
   * @throws UnusableResponse for a cursor that is no string, and for a URL that is none or leads to another origin
   */
  next(page: ReadPage): string | undefined;
}

/**
 * Makes a kind of pagination: the part of the contract's schema, and the function that makes a paging of such a part.
 * @param how in words how a list comes in pages
 * @param fields of the contract, beside `type`
 */
export function pagingKind<Type extends string, Fields extends z.core.$ZodLooseShape>(
  type: Type,
  how: string,
  fields: Fields,
  paging: (by: z.output<z.ZodObject<Fields>>) => Paging,
) {
  const words = says(`How the list comes in pages. ${type}: ${how}`, type);
  return Object.assign(paging, { schema: strict({ type: z.literal(type).meta(words), ...fields }) });
}

/** The parts of a paging by URLs, which stand in responses. */
export const byUrl = {
  isByUrl: true,
  endsWith: "a page that names no other",
  // The URL of a page may hold its number.
  canShift: true,
  ask: ({ following }: PlaceInList): PageQuery => (following === undefined ? {} : { target: following }),
} as const;

/** The parts of a paging whose responses do not name the next page. */
export const unnamed = {
  namedBy: {},
  isByUrl: false,
  next: () => undefined,
} as const;

/** Returns the value of a header; several of one name are joined by a comma. */
export function headerIn(headers: ResponseHeaders, name: string): string | undefined {
  const header = headers[name.toLowerCase()];
  return typeof header === "string" ? header : header?.join(", ");
}

/** Returns the cursor at `pointer`, a string or an integer; undefined where it is absent, null or empty. @throws UnusableResponse for anything else */
export function cursorAt(json: Json, pointer: Pointer): string | undefined {
  const next = valueAt(json, pointer) ?? "";
  const number = numberText(next);
  if (number !== undefined && /^-?\d+$/.test(number)) return number;
  if (typeof next !== "string")
    throw new UnusableResponse(`the cursor at ${pointer} (operations.list.pagination.next) is not a text`);
  return next === "" ? undefined : next;
}

/** Returns the URL at `pointer`; "" where it is absent or null. @throws UnusableResponse for a value that is no string */
export function urlAt(json: Json, pointer: Pointer): string {
  const url = valueAt(json, pointer) ?? "";
  if (typeof url === "string") return url;
  throw new UnusableResponse(`what stands at ${pointer} (operations.list.pagination.url) is no text`);
}

/**
 * Returns the path and query of a URL; undefined for none and for "".
 * @param where the place of the URL, for messages: `in the header next-page`
 * @throws UnusableResponse where it is no URL, or at another origin than the service, which would get the credentials
 */
export function targetOf(url: string | undefined, where: string, { origin, target }: Address): string | undefined {
  if (url === undefined || url === "") return undefined;
  if (!URL.canParse(url, origin + target)) throw new UnusableResponse(`the next page ${where} is not a URL`);
  const next = new URL(url, origin + target);
  if (next.origin === origin) return next.pathname + next.search;
  const advice =
    "set baseUrl to the address by which the service names its own pages; they are read from nowhere else, because the credentials go with each request";
  throw new UnusableResponse(`the next page ${where} is at ${next.origin}, not at ${origin}`, { advice });
}
