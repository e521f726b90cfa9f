import { MerchantRulesError } from "../../sdk/errors.ts";
import { readTextFile, YamlDocument } from "../../sdk/files/yaml-document.ts";
import { findNotJson, isJsonArray, isJsonObject, type Json, type JsonObject, valueAt } from "../../sdk/json/index.ts";
import { reasonOf } from "../../sdk/json/json.ts";
import { printable } from "../../sdk/json/printable.ts";

/** Far more than any real description of a rules service, and far less than what would take minutes to read. */
const mostBytes = 10_485_760;
/** More references in a row are a circle. */
const mostHops = 50;

/** A description of a service by OpenAPI 3.0 or 3.1. */
export class Description {
  readonly file: string;
  readonly root: JsonObject;

  /** @throws MerchantRulesError SETTINGS_INVALID: it cannot be read, or is no such description */
  constructor(file: string) {
    this.file = file;
    const value = this.#parsed();
    const version = isJsonObject(value) ? value.openapi : undefined;
    const swagger = isJsonObject(value) ? value.swagger : undefined;
    if (!isJsonObject(value) || (version === undefined && swagger === undefined))
      throw this.refused("it is no OpenAPI description: it has no field openapi", noDescription);
    if (typeof version !== "string" || !/^3\.[01](\.|$)/.test(version)) {
      const found = version === undefined ? `swagger ${shown(swagger)}` : `openapi ${shown(version)}`;
      throw this.refused(`it has ${found}, and 3.0 and 3.1 are read`, "convert it to OpenAPI 3.0 or 3.1");
    }
    this.root = value;
  }

  /** Reads the file. @throws MerchantRulesError SETTINGS_INVALID: it is neither JSON nor YAML */
  #parsed(): Json {
    const read = readTextFile(this.file, mostBytes);
    if ("fault" in read) throw this.refused(`it ${read.fault.what}`, noDescription);
    // The parser of YAML takes JSON, too, but a hundred times as long.
    if (/^\s*[{[]/.test(read.text)) {
      try {
        return this.#json(JSON.parse(read.text));
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    }
    const parsed = new YamlDocument(read.text).read();
    if ("fault" in parsed)
      throw this.refused(`it is neither JSON nor YAML: line ${parsed.fault.line} ${parsed.fault.what}`, noDescription);
    return this.#json(parsed.value);
  }

  #json(value: unknown): Json {
    const fault = findNotJson(value, deepest);
    if (fault === undefined && isJsonAt(value)) return value;
    throw this.refused(
      `${fault?.path.join(".") ?? "it"} has ${fault?.found ?? "what JSON cannot hold"}`,
      noDescription,
    );
  }

  /**
   * Returns an object of the description; of one that refers to another, that other; of anything else, an empty one.
   * @throws MerchantRulesError SETTINGS_INVALID: a reference that leads nowhere, out of the file, or in a circle
   */
  object(value: Json | undefined): JsonObject {
    let here = value;
    for (let hop = 0; isJsonObject(here) && typeof here.$ref === "string"; hop += 1) {
      if (hop === mostHops)
        throw this.refused(`the references at ${shown(here.$ref)} lead in a circle`, "let one of them have a value");
      here = this.#target(here.$ref);
    }
    return isJsonObject(here) ? here : {};
  }

  #target(ref: string): Json {
    if (!ref.startsWith("#"))
      throw this.refused(
        `it refers to another file or address, ${shown(ref)}, and no other is read`,
        "bundle the description into one file first, such as with a bundler of OpenAPI descriptions",
      );
    let found: Json | undefined;
    try {
      found = valueAt(this.root, decodeURIComponent(ref.slice(1)));
    } catch (error) {
      throw this.refused(`the reference ${shown(ref)} cannot be read: ${reasonOf(error)}`, "correct it");
    }
    if (found === undefined) throw this.refused(`the reference ${shown(ref)} leads nowhere`, "correct it");
    return found;
  }

  /** Returns every parameter of an operation, with references followed. */
  parameters(operation: JsonObject): JsonObject[] {
    return isJsonArray(operation.parameters) ? operation.parameters.map((each) => this.object(each)) : [];
  }

  /** Returns the properties of a schema, and of those in its `allOf`. @param seen the schemas that were read already */
  properties(schema: JsonObject, seen: Set<JsonObject> = new Set()): JsonObject {
    if (seen.has(schema)) return {};
    seen.add(schema);
    const parts = isJsonArray(schema.allOf) ? schema.allOf : [];
    const inherited = parts.map((each) => this.properties(this.object(each), seen));
    return Object.assign({}, ...inherited, this.object(schema.properties));
  }

  refused(reason: string, advice: string): MerchantRulesError {
    const attempted = `read the description ${this.file}`;
    return new MerchantRulesError("SETTINGS_INVALID", printable(reason, 400), { attempted, advice });
  }
}

const noDescription =
  "name a file that holds an OpenAPI description (3.0 or 3.1, JSON or YAML), of at most 10 MiB; or leave --openapi out and answer the questions";

const deepest = 200;

function isJsonAt(value: unknown): value is Json {
  return findNotJson(value, deepest) === undefined;
}

function shown(value: Json | undefined): string {
  return printable(JSON.stringify(value) ?? "nothing", 120);
}
