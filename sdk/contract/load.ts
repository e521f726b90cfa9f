import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { z } from "zod";
import { MerchantRulesError } from "../errors.ts";
import { findNotJson } from "../rules/json.ts";
import { joinPath } from "../rules/path.ts";
import { printable } from "../rules/printable.ts";
import { YamlDocument } from "../yaml-document.ts";
import { type ContractIssue, inconsistencies } from "./consistency.ts";
import { schemaError } from "./definition-schema.ts";
import { type Contract, type ContractInput, contractSchema } from "./schema.ts";

/** The contracts that ship with the package. `illustrative` is an example of a full service, not the seed's. */
export const presets = ["seed", "illustrative"] as const;
export type Preset = (typeof presets)[number];

/** The file that is found by itself in a project's folder. */
export const contractFileName = "merchant-rules.contract.yaml";

const maxFileBytes = 1_048_576;

/**
 * Reads a contract from a YAML or JSON file.
 * @throws MerchantRulesError CONTRACT_INVALID: with the file, and for each fault its line, path, what was found, what is allowed.
 */
export function loadContract(file: string): Contract {
  let text: string;
  try {
    text = textOf(file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new MerchantRulesError("CONTRACT_INVALID", reason, {
      attempted: `read contract ${file}`,
      advice: `name a file that can be read, or one of the presets: ${presets.join(", ")}`,
      cause,
    });
  }
  return parseContract(text, file);
}

function textOf(file: string): string {
  const found = statSync(file);
  // Reading a pipe would wait for ever.
  if (!found.isFile()) throw new Error("it is not a file");
  if (found.size > maxFileBytes) throw new Error(`it is larger than ${maxFileBytes} bytes`);
  const bytes = readFileSync(file);
  if (!isUtf8(bytes)) throw new Error("it is not UTF-8");
  return bytes.toString();
}

/** The contract of a preset. */
export function loadPreset(preset: Preset): Contract {
  return loadContract(presetFile(preset));
}

/** Where the file of a preset stands. */
export function presetFile(preset: Preset): string {
  // The sources run from sdk/contract, the compiled package from dist/sdk/contract; the presets are only in the first.
  const root = import.meta.url.includes("/dist/sdk/contract/") ? "../../../" : "../../";
  return fileURLToPath(new URL(`${root}sdk/contract/presets/${preset}.contract.yaml`, import.meta.url));
}

export function isPreset(name: string): name is Preset {
  return presets.some((preset) => preset === name);
}

/**
 * Parses a contract's text. YAML 1.2, of which JSON is a part.
 * @throws MerchantRulesError CONTRACT_INVALID, as {@link loadContract}.
 */
export function parseContract(text: string, file: string): Contract {
  const document = new YamlDocument(text);
  const read = document.read();
  if ("fault" in read) throw invalid(file, [`${file}:${read.fault.line}: ${printable(read.fault.what, 200)}`]);
  const notJson = findNotJson(read.value);
  if (notJson !== undefined) {
    const { path, found } = notJson;
    throw invalid(file, [
      `${file}:${document.lineOfPath(path)}: ${printable(path, 200)}: found ${found}; allowed: what JSON can hold`,
    ]);
  }
  const parsed = parse(read.value);
  if ("contract" in parsed) return parsed.contract;
  const lineOf = ({ path }: ContractIssue): number => document.lineOfPath(path.reduce<string>(joinPath, ""));
  throw invalid(file, parsed.issues, (issue) => `${file}:${lineOf(issue)}: ${sentence(issue)}`);
}

/**
 * A contract from a value that a program holds.
 * @throws MerchantRulesError CONTRACT_INVALID, as {@link loadContract}, naming `source` for the file.
 */
export function defineContract(input: ContractInput, source = "contract"): Contract {
  const parsed = parse(input);
  if ("contract" in parsed) return parsed.contract;
  throw invalid(source, parsed.issues, (issue) => `${source}: ${sentence(issue)}`);
}

function parse(value: unknown): { contract: Contract } | { issues: ContractIssue[] } {
  const dropped = [...namesThatAreDropped(value, [])];
  if (dropped.length > 0) return { issues: dropped };
  const result = contractSchema.safeParse(value);
  if (!result.success) return { issues: result.error.issues.flatMap((issue) => explain(issue, value)) };
  const issues = inconsistencies(result.data);
  const wrongSchema = result.data.rule.schema === null ? undefined : schemaError(result.data.rule.schema);
  if (wrongSchema !== undefined)
    issues.push({ path: ["rule", "schema"], found: wrongSchema, allowed: "a JSON Schema that compiles" });
  return issues.length === 0 ? { contract: result.data } : { issues };
}

/** The schema passes over a field called `__proto__`, where it takes any name, without a word. */
function* namesThatAreDropped(
  value: unknown,
  path: readonly (string | number)[],
  above: readonly object[] = [],
): Generator<ContractIssue> {
  if (typeof value !== "object" || value === null || above.includes(value)) return;
  for (const [key, part] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const here = [...path, key];
    if (key === "__proto__") yield { path: here, found: "a field of this name", allowed: "another name" };
    yield* namesThatAreDropped(part, here, [...above, value]);
  }
}

/** What is wrong, the first faults of it; a place is only looked for where it is shown. */
function invalid<T>(file: string, faults: readonly T[], sentenceOf: (fault: T) => string = String): MerchantRulesError {
  const shown = faults.slice(0, 20).map(sentenceOf);
  const rest = faults.length > shown.length ? `\n  and ${faults.length - shown.length} more` : "";
  return new MerchantRulesError("CONTRACT_INVALID", `${file} cannot work:\n  ${shown.join("\n  ")}${rest}`, {
    advice: "mend the contract; its format is in docs/contract.md and, for editors, in contract.schema.json",
  });
}

function sentence({ path, found, allowed }: ContractIssue): string {
  const place = path.length === 0 ? "the contract" : printable(path.join("."), 200);
  return `${place}: found ${printable(found, 200)}; allowed: ${printable(allowed, 600)}`;
}

function explain(issue: z.core.$ZodIssue, root: unknown): ContractIssue[] {
  const path = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
  const found = shown(path.reduce<unknown>(child, root));
  switch (issue.code) {
    case "unrecognized_keys":
      return unknownFields(path, issue.keys);
    case "invalid_value":
      return [{ path, found, allowed: issue.values.map((value) => JSON.stringify(value)).join(" | ") }];
    case "invalid_type":
      return [{ path, found, allowed: issue.expected === "record" ? "object" : issue.expected }];
    case "invalid_union":
      return [{ path, found, allowed: allowedIn(issue.message) }];
    case "invalid_key":
      return issue.issues.map((inner) => ({ path, found: shown(path.at(-1)), allowed: allowedIn(inner.message) }));
    case "too_small":
      return [
        {
          path,
          found,
          allowed: `at least ${issue.minimum}${issue.origin === "number" || issue.origin === "int" ? "" : ` (${issue.origin})`}`,
        },
      ];
    case "too_big":
      return [{ path, found, allowed: `at most ${issue.maximum}` }];
    default:
      return [{ path, found, allowed: allowedIn(issue.message) }];
  }
}

function allowedIn(message: string): string {
  return message.replace(/^(allowed: |Invalid discriminator value\. Expected )/, "");
}

function unknownFields(path: readonly (string | number)[], keys: readonly string[]): ContractIssue[] {
  const allowed = knownFields(path);
  return keys.map((key) => ({ path: [...path, key], found: "an unknown field", allowed }));
}

let describedSchema: unknown;

/** The fields that the schema knows at a path, so that a misspelt one can be mended. */
function knownFields(path: readonly (string | number)[]): string {
  describedSchema ??= contractSchema.toJSONSchema({ io: "input", unrepresentable: "any" });
  let here = describedSchema;
  for (const key of path)
    here = variants(here)
      .map((variant) => child(child(variant, "properties"), key))
      .find((found) => found !== undefined);
  const names = new Set(variants(here).flatMap((variant) => Object.keys(asRecord(child(variant, "properties")))));
  return names.size === 0 ? "no field of this name" : [...names].join(", ");
}

function variants(schema: unknown): unknown[] {
  const options = child(schema, "anyOf") ?? child(schema, "oneOf");
  return Array.isArray(options) ? options.flatMap(variants) : [schema];
}

function child(value: unknown, key: string | number): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? asRecord(value)[key] : undefined;
}

function asRecord(value: unknown): Record<string | number, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "number") return String(value);
  const text = jsonText(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** Of a value that a program holds, which may be anything. */
function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? `a ${typeof value}`;
  } catch {
    return `a ${typeof value} that is not JSON`;
  }
}
