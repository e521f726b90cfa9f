import { YamlDocument } from "../../../sdk/contract/yaml-document.ts";
import { findNotJson } from "../../../sdk/rules/index.ts";
import { printable } from "../../../sdk/rules/printable.ts";
import { EngineError, type EngineErrorCode, messageOf } from "../errors.ts";

/** Parses a YAML file; an error names the file and the line. */
export function parseYaml(text: string, file: string, code: EngineErrorCode = "PROJECT_INVALID"): unknown {
  const refuse = (line: number, why: string): EngineError =>
    new EngineError(code, `${file} is not valid YAML: line ${line}: ${printable(why, 200)}`);
  const document = new YamlDocument(text);
  const fault = document.fault();
  if (fault !== undefined) throw refuse(fault.line, fault.what);
  let value: unknown;
  try {
    value = document.value();
  } catch (error) {
    throw refuse(document.lineOfAlias(), messageOf(error));
  }
  const odd = findNotJson(value);
  if (odd !== undefined) throw refuse(document.lineOfPath(odd.path), `${odd.path} holds ${odd.found}`);
  return value;
}
