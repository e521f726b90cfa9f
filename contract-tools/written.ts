import { existsSync } from "node:fs";
import { type Document, isMap, isNode, isScalar, parseDocument, type YAMLMap } from "yaml";
import {
  type Contract,
  contractFileIn,
  contractFileNames,
  isPreset,
  loadContract,
  parseContract,
  presetFile,
} from "../sdk/contract/index.ts";
import { MerchantRulesError } from "../sdk/errors.ts";
import { readTextFile, yamlOptions } from "../sdk/files/yaml-document.ts";
import { isJson, isJsonObject, type Json, type JsonObject, type Path } from "../sdk/json/index.ts";

/** A contract as its file has it. */
export interface Written {
  /** The file as the user named it, or `preset kinto`. */
  readonly name: string;
  /** Its path. */
  readonly file: string;
  readonly contract: Contract;
  /** What the file says, without the defaults. */
  readonly written: JsonObject;
  readonly document: Document;
}

/**
 * Reads a contract: a file, a preset, or the contract of this folder.
 * @throws MerchantRulesError CONTRACT_INVALID: it cannot work, or cannot be read; SETTINGS_INVALID: there is none
 */
export function readWritten(given: string | undefined): Written {
  const named = given ?? contractFileIn(".");
  if (named === undefined) {
    const reason = `there is no ${contractFileNames[0]} in this folder`;
    const advice = "name the contract's file; `npx --no-install merchant-rules contract init` writes one";
    throw new MerchantRulesError("SETTINGS_INVALID", reason, { attempted: "read the contract", advice });
  }
  const isOwn = !isPreset(named) || existsSync(named);
  const file = isOwn ? named : presetFile(named);
  const read = readTextFile(file);
  // Where it cannot be read, this says so.
  const contract = "text" in read ? parseContract(read.text, file) : loadContract(file);
  const document = parseDocument("text" in read ? read.text : "", yamlOptions);
  const written: unknown = document.toJS({ maxAliasCount: 100 });
  return {
    name: isOwn ? named : `preset ${named}`,
    file,
    contract,
    written: isJson(written) && isJsonObject(written) ? written : {},
    document,
  };
}

/** Returns the fields that a contract's file has, as messages name them: of operations and auth one level more than of the rest. */
export function fieldsOf(written: JsonObject): Map<string, Json> {
  const fields = new Map<string, Json>();
  const add = (value: Json, path: readonly string[]): void => {
    const [first = ""] = path;
    const depth = ["operations", "auth"].includes(first) ? 3 : ["rule", "errors", "limits"].includes(first) ? 2 : 1;
    if (path.length === depth || (path.length > 0 && !isJsonObject(value))) fields.set(path.join("."), value);
    else if (isJsonObject(value)) for (const [name, below] of Object.entries(value)) add(below, [...path, name]);
  };
  add(written, []);
  return fields;
}

/** Returns the comment at a field of a contract's file, or else at the object that it is in; on one line. */
export function commentAt({ document }: Pick<Written, "document">, path: Path): string | undefined {
  let comment: string | undefined;
  let here: unknown = document.contents;
  for (const [depth, name] of path.entries()) {
    if (!isMap(here)) break;
    const map: YAMLMap = here;
    const pair = map.items.find(({ key }) => isScalar(key) && key.value === name);
    if (pair === undefined) break;
    // The comment above the first field is the map's own; that above the first of all is the file's.
    const above = isScalar(pair.key) ? pair.key.commentBefore : undefined;
    const first = depth > 0 && map.items[0] === pair ? map.commentBefore : undefined;
    const behind = isNode(pair.value) ? pair.value.comment : undefined;
    comment = [above, first, behind].find((text) => text !== undefined && text !== null) ?? comment;
    here = pair.value;
  }
  return comment?.replace(/\s+/g, " ").trim();
}
