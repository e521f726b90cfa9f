import { readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { type DescribedFile, readDescribed } from "../../sdk/files/described-file.ts";
import { type Fault, readTextFile } from "../../sdk/files/yaml-document.ts";
import { type Json, reasonOf } from "../../sdk/json/json.ts";
import { unreadableFile } from "./load.ts";
import type { ValueList } from "./read-rule.ts";
import type { Semantics } from "./schema.ts";

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
      const lists = readDescribed(textOf(join(here, source.file)), join(here, source.file), severalLists);
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
    const file = join(folder, entry);
    return name === undefined ? [] : [{ name, values: readDescribed(textOf(file), file, oneList) }];
  });
}

function textOf(file: string): string {
  const read = readTextFile(file, mostBytes);
  if ("text" in read) return read.text;
  throw unreadable(file, read.fault);
}

function unreadable(file: string, fault: Fault): Error {
  return unreadableFile(fault, `read value lists ${file}`, "correct valueLists in the semantics, or the file");
}

const values: z.ZodType<Json[]> = z.array(z.json());

function kindOf<Read>(schema: z.ZodType<Read>): DescribedFile<Read> {
  return {
    schema,
    name: "the file of value lists",
    code: "SEMANTICS_INVALID",
    advice: "correct the named lines",
    verdict: "cannot be used",
    hasColumns: true,
    inconsistencies: () => [],
  };
}

const severalLists = kindOf(z.record(z.string(), values));
const oneList = kindOf(values);
