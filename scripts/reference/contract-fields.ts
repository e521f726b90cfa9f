import { readFileSync } from "node:fs";
import { z } from "zod";
import type { Json } from "../../sdk/json/json.ts";
import { code, table } from "./markdown.ts";

/** One field of a file as its published JSON Schema describes it. */
export interface ContractField {
  /** `rule.gone[].at`, `parameters.<name>.default`. */
  readonly path: string;
  /** The allowed values, in words. */
  readonly type: string;
  /** Undefined where there is none. */
  readonly default: Json | undefined;
  readonly isRequired: boolean;
  readonly description: string;
  readonly examples: readonly Json[];
  /** The JSON Schema of the value. */
  readonly schema: Node;
}

/** Lists every field of the contract, in the order of the schema. A field of several forms of one object is named once for each. */
export function contractFields(): ContractField[] {
  return fieldsOf("sdk/contract/contract.schema.json");
}

/** Lists every field of a file of semantics in the same way. */
export function semanticsFields(): ContractField[] {
  return fieldsOf("meaning/language/semantics.schema.json");
}

function fieldsOf(schema: string): ContractField[] {
  return fieldsIn(node.parse(JSON.parse(readFileSync(new URL(`../../${schema}`, import.meta.url), "utf8"))), "");
}

/** Returns fields as a table of a page, in Markdown. */
export function tableOf(fields: readonly ContractField[]): string {
  const rows = fields.map((field) => [
    code(field.path),
    field.type,
    defaultOf(field),
    field.description.replace(/\{[a-zA-Z]+\}|""|\bnull\b|(?<= )\*(?= )/g, code),
    field.examples.map((example) => code(flow(example))).join(", "),
  ]);
  const unique = [...new Map(rows.map((row) => [row.join("\n"), row])).values()];
  return table(["field", "type", "default", "what it says", "example"], unique);
}

/** Returns the words of the page for a default: `needed`, `none`, or the value as code. */
export function defaultOf(field: Pick<ContractField, "default" | "isRequired">): string {
  if (field.default !== undefined) return code(flow(field.default));
  return field.isRequired ? "needed" : "none";
}

interface Node {
  readonly type?: string | readonly string[] | undefined;
  readonly description?: string | undefined;
  readonly default?: Json | undefined;
  readonly examples?: readonly Json[] | undefined;
  readonly enum?: readonly (string | null)[] | undefined;
  readonly const?: string | number | boolean | undefined;
  readonly pattern?: string | undefined;
  readonly format?: string | undefined;
  readonly minimum?: number | undefined;
  readonly exclusiveMinimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly properties?: Readonly<Record<string, Node>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: boolean | Node | undefined;
  readonly items?: Node | undefined;
  readonly anyOf?: readonly Node[] | undefined;
  readonly oneOf?: readonly Node[] | undefined;
}

const node: z.ZodType<Node> = z.lazy(() =>
  z.looseObject({
    type: z.union([z.string(), z.array(z.string())]).optional(),
    description: z.string().optional(),
    default: z.json().optional(),
    examples: z.array(z.json()).optional(),
    enum: z.array(z.string().nullable()).optional(),
    const: z.union([z.string(), z.number(), z.boolean()]).optional(),
    pattern: z.string().optional(),
    format: z.string().optional(),
    minimum: z.number().optional(),
    exclusiveMinimum: z.number().optional(),
    maximum: z.number().optional(),
    properties: z.record(z.string(), node).optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: z.union([z.boolean(), node]).optional(),
    items: node.optional(),
    anyOf: z.array(node).optional(),
    oneOf: z.array(node).optional(),
  }),
);

function fieldsIn(object: Node, at: string): ContractField[] {
  return Object.entries(object.properties ?? {}).flatMap(([name, schema]) => {
    const path = at === "" ? name : `${at}.${name}`;
    const field: ContractField = {
      path,
      type: typeOf(schema),
      default: schema.default,
      isRequired: object.required?.includes(name) ?? false,
      description: schema.description ?? "",
      examples: schema.examples ?? [],
      schema,
    };
    return [field, ...fieldsWithin(schema, path)];
  });
}

/** Lists the fields of a value that is an object, or holds objects. */
function fieldsWithin(schema: Node, path: string): ContractField[] {
  const { items, additionalProperties, anyOf = [], oneOf = [] } = schema;
  return [
    ...fieldsIn(schema, path),
    ...(items === undefined ? [] : fieldsWithin(items, `${path}[]`)),
    ...(typeof additionalProperties === "object" ? fieldsWithin(additionalProperties, `${path}.<name>`) : []),
    ...[...anyOf, ...oneOf].flatMap((form) => fieldsWithin(form, path)),
  ];
}

function typeOf(schema: Node): string {
  const { type, enum: choices, const: only, items, additionalProperties, anyOf, oneOf, minimum, maximum } = schema;
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(" or ");
  if (oneOf !== undefined) return [...new Set(oneOf.map(typeOf))].join(" or ");
  if (choices !== undefined) return choices.map((choice) => code(String(choice))).join(" or ");
  if (only !== undefined) return code(String(only));
  if (items !== undefined) return `list of: ${typeOf(items)}`;
  if (typeof additionalProperties === "object" && additionalProperties.properties === undefined)
    return Object.keys(additionalProperties).length > 0 && additionalProperties.type === "string"
      ? "object of texts"
      : "object";
  if (type === undefined) return "any value";
  if (Array.isArray(type)) return type.map(wordFor).join(" or ");
  if (type === "number" && schema.exclusiveMinimum === undefined) return "number";
  if (type === "integer" || type === "number") return `${wordFor(type)}${rangeOf(minimum, maximum)}`;
  if (schema.format === "json-pointer") return "pointer";
  if (schema.format === "uri") return "URL";
  if (schema.pattern?.startsWith("^\\/") === true) return "path";
  return wordFor(String(type));
}

function wordFor(type: string): string {
  const words: Readonly<Record<string, string>> = {
    string: "text",
    integer: "whole number",
    number: "number above 0",
    boolean: "true or false",
    null: "`null`",
  };
  return words[type] ?? type;
}

function rangeOf(minimum: number | undefined, maximum: number | undefined): string {
  const most = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (minimum === undefined && most === undefined) return "";
  return most === undefined ? `, at least ${minimum}` : `, ${minimum} to ${most}`;
}

/** Writes JSON on one line, as YAML can have it. */
function flow(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}: ${flow(inner)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}
