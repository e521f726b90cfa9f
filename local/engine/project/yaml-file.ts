import { parseDocument } from "yaml";
import { EngineError } from "../errors.ts";

/** Parses a YAML file of the project; an error names the file and the line. */
export function parseYaml(text: string, file: string): unknown {
  const document = parseDocument(text.replace(/^\uFEFF/, ""), { prettyErrors: true });
  const [problem] = document.errors;
  if (problem !== undefined)
    throw new EngineError("PROJECT_INVALID", `${file} is not valid YAML: ${problem.message.trim()}`);
  return document.toJS();
}
