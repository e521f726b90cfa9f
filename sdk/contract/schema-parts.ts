import { z } from "zod";
import { isPointer } from "../json/pointer.ts";

/** Describes an object whose fields are all known; the error of an unknown field lists them. */
export function strict<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = `allowed: ${Object.keys(shape).join(", ")}`;
  return z.strictObject(shape, { error: ({ code }) => (code === "unrecognized_keys" ? known : undefined) });
}

/** Describes a field that a deployment may not have, or does not tell. Default: null. */
export function orNull<Type extends z.ZodType>(type: Type) {
  return type.nullable().default(null);
}

/** Describes an array that is empty where nothing is said. */
export function listOf<Type extends z.ZodType>(type: Type) {
  return z.array(type).default([]);
}

/** Describes a field that has one of some values. Default: the first. */
export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values).default(values[0]);
}

/** A value that one field has, other than null. */
export const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** Describes an integer within bounds. Without `max` any safe integer from `min` on. */
export function integer({ min, max, default: fallback }: { min: number; max?: number; default: number }) {
  const integers = z.int().min(min);
  return (max === undefined ? integers : integers.max(max)).default(fallback);
}

/** Describes a field in editors and in docs/reference/contract.md: what it is, what follows without it, examples. */
export function says(description: string, ...examples: z.core.util.JSONType[]) {
  return { description, examples };
}

/** Describes a field that is true or false. Default: false. */
export function flag(description: string) {
  return z.boolean().default(false).meta(says(description, true));
}

export const pointer = z
  .string()
  .refine(isPointer, { error: 'allowed: a JSON Pointer (RFC 6901), such as /data/id, or "" for the whole' })
  .meta({ format: "json-pointer" });
export const pointerOrNull = orNull(pointer);
export const pointerOrRoot = pointer.default("");

export const path = z
  .string()
  .regex(/^\/[^\s?#\\]*$/, { error: "allowed: a path that begins with / and has no blank, ?, # or backslash" })
  .refine((text) => !text.split("/").some((segment) => segment === "." || segment === ".."), {
    error: "allowed: a path without . and .. segments",
  })
  .describe("The path of the request. It is appended to baseUrl. {ruleId} and {parameter} are replaced, URL-encoded.");

/** The name of an HTTP header (RFC 9110). */
export const headerNamePattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

export const headerName = z.string().regex(headerNamePattern, { error: "allowed: the name of an HTTP header" });
export const headerValue = z
  .string()
  .regex(/^[\t\x20-\x7e]*$/, { error: "allowed: printable ASCII without line breaks" });
export const fieldName = z.string().min(1);

export const statuses = z
  .array(z.int().min(200).max(299))
  .min(1)
  .meta(says("The statuses that mean success. Any other status is an error.", [200, 202]));

/** The parts that every operation may fix: headers and query, whose values may name parameters. */
export const fixed = {
  headers: z
    .record(headerName, headerValue)
    .default({})
    .meta(
      says("Headers that every request of this operation carries. Values may name a {parameter}.", {
        "Api-Version": "2025-01-01",
      }),
    ),
  query: z
    .record(fieldName, z.string())
    .default({})
    .meta(
      says("Query parameters that every request of this operation carries. Values may name a {parameter}.", {
        merchant: "{merchantId}",
      }),
    ),
};

/** The fields of every operation that may send a body. */
export const sending = {
  encoding: oneOf(["json", "form"]).meta(
    says(
      "How the body is written. form: what objects and lists hold stands in brackets, such as a[b][0]=, and all values are texts.",
      "form",
    ),
  ),
  fields: z
    .record(fieldName, z.json())
    .default({})
    .meta(
      says(
        "Fields that the body of every request of this operation carries, beside the definition or in it. Texts may name a {parameter}, and {ruleId} where the operation has identifyBy. What the definition has, too, stays as the definition has it.",
        { account: "{merchantId}" },
        { data: { type: "rule", id: "{ruleId}" } },
      ),
    ),
};

/** The fields of every operation that reads. */
export const reading = {
  method: z.literal("GET").default("GET").meta(says("The HTTP method. No other is allowed.", "GET")),
  path,
  ...fixed,
  success: statuses.default([200]),
};

export const identifyBy = strict({
  in: z
    .enum(["query", "body", "path", "header"])
    .meta(says("The part of the request that names the rule. Of path: the operation's path has {ruleId}.", "query")),
  name: fieldName
    .default("ruleId")
    .meta(says("The name of the query parameter, body field or header. Not used where the path names the rule.", "id")),
});

/** Returns the fields that begin every described file. @param jsonSchema where this package has its JSON Schema */
export function fileHead(jsonSchema: string) {
  return {
    $schema: z
      .string()
      .optional()
      .meta(
        says(
          "The JSON Schema by which an editor checks this file. Nothing else uses it.",
          `./node_modules/pulumi-merchant-rules/${jsonSchema}`,
        ),
      ),
    version: z.literal(1).meta(says("The version of this format.", 1)),
    description: z
      .string()
      .optional()
      .meta(says("A note for readers. Nothing else uses it.", "Rules of the EU service")),
  };
}
