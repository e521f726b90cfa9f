import { YamlDocument } from "../sdk/files/yaml-document.ts";
import { findNotJson, pathOf } from "../sdk/json/index.ts";
import { printable } from "../sdk/json/printable.ts";
import { EngineError, type EngineErrorCode } from "./errors.ts";

/** Parses a YAML file; an error names the file and the line. */
export function parseYaml(text: string, file: string, code: EngineErrorCode = "PROJECT_INVALID"): unknown {
  const refuse = (line: number, why: string): EngineError =>
    new EngineError(code, `${file} is not valid YAML: line ${line}: ${printable(why, 200)}`);
  const document = new YamlDocument(text);
  const read = document.read();
  if ("fault" in read) throw refuse(read.fault.line, read.fault.what);
  const odd = findNotJson(read.value);
  if (odd !== undefined) throw refuse(document.placeOfPath(odd.path).line, `${pathOf(odd.path)} holds ${odd.found}`);
  return read.value;
}
