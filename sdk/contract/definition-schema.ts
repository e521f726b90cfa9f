import { createRequire } from "node:module";
import type { Ajv, ErrorObject, Options, ValidateFunction } from "ajv";
import { type Json, type JsonObject, joinPath } from "../rules/json.ts";
import { segmentsOf, valueAt } from "../rules/pointer.ts";

/** One place where a definition is not what the contract's JSON Schema (`rule.schema`) asks for. */
export interface DefinitionFault {
  /** The path within the definition, as the engine prints it: `conditions[0].field`. */
  readonly path: string;
  readonly reason: string;
}

/** A function that checks definitions against a JSON Schema. `isUnknown` names values that a preview does not know yet: what depends on them is not judged. */
export function definitionChecker(
  schema: JsonObject,
): (definition: Json, isUnknown?: (value: Json) => boolean) => DefinitionFault[] {
  const validate = compile(schema);
  return (definition, isUnknown = () => false) => {
    if (validate(definition)) return [];
    const errors = validate.errors ?? [];
    const unknownBelow = (pointer: string): boolean => containsUnknown(valueAt(definition, pointer), isUnknown);
    return errors
      .filter((error) => !unknownBelow(error.instancePath))
      .filter(isLeaf)
      .map((error) => faultOf(error, definition));
  };
}

/** Why a JSON Schema does not compile, or undefined when it does. */
export function schemaError(schema: JsonObject): string | undefined {
  try {
    compile(schema);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return "nesting without end";
    return error instanceof Error ? error.message : String(error);
  }
}

// Loaded on first use: a contract without a schema never pays for the validator.
const require = createRequire(import.meta.url);

function compile(schema: JsonObject): ValidateFunction {
  const options: Options = { allErrors: true, strict: false, verbose: false, messages: true };
  const draft07 = typeof schema.$schema === "string" && schema.$schema.includes("draft-07");
  const { default: AjvClass }: { default: new (options: Options) => Ajv } = require(
    draft07 ? "ajv" : "ajv/dist/2020.js",
  );
  const { default: addFormats }: { default: (ajv: Ajv) => Ajv } = require("ajv-formats");
  return addFormats(new AjvClass(options)).compile(schema);
}

/** Whether a value is, or holds at any depth, one that a preview does not know yet. */
export function containsUnknown(value: Json | undefined, isUnknown: (value: Json) => boolean): boolean {
  if (value === undefined) return false;
  if (isUnknown(value)) return true;
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).some((child: Json) => containsUnknown(child, isUnknown))
  );
}

/** Errors of anyOf, if and the like only repeat what the errors inside them say. */
function isLeaf({ keyword }: ErrorObject): boolean {
  return keyword !== "if";
}

function faultOf(error: ErrorObject, definition: Json): DefinitionFault {
  const path = segmentsOf(error.instancePath).reduce<{ text: string; at: Json | undefined }>(
    ({ text, at }, segment) => ({
      text: joinPath(text, Array.isArray(at) ? Number(segment) : segment),
      at: valueAt(at, `/${segment.replaceAll("~", "~0").replaceAll("/", "~1")}`),
    }),
    { text: "", at: definition },
  ).text;
  const extra = Object.entries(error.params)
    .filter(([key]) => key === "additionalProperty" || key === "allowedValues" || key === "allowedValue")
    .map(
      ([, value]) =>
        `: ${Array.isArray(value) ? value.map((v) => JSON.stringify(v)).join(", ") : JSON.stringify(value)}`,
    )
    .join("");
  return { path, reason: `${error.message ?? error.keyword}${extra}` };
}
