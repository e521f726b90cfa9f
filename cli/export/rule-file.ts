import { Document } from "yaml";
import { quoteWhereNeeded } from "../../sdk/files/yaml-quotes.ts";
import type { JsonObject } from "../../sdk/json/index.ts";

/**
 * Writes a rule as a YAML file, which `loadRules` reads as the same JSON.
 * @param schema the path of a JSON Schema, from the file's folder; editors complete by it
 */
export function ruleFile(definition: JsonObject, schema: string | undefined): string {
  const document = new Document(definition, { aliasDuplicateObjects: false });
  quoteWhereNeeded(document);
  const text = document.toString({ lineWidth: 0 });
  return schema === undefined ? text : `${schemaLine(schema)}\n${text}`;
}

/** Returns the line by which editors find the schema of a rule file. */
export function schemaLine(schema: string): string {
  return `# yaml-language-server: $schema=${schema}`;
}

/** Writes the contract's `rule.schema` as a file. */
export function schemaText(schema: JsonObject): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}
