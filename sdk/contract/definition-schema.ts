import { createRequire } from "node:module";
import type { Ajv, ErrorObject, Options, ValidateFunction } from "ajv";
import { isJsonArray, type Json, type JsonObject, reasonOf } from "../json/json.ts";
import { pointerOf, segmentsOf, valueAt } from "../json/pointer.ts";
import { contains, type Path } from "../json/walk.ts";

/** One place where a definition is not what the contract's JSON Schema (`rule.schema`) asks for. */
export interface DefinitionFault {
  readonly path: Path;
  readonly reason: string;
}

/**
 * Returns a function that checks definitions against a JSON Schema. `isOpen` tells which values are not known yet: what
 * depends on them is not judged.
 */
export function definitionChecker(
  schema: JsonObject,
): (definition: Json, isOpen?: (value: Json) => boolean) => DefinitionFault[] {
  const validate = compile(schema);
  return (definition, isOpen = () => false) => {
    if (validate(definition)) return [];
    const { open = [], known = [] } = Object.groupBy(validate.errors ?? [], ({ instancePath }) =>
      contains(valueAt(definition, instancePath), isOpen) ? "open" : "known",
    );
    // Which branch applies may depend on what is not known yet, and so does every error within the branches.
    const undecided = open
      .filter(({ keyword }) => branching.has(keyword))
      .map(({ instancePath }) => `${instancePath}/`);
    const decided = known.filter(({ instancePath }) => !undecided.some((start) => instancePath.startsWith(start)));
    // An error of `if` only repeats the errors inside it.
    return decided.flatMap((error) => (error.keyword === "if" ? [] : faultOf(error, definition)));
  };
}

/** The keywords that choose between schemas. Each fails where it stands when a schema inside it fails. */
const branching: ReadonlySet<string> = new Set(["if", "anyOf", "oneOf", "contains"]);

/** Returns why a JSON Schema does not compile; undefined when it does. */
export function schemaError(schema: JsonObject): string | undefined {
  try {
    compile(schema);
    return undefined;
  } catch (error) {
    return error instanceof RangeError ? "nesting without end" : reasonOf(error);
  }
}

// Loaded on first use: a contract without a schema never pays for the validator.
const require = createRequire(import.meta.url);

function compile(schema: JsonObject): ValidateFunction {
  const options: Options = { allErrors: true, strict: false, verbose: false, messages: true };
  const isDraft07 = typeof schema.$schema === "string" && schema.$schema.includes("draft-07");
  const dialect = isDraft07 ? "ajv" : "ajv/dist/2020.js";
  const { default: AjvClass }: { default: new (options: Options) => Ajv } = require(dialect);
  const { default: addFormats }: { default: (ajv: Ajv) => Ajv } = require("ajv-formats");
  return addFormats(new AjvClass(options)).compile(schema);
}

function faultOf({ instancePath, params, message, keyword }: ErrorObject, definition: Json): DefinitionFault {
  const segments = segmentsOf(instancePath);
  const path = segments.map((segment, depth) =>
    isJsonArray(valueAt(definition, pointerOf(segments.slice(0, depth)))) ? Number(segment) : segment,
  );
  const details = ["additionalProperty", "allowedValues", "allowedValue"]
    .filter((name) => Object.hasOwn(params, name))
    .map((name) => [params[name]].flat().map((value) => JSON.stringify(value)));
  return { path, reason: [message ?? keyword, ...details.map((each) => each.join(", "))].join(": ") };
}
