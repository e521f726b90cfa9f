import { asWritten, field, isEqual, isJsonArray, isJsonObject, type Json, type JsonObject } from "./index.ts";

/** A value that is there, whatever it is. */
const anything = "";

/**
 * Returns the fields that a definition has and the one before it had not, in depth; what they hold is left out. Of a list that
 * differs: one item with the fields of all its items, for items have no names.
 */
export function fieldsAdded(before: JsonObject, after: JsonObject): JsonObject {
  const added = Object.entries(after).flatMap(([name, value]): [string, Json][] => {
    if (!Object.hasOwn(before, name)) return [[name, anything]];
    const below = addedBelow(field(before, name), value);
    return below === undefined ? [] : [[name, below]];
  });
  return Object.fromEntries(added);
}

function addedBelow(old: Json | undefined, value: Json): Json | undefined {
  if (isJsonObject(old) && isJsonObject(value)) {
    const below = fieldsAdded(old, value);
    return Object.keys(below).length === 0 ? undefined : below;
  }
  if (!isJsonArray(old) || !isJsonArray(value) || isEqual(old, value, asWritten)) return undefined;
  const fields = fieldsOf(value);
  return isJsonArray(fields) && isJsonObject(fields[0]) ? fields : undefined;
}

/** Returns the fields that a value has, in depth. */
function fieldsOf(value: Json): Json {
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, below]): [string, Json] => [name, fieldsOf(below)]));
  return isJsonArray(value) && value.length > 0 ? [value.map(fieldsOf).reduce(bothFields)] : anything;
}

/** Joins the fields of two doubts together. */
export function bothDoubts(a: JsonObject, b: JsonObject): JsonObject {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries(
    [...names].map((name): [string, Json] => {
      const [one, other] = [field(a, name), field(b, name)];
      return [name, bothFields(one ?? other ?? anything, other ?? one ?? anything)];
    }),
  );
}

function bothFields(a: Json, b: Json): Json {
  if (isJsonObject(a) && isJsonObject(b)) return bothDoubts(a, b);
  if (isJsonArray(a) && isJsonArray(b)) return [bothFields(a[0] ?? anything, b[0] ?? anything)];
  return isJsonObject(a) || isJsonArray(a) ? a : b;
}

/** Returns an object with fields that may be in it, in depth: one that is missing gets some value. */
export function withFields(definition: JsonObject, fields: JsonObject): JsonObject {
  const laid = Object.entries(fields).map(([name, below]): [string, Json] => {
    const value = field(definition, name);
    if (value === undefined) return [name, anything];
    if (isJsonObject(value) && isJsonObject(below)) return [name, withFields(value, below)];
    const [item] = isJsonArray(below) ? below : [];
    if (!isJsonArray(value) || !isJsonObject(item)) return [name, value];
    return [name, value.map((each) => (isJsonObject(each) ? withFields(each, item) : each))];
  });
  return { ...definition, ...Object.fromEntries(laid) };
}
