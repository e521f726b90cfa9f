import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import type { z } from "zod";
import { MerchantRulesError } from "../errors.ts";
import { meant } from "../nearest.ts";
import { findNotJson, walk } from "../rules/index.ts";
import { printable } from "../rules/printable.ts";
import { readTextFile, YamlDocument } from "../yaml-document.ts";
import { type ContractIssue, type ContractUse, inconsistencies, shownAt } from "./consistency.ts";
import { type Contract, type ContractInput, contractSchema } from "./schema.ts";

/**
 * The contracts that ship with the package. `illustrative` is an example of a full service, not the seed's. The others are
 * of services that others run: docs/services.md says of each what it was tried against.
 */
export const presets = [
  "seed",
  "illustrative",
  "alertmanager-silences",
  "kinto",
  "stripe-value-list-items",
  "unleash-segments",
  "whop",
  "wiremock",
] as const;
/** The name of a preset. */
export type Preset = (typeof presets)[number];

/** The names of the contract file that is found in a project's folder without being named; the first that is there. */
export const contractFileNames = ["merchant-rules.contract.yaml", "merchant-rules.contract.yml"] as const;

/**
 * Reads a contract from a YAML or JSON file.
 * @throws MerchantRulesError CONTRACT_INVALID: the file and, for each fault, its line and path, the value found and the
 * values allowed.
 */
export function loadContract(file: string, use?: ContractUse): Contract {
  const read = readTextFile(file);
  if ("text" in read) return parseContract(read.text, file, use);
  const { what, line, cause } = read.fault;
  throw new MerchantRulesError("CONTRACT_INVALID", `it ${what}${line === undefined ? "" : `, in line ${line}`}`, {
    attempted: `read contract ${file}`,
    advice: `name a file that can be read, or one of the presets: ${presets.join(", ")}${meant(basename(file), presets)}`,
    cause,
  });
}

/** The contract of a preset. */
export function loadPreset(preset: Preset, use?: ContractUse): Contract {
  return loadContract(presetFile(preset), use);
}

/** The path of a preset's file. */
export function presetFile(preset: Preset): string {
  const home = dirname(createRequire(import.meta.url).resolve("pulumi-merchant-rules/package.json"));
  return join(home, "sdk/contract/presets", `${preset}.contract.yaml`);
}

/** True where a text is the name of a preset. */
export function isPreset(name: string): name is Preset {
  return presets.some((preset) => preset === name);
}

/**
 * Parses a contract's text. YAML 1.2, of which JSON is a part.
 * @throws MerchantRulesError CONTRACT_INVALID, as {@link loadContract}.
 */
export function parseContract(text: string, file: string, use?: ContractUse): Contract {
  const document = new YamlDocument(text);
  const read = document.read();
  if ("fault" in read) throw invalid(file, [`${file}:${read.fault.line}: ${printable(read.fault.what, 200)}`]);
  const placeOf = ({ path }: Pick<ContractIssue, "path">): string => `${file}:${document.placeOfPath(path).line}: `;
  const notJson = findNotJson(read.value);
  if (notJson === undefined) return contractOf(read.value, file, placeOf, use);
  throw invalid(file, [`${placeOf(notJson)}${sentence({ ...notJson, allowed: "what JSON can hold" })}`]);
}

/**
 * A contract from a value.
 * @throws MerchantRulesError CONTRACT_INVALID, as {@link loadContract}, with `source` in place of the file.
 */
export function defineContract(input: ContractInput, source = "contract"): Contract {
  return contractOf(input, source, () => `${source}: `);
}

function contractOf(
  value: unknown,
  source: string,
  placeOf: (issue: ContractIssue) => string,
  use?: ContractUse,
): Contract {
  const result = contractSchema.safeParse(value);
  let issues = droppedFields(value);
  if (issues.length === 0)
    issues = result.success
      ? inconsistencies(result.data, use)
      : result.error.issues.flatMap((issue) => explain(issue, value));
  if (result.success && issues.length === 0) return result.data;
  throw invalid(source, issues, (issue) => `${placeOf(issue)}${sentence(issue)}`);
}

/** Fields called `__proto__`, which the schema would drop without a word. */
function droppedFields(value: unknown): ContractIssue[] {
  const issues: ContractIssue[] = [];
  walk(value, (_value, { path }) => {
    if (path.at(-1) === "__proto__")
      issues.push({ path: [...path], found: "a field of this name", allowed: "another name" });
  });
  return issues;
}

/** The error of a contract, with its first faults; `sentenceOf` is called for those alone, because it may take long. */
function invalid<T>(file: string, faults: readonly T[], sentenceOf: (fault: T) => string = String): MerchantRulesError {
  const shown = faults.slice(0, 20).map(sentenceOf);
  if (faults.length > shown.length) shown.push(`and ${faults.length - shown.length} more`);
  return new MerchantRulesError("CONTRACT_INVALID", `${file} cannot work:`, {
    lines: shown.map((line) => `  ${line}`),
    advice: "correct the named lines; `npx --no-install merchant-rules help reference/contract` prints every field",
  });
}

function sentence({ path, found, allowed }: ContractIssue): string {
  const place = path.length === 0 ? "the contract" : printable(path.join("."), 200);
  return `${place}: found ${printable(found, 200)}; allowed: ${printable(allowed, 600)}`;
}

function explain(issue: z.core.$ZodIssue, root: unknown): ContractIssue[] {
  const path = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    // The form that is meant: the one that knows most of the fields.
    const [meant = []] = issue.errors.toSorted((one, other) => unknownFields(one) - unknownFields(other));
    return meant.flatMap((inner) => explain({ ...inner, path: [...issue.path, ...inner.path] }, root));
  }
  const allowed = allowedBy(issue);
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({ path: [...path, key], found: "an unknown field", allowed }));
  if (issue.code === "invalid_key")
    return issue.issues.map((inner) => ({ path, found: shownAt(path.at(-1), []), allowed: allowedBy(inner) }));
  return [{ path, found: shownAt(root, path), allowed }];
}

function unknownFields(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce((sum, issue) => sum + (issue.code === "unrecognized_keys" ? issue.keys.length : 0), 0);
}

function allowedBy(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_value":
      return issue.values.map((value) => JSON.stringify(value)).join(" | ");
    case "invalid_type":
      return issue.expected === "record" ? "object" : issue.expected;
    case "too_small":
      return `at least ${issue.minimum}${["number", "int"].includes(issue.origin) ? "" : ` (${issue.origin})`}`;
    case "too_big":
      return `at most ${issue.maximum}`;
    default:
      return issue.message.replace(/^(allowed: |Invalid discriminator value\. Expected )/, "");
  }
}
