import type { z } from "zod";
import { type ErrorCode, MerchantRulesError } from "../errors.ts";
import { findNotJson, type NotJson } from "../json/json.ts";
import { printable } from "../json/printable.ts";
import { type Path, walk } from "../json/walk.ts";
import { type TextPlace, YamlDocument } from "./yaml-document.ts";

/** One thing that is wrong with a file: where, the value there, the values that may be there. */
export interface Issue extends NotJson {
  readonly allowed: string;
}

/** A kind of file that a schema describes. */
export interface DescribedFile<Read> {
  readonly schema: z.ZodType<Read>;
  /** What a message calls the whole: "the contract". */
  readonly name: string;
  readonly code: ErrorCode;
  readonly advice: string;
  /** What a message says about a file with faults. Default: cannot work. */
  readonly verdict?: string;
  /** Places name the column, too. Default: the line alone. */
  readonly hasColumns?: boolean;
  /** The places where fields that are right on their own cannot work together. */
  readonly inconsistencies: (read: Read) => readonly Issue[];
}

/**
 * Reads the text of a file: YAML 1.2, of which JSON is a part.
 * @throws MerchantRulesError with the kind's code: the file and, for each fault, its place and path, the value found and the
 * values allowed.
 */
export function readDescribed<Read>(text: string, file: string, kind: DescribedFile<Read>): Read {
  const document = new YamlDocument(text);
  const shown = ({ line, column }: TextPlace): string => (kind.hasColumns ? `${line}:${column}` : String(line));
  const read = document.read();
  if ("fault" in read) throw invalid(file, kind, [`${file}:${shown(read.fault)}: ${printable(read.fault.what, 200)}`]);
  const placeOf = ({ path }: Pick<Issue, "path">): string => `${file}:${shown(document.placeOfPath(path))}: `;
  const notJson = findNotJson(read.value);
  if (notJson === undefined) return checked(read.value, file, kind, placeOf);
  throw invalid(file, kind, [`${placeOf(notJson)}${sentence({ ...notJson, allowed: "what JSON can hold" }, kind)}`]);
}

/**
 * Checks a value as {@link readDescribed} checks what a file holds, and returns it with its defaults.
 * @throws MerchantRulesError as {@link readDescribed}, with `source` in place of the file.
 */
export function defineDescribed<Read>(input: unknown, source: string, kind: DescribedFile<Read>): Read {
  return checked(input, source, kind, () => `${source}: `);
}

function checked<Read>(
  value: unknown,
  source: string,
  kind: DescribedFile<Read>,
  placeOf: (issue: Issue) => string,
): Read {
  const result = kind.schema.safeParse(value);
  let issues: readonly Issue[] = droppedFields(value);
  if (issues.length === 0)
    issues = result.success
      ? kind.inconsistencies(result.data)
      : result.error.issues.flatMap((issue) => explain(issue, value));
  if (result.success && issues.length === 0) return result.data;
  throw invalid(source, kind, issues, (issue) => `${placeOf(issue)}${sentence(issue, kind)}`);
}

/**
 * Returns what a schema refuses with messages in this package's words: `allowed: string`. They show no value, which may be
 * secret; one that the schema itself gives stays. Of a union it is what the form that is meant refuses.
 */
export function inPlainWords({ issues }: Pick<z.ZodError, "issues">): { readonly issues: PlainIssue[] } {
  const plain = issues.flatMap((issue): PlainIssue[] => {
    const isOwn = issue.code === "custom" ? issue.message !== "Invalid input" : !librarysWords.test(issue.message);
    if (isOwn) return [issue];
    return explain(issue, undefined).map(({ path, found, allowed }) => ({
      path,
      message: issue.code === "unrecognized_keys" ? found : `allowed: ${allowed}`,
    }));
  });
  return { issues: plain };
}

/** How the messages begin that no schema has given. */
const librarysWords = /^(?:Invalid |Too (?:small|big): |Unrecognized keys?: )/;

interface PlainIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Returns an issue for each field called `__proto__`, which the schema would drop silently. */
function droppedFields(value: unknown): Issue[] {
  const issues: Issue[] = [];
  walk(value, (_value, { path }) => {
    if (path.at(-1) === "__proto__")
      issues.push({ path: [...path], found: "a field of this name", allowed: "another name" });
  });
  return issues;
}

/** Makes the error of a file from its first 20 faults; `sentenceOf` is called for those alone, because it may take long. */
function invalid<Fault>(
  file: string,
  { code, advice, verdict = "cannot work" }: Pick<DescribedFile<unknown>, "code" | "advice" | "verdict">,
  faults: readonly Fault[],
  sentenceOf: (fault: Fault) => string = String,
): MerchantRulesError {
  const shown = faults.slice(0, 20).map(sentenceOf);
  if (faults.length > shown.length) shown.push(`and ${faults.length - shown.length} more`);
  const lines = shown.map((line) => `  ${line}`);
  return new MerchantRulesError(code, `${file} ${verdict}:`, { lines, advice });
}

function sentence({ path, found, allowed }: Issue, { name }: Pick<DescribedFile<unknown>, "name">): string {
  const place = path.length === 0 ? name : printable(path.join("."), 200);
  return `${place}: found ${printable(found, 200)}; allowed: ${printable(allowed, 600)}`;
}

function explain(issue: z.core.$ZodIssue, root: unknown): Issue[] {
  const path = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key));
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    // The form that is meant: the one that knows most of the fields; among those, one whose faults lie inside the value.
    const [meant = []] = issue.errors.toSorted(
      (one, other) => unknownFields(one) - unknownFields(other) || faultsAbove(one) - faultsAbove(other),
    );
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

/** Counts the faults of the value itself, such as its type, apart from those inside it. */
function faultsAbove(issues: readonly z.core.$ZodIssue[]): number {
  return issues.filter(({ code, path }) => path.length === 0 && code !== "unrecognized_keys").length;
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
    case "not_multiple_of":
      return `a multiple of ${issue.divisor}`;
    default:
      // What the schema does not say, zod does: in words that name no value.
      if (issue.code === "invalid_format" && /^Invalid /.test(issue.message))
        return `a text of the form ${issue.pattern ?? issue.format}`;
      if (/^(Invalid input|Unrecognized keys?\b)/.test(issue.message)) return "what the documentation names";
      return issue.message.replace(/^(allowed: |Invalid discriminator value\. Expected )/, "");
  }
}

/** Formats the value at a path for a message, on one line; the value may be anything, JSON or not. */
export function shownAt(root: unknown, path: Path): string {
  const value = path.reduce<unknown>((within, key) => {
    const isThere = typeof within === "object" && within !== null && Object.hasOwn(within, key);
    return isThere ? Reflect.get(within, key) : undefined;
  }, root);
  if (value === undefined) return "nothing";
  if (typeof value === "number") return String(value);
  try {
    return printable(JSON.stringify(value) ?? `a ${typeof value}`, 80);
  } catch {
    return `a ${typeof value} that is not JSON`;
  }
}
