import type { Pagination } from "../../sdk/contract/index.ts";
import { defined, isJsonArray, type Json, type JsonObject, type Pointer, pointerOf } from "../../sdk/json/index.ts";
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
  return defined({ items, pagination: paginationOf(parameters, response, description) });
}

/** Returns the pointer to the one array of objects in a response, at most two levels deep. */
function itemsIn(response: JsonObject, description: Description): Pointer | undefined {
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

/** Returns the pagination that is described: the first kind of which all that it needs is named. */
function paginationOf(names: readonly string[], response: JsonObject, description: Description): Json | undefined {
  const found = places(response, description);
  const parameter = (usual: readonly string[]): string | undefined => usual.find((each) => names.includes(each));
  const at = (usual: readonly string[]): Pointer | undefined => {
    const place = found.find(({ path }) => usual.includes(path.at(-1) ?? ""));
    return place && pointerOf(place.path);
  };
  const [limit, cursor, offset, page] = [limits, cursors, offsets, ["page"]].map(parameter);
  const [next, more, total] = [nextCursors, mores, totals].map(at);
  // A description does not tell the kinds that are undefined from others.
  const kinds: { readonly [Kind in Pagination["type"]]: object | undefined } = {
    cursor: cursor && next ? { cursor, next, more } : undefined,
    offset: offset ? { offset, more, total } : undefined,
    page: page ? { page, more, total } : undefined,
    lastId: undefined,
    link: undefined,
    header: undefined,
    url: undefined,
    none: undefined,
  };
  const [told] = Object.entries(kinds).filter(([, parts]) => parts !== undefined);
  return told && defined({ type: told[0], limit, ...told[1] });
}
