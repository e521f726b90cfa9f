import { readFileSync } from "node:fs";
import { z } from "zod";
import { type DefinitionFault, definitionChecker } from "../sdk/contract/definition-schema.ts";
import { isJson, isJsonObject, type Json, pointerOf, valueAt } from "../sdk/json/index.ts";
import { reasonOf } from "../sdk/json/json.ts";
import { orIssue } from "./base/configuration.ts";
import { callersFile } from "./base/host.ts";
import { rulePolicy } from "./base/rule-policy.ts";

type Check = (definition: Json) => readonly DefinitionFault[];

/** It stands where a value is not known yet. No definition has it by chance. */
const mark = "not known before the run: 5f0c9c1e-9c0b-4d53-a0d2-7d6cfd5a1a3b";

/**
 * Definitions are as a JSON Schema of the team's own says: draft 2020-12, or draft-07 where `$schema` names that. What
 * depends on a value that is not known yet is left out, and noted.
 */
export const definitionSchema = rulePolicy({
  name: "definition-schema",
  description: "A rule's definition is as the team's JSON Schema says.",
  config: {
    schema: z
      .record(z.string(), z.unknown())
      .transform(orIssue(checkOf))
      .nullable()
      .prefault(null)
      .describe("The JSON Schema itself"),
    schemaFile: z
      .string()
      .min(1)
      .transform(orIssue(checkIn))
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

/** Reads a schema file, and returns its check. @throws Error that names the file, and says why it has none */
function checkIn(name: string): Check {
  const path = callersFile(name);
  const relative = "a relative path begins at the folder in which pulumi was started";
  const text = orThrow(
    () => readFileSync(path, "utf8"),
    (reason) => `${path}: it cannot be read (${reason}); ${relative}`,
  );
  const schema: unknown = orThrow(
    () => JSON.parse(text),
    (reason) => `${path}: it is not JSON (${reason})`,
  );
  return orThrow(
    () => checkOf(schema),
    (reason) => `${path}: ${reason}`,
  );
}

function checkOf(schema: unknown): Check {
  const allowed = "allowed: a JSON Schema, draft 2020-12, or draft-07 by its $schema";
  if (!isJson(schema) || !isJsonObject(schema)) throw new Error(`it is no object; ${allowed}`);
  // Its validation would return a promise, which never counts as a fault.
  if (Object.hasOwn(schema, "$async")) throw new Error("it has $async; allowed: a schema without it");
  const check = orThrow(
    () => definitionChecker(schema),
    (reason) => `${reason}; ${allowed}`,
  );
  return (definition) => check(definition, (value) => value === mark);
}

function orThrow<Result>(work: () => Result, words: (reason: string) => string): Result {
  try {
    return work();
  } catch (error) {
    throw new Error(words(reasonOf(error)));
  }
}
