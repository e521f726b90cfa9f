import { MerchantRulesError } from "../../sdk/errors.ts";
import { type DescribedFile, defineDescribed, readDescribed } from "../../sdk/files/described-file.ts";
import { type Fault, readTextFile } from "../../sdk/files/yaml-document.ts";
import { inconsistencies } from "./consistency.ts";
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

/** Returns the error about a file of semantics, or of their value lists, that cannot be read. */
export function unreadableFile({ what, line, cause }: Fault, attempted: string, advice: string): MerchantRulesError {
  const reason = `it ${what}${line === undefined ? "" : `, in line ${line}`}`;
  return new MerchantRulesError("SEMANTICS_INVALID", reason, { attempted, advice, cause });
}

/**
 * Parses semantics: YAML 1.2, of which JSON is a part.
 * @throws MerchantRulesError SEMANTICS_INVALID, as {@link loadSemantics}.
 */
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
