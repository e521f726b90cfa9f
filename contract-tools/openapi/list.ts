import type { Pagination } from "../../sdk/contract/index.ts";
import { defined, isJsonArray, type Json, type JsonObject, pointerOf } from "../../sdk/json/index.ts";
import type { Description } from "./description.ts";

const limits = ["limit", "pageSize", "page_size", "per_page", "perPage", "size"];
const offsets = ["offset", "skip", "startIndex"];
const cursors = ["cursor", "after", "pageToken", "page_token", "starting_after"];
const nextCursors = ["nextCursor", "next_cursor", "nextPageToken", "next_page_token", "cursor", "next"];
const totals = ["total", "totalCount", "total_count", "count"];
const mores = ["hasMore", "has_more", "more"];

/**
 * Reads what a description says of a list: where its response has the rules, and how it comes in pages. The latter only
 * where the parameters and the response together leave one reading.
 * @returns parts of `operations.list`; undefined where its response is not described
 */
export function listParts(
  operation: JsonObject,
  response: JsonObject,
  description: Description,
): JsonObject | undefined {
  const items = itemsIn(response, description);
  if (items === undefined) return undefined;
  const parameters = description
    .parameters(operation)
    .flatMap(({ in: place, name }) => (place === "query" && typeof name === "string" ? [name] : []));
  const pages = paginationOf(parameters, response, description);
  return defined({ items, pagination: pages });
}

/** Returns the pointer to the one array of objects in a response, at most two levels deep. */
function itemsIn(response: JsonObject, description: Description): string | undefined {
  const isArray = (schema: JsonObject): boolean => schema.type === "array" || isJsonArray(schema.prefixItems);
  if (isArray(response)) return "";
  const found = places(response, description).filter(({ schema }) => isArray(schema));
  return found.length === 1 && found[0] !== undefined ? pointerOf(found[0].path) : undefined;
}

interface PlaceOf {
  readonly path: readonly string[];
  readonly schema: JsonObject;
}

/** Returns the properties of a response, and of the objects in it that are no arrays. */
function places(response: JsonObject, description: Description, above: readonly string[] = []): PlaceOf[] {
  return Object.entries(description.properties(response)).flatMap(([name, value]) => {
    const schema = description.object(value);
    const path = [...above, name];
    return [{ path, schema }, ...(above.length === 0 ? places(schema, description, path) : [])];
  });
}

/** What a description names of a list: its parameters, and the places of its response. */
interface Described {
  readonly size: { readonly limit?: string };
  readonly parameter: (names: readonly string[]) => string | undefined;
  readonly at: (names: readonly string[]) => string | undefined;
}

/** Returns nothing: a description does not tell this kind from others. */
const untold = (): undefined => undefined;

/** What a description tells of each kind of pagination; the first that is told is taken. */
const readings: { readonly [Kind in Pagination["type"]]: (of: Described) => JsonObject | undefined } = {
  cursor: ({ size, parameter, at }) => {
    const [cursor, next] = [parameter(cursors), at(nextCursors)];
    if (cursor === undefined || next === undefined) return undefined;
    return defined({ type: "cursor", ...size, cursor, next, more: at(mores) });
  },
  offset: ({ size, parameter, at }) => {
    const offset = parameter(offsets);
    if (offset === undefined) return undefined;
    return defined({ type: "offset", ...size, offset, more: at(mores), total: at(totals) });
  },
  page: ({ size, parameter, at }) => {
    const page = parameter(["page"]);
    if (page === undefined) return undefined;
    return defined({ type: "page", ...size, page, more: at(mores), total: at(totals) });
  },
  lastId: untold,
  link: untold,
  header: untold,
  url: untold,
  none: untold,
};

function paginationOf(parameters: readonly string[], response: JsonObject, description: Description): Json | undefined {
  const parameter = (names: readonly string[]): string | undefined => names.find((each) => parameters.includes(each));
  const at = (names: readonly string[]): string | undefined => {
    const found = places(response, description).find(({ path }) => names.includes(path.at(-1) ?? ""));
    return found === undefined ? undefined : pointerOf(found.path);
  };
  const of = { size: defined({ limit: parameter(limits) }), parameter, at };
  return Object.values(readings)
    .map((read) => read(of))
    .find((read) => read !== undefined);
}
