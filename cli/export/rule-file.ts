import { Document, type Scalar, visit } from "yaml";
import type { JsonObject } from "../../sdk/rules/index.ts";

/**
 * A rule as a YAML file, which `loadRules` reads as the same JSON.
 * @param schema the path of a JSON Schema, from the file's folder; editors complete by it
 */
export function ruleFile(definition: JsonObject, schema: string | undefined): string {
  const document = new Document(definition, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_key, scalar) => {
      if (needsQuotes(scalar)) scalar.type = "QUOTE_DOUBLE";
    },
  });
  const text = document.toString({ lineWidth: 0 });
  return schema === undefined ? text : `# yaml-language-server: $schema=${schema}\n${text}`;
}

/**
 * Texts that the library writes plainly and readers take for something else: << is a merge key to some, and loadRules
 * refuses it; a byte order mark at the beginning of a file is dropped. Nobody sees the other invisible characters, either.
 */
function needsQuotes({ value }: Scalar): boolean {
  if (typeof value !== "string") return false;
  return value === "<<" || /[\p{Cf}\u2028\u2029\u0085]|(?![\t\n])\p{Cc}/u.test(value);
}
