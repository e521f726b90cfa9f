import { readFile } from "node:fs/promises";
import { z } from "zod";
import { whyNotJson } from "../../../sdk/json/json.ts";
import { printable } from "../../../sdk/json/printable.ts";
import { describeIssues, EngineError, messageOf } from "../../../stack/errors.ts";
import { unsupported } from "../../../stack/unsupported.ts";

/** One resource of an import file. */
export interface ImportedResource {
  readonly type: string;
  readonly name: string;
  readonly id: string;
  /** Both as the state keeps them: secrets in the form that they have there, `__provider` in both. */
  readonly inputs: { readonly [key: string]: unknown };
  readonly outputs: { readonly [key: string]: unknown };
  /** The name of another resource of the file, and of no second one. Absent: the stack. */
  readonly parent?: string | undefined;
  readonly protect?: boolean | undefined;
}

const text = z.string().min(1);

/** Not a record, of which the schema would drop a key called `__proto__` without a word. */
const properties = z.custom<{ [key: string]: unknown }>(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    "__provider" in value &&
    typeof value.__provider === "string" &&
    value.__provider !== "",
  "must be an object with __provider in it, the code of the dynamic resource",
);

const entrySchema = z.looseObject({
  type: text,
  name: text,
  id: text,
  inputs: properties,
  outputs: properties,
  parent: text.optional(),
  protect: z.boolean().optional(),
});
const fileSchema = z.looseObject({ resources: z.array(z.looseObject({})).min(1, "must name a resource") });

const allowedInFile = new Set(["resources"]);
const allowedInEntry = new Set(Object.keys(entrySchema.shape));
const dynamicType = "pulumi-nodejs:dynamic/";

/**
 * Reads a file for `pulumi import --file`, as far as dynamic resources need it.
 * @returns its resources, each behind the one that it names as its parent
 * @throws EngineError BAD_CALL: it cannot be read, or is not such a file, with the place in it; UNSUPPORTED: it has what
 * only the CLI handles
 */
export async function readImportFile(file: string): Promise<readonly ImportedResource[]> {
  const { resources } = valid(fileSchema, await jsonOf(file), file);
  const entries: ImportedResource[] = [];
  for (const [index, raw] of resources.entries()) {
    const place = `resources.${index}`;
    refuseMore(raw, allowedInEntry, file, place);
    if (typeof raw.type === "string" && !raw.type.startsWith(dynamicType))
      throw unsupported("resource type", `the resource type ${printable(raw.type, 100)} (${file}, ${place})`);
    const entry = valid(entrySchema, raw, file, place);
    if (entries.some(({ type, name }) => type === entry.type && name === entry.name))
      throw fault(file, place, `names ${quoted(entry.name)} a second time`);
    entries.push(entry);
  }
  return ordered(entries, file);
}

async function jsonOf(file: string): Promise<unknown> {
  let content: string;
  try {
    content = await readFile(file, "utf8");
  } catch (error) {
    throw new EngineError("BAD_CALL", `the import file ${file} cannot be read: ${messageOf(error)}`);
  }
  let json: unknown;
  try {
    json = JSON.parse(content);
  } catch (error) {
    // Without a cause, which would quote the file.
    throw fault(file, "", `is not JSON: ${printable(whyNotJson(error), 200)}`);
  }
  if (typeof json === "object" && json !== null && !Array.isArray(json)) refuseMore(json, allowedInFile, file, "");
  return json;
}

/** Refuses what only the CLI has: `nameTable`, components, providers, versions, single properties. */
function refuseMore(found: object, allowed: ReadonlySet<string>, file: string, place: string): void {
  const more = Object.keys(found).find((key) => !allowed.has(key));
  if (more === undefined) return;
  const where = place === "" ? file : `${file}, ${place}`;
  const what = `"${printable(more, 60)}" in an import file (${where}; allowed here: ${[...allowed].join(", ")})`;
  throw unsupported("import file", what);
}

function valid<T>(schema: z.ZodType<T>, value: unknown, file: string, place = ""): T {
  const result = schema.safeParse(value);
  if (!result.success) throw fault(file, place, describeIssues(result.error));
  return result.data;
}

function fault(file: string, place: string, what: string): EngineError {
  const where = place === "" ? "" : ` at ${place}`;
  const form = '{"resources": [{"type", "name", "id", "inputs", "outputs"}, …]}';
  const message = `the import file ${file} cannot be used${where}: ${what}. What to do: give what \`npx --no-install merchant-rules export\` writes: ${form}`;
  return new EngineError("BAD_CALL", message);
}

/** Sorts parents first, else as they stand in the file. Two resources may have one name, where their types differ. */
function ordered(entries: readonly ImportedResource[], file: string): ImportedResource[] {
  const named = Map.groupBy(entries, ({ name }) => name);
  const done = new Set<ImportedResource>();
  for (const entry of entries) {
    const line: ImportedResource[] = [];
    for (let here: ImportedResource | undefined = entry; here !== undefined && !done.has(here); ) {
      if (line.includes(here)) throw fault(file, "", `${quoted(here.name)} is a parent of itself`);
      line.unshift(here);
      here = here.parent === undefined ? undefined : theOnly(named.get(here.parent), here.parent, file);
    }
    for (const each of line) done.add(each);
  }
  return [...done];
}

function theOnly([only, ...others]: readonly ImportedResource[] = [], parent: string, file: string): ImportedResource {
  if (only === undefined)
    throw unsupported("import file", `the parent ${quoted(parent)}, which is not a resource of the file, (${file})`);
  if (others.length === 0) return only;
  throw fault(file, "", `has the parent ${quoted(parent)}, and more than one resource of this name`);
}

function quoted(name: string): string {
  return JSON.stringify(printable(name, 100));
}
