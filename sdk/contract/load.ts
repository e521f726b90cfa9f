import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isMap, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import type { z } from "zod";
import { MerchantRulesError } from "../errors.ts";
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
    if (statSync(file).size > maxFileBytes) throw new Error(`it is larger than ${maxFileBytes} bytes`);
    text = readFileSync(file, "utf8");
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
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const fault = document.errors[0] ?? document.warnings[0];
  if (fault !== undefined)
    throw invalid(file, [
      `${file}:${lines.linePos(fault.pos[0]).line}: ${fault.message.split("\n")[0]?.replace(/ at line \d+, column \d+:?$/, "")}`,
    ]);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    throw invalid(file, [`${file}: ${cause instanceof Error ? cause.message : String(cause)}`]);
  }
  const parsed = parse(value);
  if ("contract" in parsed) return parsed.contract;
  const lineOf = (path: readonly (string | number)[]): number => lines.linePos(startOf(document.contents, path)).line;
  throw invalid(
    file,
    parsed.issues.map((issue) => `${file}:${lineOf(issue.path)}: ${sentence(issue)}`),
  );
}

/**
 * A contract from a value that a program holds.
 * @throws MerchantRulesError CONTRACT_INVALID, as {@link loadContract}, naming `source` for the file.
 */
export function defineContract(input: ContractInput, source = "contract"): Contract {
  const parsed = parse(input);
  if ("contract" in parsed) return parsed.contract;
  throw invalid(
    source,
    parsed.issues.map((issue) => `${source}: ${sentence(issue)}`),
  );
}

function parse(value: unknown): { contract: Contract } | { issues: ContractIssue[] } {
  const result = contractSchema.safeParse(value);
  if (!result.success) return { issues: result.error.issues.flatMap((issue) => explain(issue, value)) };
  const issues = inconsistencies(result.data);
  const wrongSchema = result.data.rule.schema === null ? undefined : schemaError(result.data.rule.schema);
  if (wrongSchema !== undefined)
    issues.push({ path: ["rule", "schema"], found: wrongSchema, allowed: "a JSON Schema that compiles" });
  return issues.length === 0 ? { contract: result.data } : { issues };
}

function invalid(file: string, sentences: readonly string[]): MerchantRulesError {
  const shown = sentences.slice(0, 20);
  const rest = sentences.length > shown.length ? `\n  and ${sentences.length - shown.length} more` : "";
  return new MerchantRulesError("CONTRACT_INVALID", `${file} cannot work:\n  ${shown.join("\n  ")}${rest}`, {
    advice: "mend the contract; its format is in docs/contract.md and, for editors, in contract.schema.json",
  });
}

function sentence({ path, found, allowed }: ContractIssue): string {
  return `${path.length === 0 ? "the contract" : path.join(".")}: found ${found}; allowed: ${allowed}`;
}

function explain(issue: z.core.$ZodIssue, root: unknown): ContractIssue[] {
  const path = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
  const found = shown(path.reduce<unknown>(child, root));
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({ path: [...path, key], found: "an unknown field", allowed: knownFields(path) }));
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

/** The fields that the schema knows at a path, so that a misspelt one can be mended. */
function knownFields(path: readonly (string | number)[]): string {
  let here: unknown = contractSchema.toJSONSchema({ io: "input", unrepresentable: "any" });
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
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** Where the deepest node of a path that exists begins in the text; a field begins at its key. */
function startOf(contents: Node | null, path: readonly (string | number)[]): number {
  let node: unknown = contents;
  let start = contents?.range?.[0] ?? 0;
  for (const key of path) {
    if (!isMap(node)) break;
    const pair = node.items.find((item) => isScalar(item.key) && item.key.value === key);
    if (pair === undefined) break;
    if (isScalar(pair.key)) start = pair.key.range?.[0] ?? start;
    node = pair.value;
  }
  return start;
}
