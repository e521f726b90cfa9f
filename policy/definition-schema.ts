import { readFileSync } from "node:fs";
import { z } from "zod";
import { type DefinitionFault, definitionChecker } from "../sdk/contract/definition-schema.ts";
import { isJson, isJsonObject, type Json, pointerOf, valueAt } from "../sdk/json/index.ts";
import { reasonOf } from "../sdk/json/json.ts";
import { callersFile } from "./base/callers-file.ts";
import { rulePolicy } from "./base/rule-policy.ts";

type Check = (definition: Json) => readonly DefinitionFault[];

/** It stands where a value is not known yet. No definition has it by chance. */
const mark = "not known before the run: 5f0c9c1e-9c0b-4d53-a0d2-7d6cfd5a1a3b";

const inline = z.record(z.string(), z.unknown()).transform((schema, context) => {
  const check = checkOf(schema);
  if (typeof check !== "string") return check;
  context.addIssue({ code: "custom", message: check });
  return z.NEVER;
});

const file = z
  .string()
  .min(1)
  .transform((name, context) => {
    const path = callersFile(name);
    const check = checkIn(path);
    if (typeof check !== "string") return check;
    context.addIssue({ code: "custom", message: `${path}: ${check}` });
    return z.NEVER;
  });

/**
 * Definitions are as a JSON Schema of the team's own says: draft 2020-12, or draft-07 where `$schema` names that. What
 * depends on a value that is not known yet is left out, and noted.
 */
export const definitionSchema = rulePolicy({
  name: "definition-schema",
  description: "A rule's definition is as the team's JSON Schema says.",
  config: {
    schema: inline.nullable().prefault(null).describe("The JSON Schema itself"),
    schemaFile: file
      .nullable()
      .prefault(null)
      .describe("The file that holds it, as JSON; a relative path begins at the folder in which pulumi was started"),
  },
  idle: ({ schema, schemaFile }) => (schema === null && schemaFile === null ? "no schema is configured" : undefined),
  conflict: ({ schema, schemaFile }) =>
    schema !== null && schemaFile !== null ? "found schema and schemaFile, allowed: one of them" : undefined,
  *check(rule, { schema, schemaFile }) {
    const check = schema ?? schemaFile;
    for (const { path, reason } of check?.(rule.marked(mark)) ?? []) {
      const pointer = pointerOf(path);
      yield { pointer, value: valueAt(rule.definition, pointer) ?? null, allowed: `by the schema: ${reason}` };
    }
  },
});

/** Reads a schema file. Returns its check; or, as a string, why there is none. */
function checkIn(path: string): Check | string {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const relative = "a relative path begins at the folder in which pulumi was started";
    return `it cannot be read (${reasonOf(error)}); ${relative}`;
  }
  try {
    const schema: unknown = JSON.parse(text);
    return checkOf(schema);
  } catch (error) {
    return `it is not JSON (${reasonOf(error)})`;
  }
}

function checkOf(schema: unknown): Check | string {
  const allowed = "allowed: a JSON Schema, draft 2020-12, or draft-07 by its $schema";
  if (!isJson(schema) || !isJsonObject(schema)) return `it is no object; ${allowed}`;
  // Its validation would return a promise, which never counts as a fault.
  if (Object.hasOwn(schema, "$async")) return "it has $async; allowed: a schema without it";
  try {
    const check = definitionChecker(schema);
    return (definition) => check(definition, (value) => value === mark);
  } catch (error) {
    return `${reasonOf(error)}; ${allowed}`;
  }
}
