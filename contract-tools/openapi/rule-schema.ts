import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../sdk/json/index.ts";
import type { Description } from "./description.ts";

/** A contract of more would be hard to read, and the file may have 1 MiB. */
const mostCharacters = 200_000;
const mostDefinitions = 1_000;

/**
 * Converts a schema of a description to JSON Schema 2020-12, with the schemas that it refers to in `$defs`, so that one
 * which refers to itself stays one. What OpenAPI 3.0 writes otherwise is rewritten; what only documents is left out.
 * @returns undefined where it says nothing, or is too large for a contract
 * @throws MerchantRulesError as Description.object
 */
export function ruleSchema(schema: Json | undefined, description: Description): JsonObject | undefined {
  const names = new Map<string, string>();
  const nameOf = (ref: string): string => {
    const known = names.get(ref);
    if (known !== undefined) return known;
    const base = (ref.split("/").at(-1) ?? "").replace(/[^\w.-]/g, "_");
    const taken = new Set(names.values());
    const name = taken.has(base) ? `${base}_${names.size}_` : base;
    names.set(ref, name);
    return name;
  };
  const converted = (value: Json): Json => {
    if (isJsonArray(value)) return value.map(converted);
    if (!isJsonObject(value)) return value;
    if (typeof value.$ref === "string") return { $ref: `#/$defs/${nameOf(value.$ref)}` };
    return fitting(value, converted);
  };
  const root = converted(isJsonObject(schema) ? description.object(schema) : {});
  if (!isJsonObject(root) || Object.keys(root).length === 0) return undefined;
  const defs: Record<string, Json> = {};
  // What one stands for may refer to more, which come after it in the map.
  for (const [ref, name] of names) {
    if (names.size > mostDefinitions) return undefined;
    defs[name] = converted(description.object({ $ref: ref }));
  }
  const whole = names.size === 0 ? root : { ...root, $defs: defs };
  return JSON.stringify(whole).length > mostCharacters ? undefined : whole;
}

const plain = ["type", "enum", "const", "format", "pattern", "minLength", "maxLength", "minItems", "maxItems"];
const numbers = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const others = ["uniqueItems", "minProperties", "maxProperties", "title", "description", "default", "readOnly"];
const kept = new Set([...plain, ...numbers, ...others]);
const withSchema = new Set(["items", "not", "additionalProperties", "contains", "propertyNames", "if", "then", "else"]);
const withSchemas = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const withNamed = new Set(["properties", "patternProperties", "dependentSchemas"]);
/** Formats of OpenAPI that no reader of JSON Schema knows, and those that would refuse what the service takes. */
const knownFormats = new Set(["date", "date-time", "time", "email", "uri", "uuid", "ipv4", "ipv6", "hostname"]);

function fitting(schema: JsonObject, converted: (value: Json) => Json): JsonObject {
  const fields = Object.entries(schema).flatMap(([name, value]): [string, Json][] => {
    if (name === "format") return typeof value === "string" && knownFormats.has(value) ? [[name, value]] : [];
    if (name === "required") return isJsonArray(value) ? [[name, requiredOf(value, schema)]] : [];
    if (kept.has(name)) return [[name, value]];
    if (withSchema.has(name) || withSchemas.has(name)) return [[name, converted(value)]];
    if (!withNamed.has(name) || !isJsonObject(value)) return [];
    return [[name, Object.fromEntries(Object.entries(value).map(([key, each]) => [key, converted(each)]))]];
  });
  return orNull(withBounds(Object.fromEntries(fields)), schema.nullable === true);
}

/** Leaves out the fields that the service alone sets: they are required of responses, and of no definition. */
function requiredOf(required: readonly Json[], { properties }: JsonObject): Json {
  const isSetByService = (name: Json): boolean => {
    const property = isJsonObject(properties) && typeof name === "string" ? properties[name] : undefined;
    return isJsonObject(property) && property.readOnly === true;
  };
  return required.filter((name) => !isSetByService(name));
}

/** Rewrites the exclusive bounds of OpenAPI 3.0, which says by `true` that a bound is exclusive. */
function withBounds(schema: JsonObject): JsonObject {
  const { exclusiveMinimum, exclusiveMaximum, minimum, maximum, ...rest } = schema;
  const bounds = [
    exclusiveMinimum === true ? { exclusiveMinimum: minimum } : { minimum, exclusiveMinimum },
    exclusiveMaximum === true ? { exclusiveMaximum: maximum } : { maximum, exclusiveMaximum },
  ].flatMap((each) => Object.entries(each));
  const numeric = bounds.filter((pair): pair is [string, number] => typeof pair[1] === "number");
  return { ...rest, ...Object.fromEntries(numeric) };
}

/** Rewrites `nullable` of OpenAPI 3.0 as the type null. */
function orNull(schema: JsonObject, isNullable: boolean): JsonObject {
  if (!isNullable || typeof schema.type !== "string") return schema;
  const { enum: values } = schema;
  const listed = isJsonArray(values) && !values.includes(null) ? { enum: [...values, null] } : {};
  return { ...schema, type: [schema.type, "null"], ...listed };
}
