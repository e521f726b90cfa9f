import { readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { type DescribedFile, defineDescribed, readDescribed } from "../../sdk/files/described-file.ts";
import { type Fault, readTextFile } from "../../sdk/files/yaml-document.ts";
import { type Json, reasonOf } from "../../sdk/json/json.ts";
import { inconsistencies } from "./consistency.ts";
import type { ValueList } from "./read-rule.ts";
import { type Semantics, type SemanticsInput, semanticsSchema } from "./schema.ts";

/**
 * Reads semantics from a YAML or JSON file.
 * @throws MerchantRulesError SEMANTICS_INVALID: the file and, for each fault, its line, column and path, the value found and the
 * values allowed.
 */
export function loadSemantics(file: string): Semantics {
  const read = readTextFile(file);
  if ("text" in read) return parseSemantics(read.text, file);
  throw unreadableFile(read.fault, `read semantics ${file}`, "name a file that can be read");
}

function unreadableFile({ what, line, cause }: Fault, attempted: string, advice: string): MerchantRulesError {
  const reason = `it ${what}${line === undefined ? "" : `, in line ${line}`}`;
  return new MerchantRulesError("SEMANTICS_INVALID", reason, { attempted, advice, cause });
}

/** Parses semantics: YAML 1.2, or JSON. @throws MerchantRulesError SEMANTICS_INVALID, as {@link loadSemantics}. */
export function parseSemantics(text: string, file: string): Semantics {
  return readDescribed(text, file, kind);
}

/**
 * Checks semantics that are a value, and fills in the defaults.
 * @throws MerchantRulesError SEMANTICS_INVALID, as {@link loadSemantics}, with `source` in place of the file.
 */
export function defineSemantics(input: SemanticsInput, source = "semantics"): Semantics {
  return defineDescribed(input, source, kind);
}

const kind: DescribedFile<Semantics> = {
  schema: semanticsSchema,
  name: "the semantics",
  code: "SEMANTICS_INVALID",
  advice: "correct the named lines",
  hasColumns: true,
  inconsistencies,
};

/** A file of values may be longer than one of semantics. */
const mostBytes = 16 * 1_048_576;

/**
 * Reads the named value lists of the files and folders that the semantics name; those in definitions are found by
 * `valueListsOf`.
 * @param file the file of the semantics: relative names begin at its folder
 * @throws MerchantRulesError SEMANTICS_INVALID: a file or a folder cannot be read, with line and column
 */
export function readValueLists({ valueLists }: Semantics, file: string): ValueList[] {
  const here = dirname(resolve(file));
  return valueLists.flatMap((source): ValueList[] => {
    if ("file" in source) {
      const lists = readLists(join(here, source.file), severalLists);
      return Object.entries(lists).map(([name, values]) => ({ name, values }));
    }
    if ("folder" in source) return inFolder(join(here, source.folder));
    return [];
  });
}

function inFolder(folder: string): ValueList[] {
  let names: string[];
  try {
    names = readdirSync(folder).sort();
  } catch (cause) {
    throw unreadable(folder, { what: `cannot be read: ${reasonOf(cause)}`, cause });
  }
  return names.flatMap((entry): ValueList[] => {
    const [, name] = /^([^.].*)\.(?:ya?ml|json)$/i.exec(entry) ?? [];
    return name === undefined ? [] : [{ name, values: readLists(join(folder, entry), oneList) }];
  });
}

function readLists<Read>(file: string, kind: DescribedFile<Read>): Read {
  const read = readTextFile(file, mostBytes);
  if ("text" in read) return readDescribed(read.text, file, kind);
  throw unreadable(file, read.fault);
}

function unreadable(file: string, fault: Fault): Error {
  return unreadableFile(fault, `read value lists ${file}`, "correct valueLists in the semantics, or the file");
}

const values: z.ZodType<Json[]> = z.array(z.json());

function kindOf<Read>(schema: z.ZodType<Read>): DescribedFile<Read> {
  return { ...kind, schema, name: "the file of value lists", verdict: "cannot be used", inconsistencies: () => [] };
}

const severalLists = kindOf(z.record(z.string(), values));
const oneList = kindOf(values);
