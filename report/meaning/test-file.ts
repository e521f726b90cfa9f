import { z } from "zod";
import type { Semantics } from "../../meaning/index.ts";
import { outcomeNames } from "../../meaning/language/schema-words.ts";
import { type DescribedFile, type Issue, readDescribed, shownAt } from "../../sdk/files/described-file.ts";
import { mergedObject } from "../../sdk/files/rule-folder.ts";
import { YamlDocument } from "../../sdk/files/yaml-document.ts";
import { isPointer, type Json, type JsonObject, type Path, type Pointer, withFieldAt } from "../../sdk/json/index.ts";
import { instantOf } from "../../sdk/json/normal-form.ts";
import { printableJson } from "../../sdk/json/printable.ts";

const object: z.ZodType<JsonObject> = z.record(z.string(), z.json());
const outcome = z.union([z.string().min(1), z.array(z.string().min(1))]);
const instant = z.string().refine((text) => instantOf(text) !== undefined, {
  error: "allowed: an instant by RFC 3339, such as 2026-01-31T12:00:00Z",
});

const expected = z
  .strictObject({
    outcome: outcome.describe(
      "The outcome: accept, decline, review, or one that the semantics name. Where all rules that apply count, a list.",
    ),
    rule: z
      .string()
      .nullable()
      .optional()
      .describe(
        "The rule that decides: its name, its key or its id. null: no rule applies. Without it any rule may decide.",
      ),
  })
  .describe("What the rules must decide.");

const at = instant.describe("The time by which rules are in force. Without it: as the semantics say.");

const single = z.strictObject({
  name: z.string().min(1).describe("What is tested, in words."),
  payment: object.default({}).describe("What this payment has otherwise than the file's own. null takes a field away."),
  at: at.optional(),
  expect: expected,
});

const table = z.strictObject({
  name: z.string().min(1).describe("What is tested, in words."),
  payment: object.default({}).describe("What these payments have otherwise than the file's own."),
  at: at.optional(),
  columns: z
    .array(z.string().min(1))
    .min(1)
    .describe(
      "What each column is: a field of the semantics, a JSON Pointer into the payment, expect.outcome or expect.rule.",
    ),
  rows: z
    .array(z.array(z.json()))
    .min(1)
    .describe("A payment each, with a cell for each column. null takes a field away."),
});

/** A file of tests: payments, and what the rules must decide of them. */
export const testFileSchema = z
  .strictObject({
    $schema: z
      .string()
      .optional()
      .describe("The JSON Schema by which an editor checks this file. Nothing else uses it."),
    version: z.literal(1).describe("The version of this format."),
    payment: object.default({}).describe("What all payments of this file have, where a case does not say otherwise."),
    at: at.optional(),
    cases: z
      .array(z.union([single, table]))
      .min(1)
      .describe("The cases: one payment each, or a table of several."),
  })
  .meta({ title: "merchant-rules tests", description: "Payments, and what the rules must decide of them" });

/** Returns the text of `tests.schema.json`: what a file of tests may hold, as JSON Schema 2020-12. */
export function publishedTestsSchema(): string {
  const schema = { $id: "urn:pulumi-merchant-rules:tests:1", ...z.toJSONSchema(testFileSchema, { io: "input" }) };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** One payment, and what is expected of it. */
export interface TestCase {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly payment: JsonObject;
  readonly at: string | undefined;
  readonly outcomes: readonly string[];
  /** null: no rule. undefined: any. */
  readonly rule: string | null | undefined;
}

type File = z.output<typeof testFileSchema>;

/** Reads the cases of a file. @throws MerchantRulesError PAYMENTS_INVALID: with line and column what is wrong */
export function testCasesIn(text: string, file: string, semantics: Semantics): TestCase[] {
  const read = readDescribed(text, file, kindFor(semantics));
  const document = new YamlDocument(text);
  return read.cases.flatMap((each, index): TestCase[] => {
    const base = mergedObject(read.payment, each.payment);
    const shared = { file, at: each.at ?? read.at };
    if ("expect" in each) {
      const { line } = document.placeOfPath(["cases", index]);
      return [
        { ...shared, name: each.name, line, payment: base, ...expectation(each.expect.outcome, each.expect.rule) },
      ];
    }
    return each.rows.map((row, number) => {
      const cells = new Map(each.columns.map((column, place) => [column, row[place] ?? null]));
      const shown = [...cells]
        .filter(([column]) => !column.startsWith("expect."))
        .map(([, cell]) => printableJson(cell));
      return {
        ...shared,
        name: `${each.name} (${shown.join(", ")})`,
        line: document.placeOfPath(["cases", index, "rows", number]).line,
        payment: paymentOf(base, cells, semantics),
        ...expectation(outcomeIn(cells.get("expect.outcome")), ruleIn(cells.get("expect.rule"))),
      };
    });
  });
}

function expectation(outcomes: string | readonly string[], rule: string | null | undefined) {
  return { outcomes: (typeof outcomes === "string" ? [outcomes] : [...outcomes]).sort(), rule };
}

function outcomeIn(cell: Json | undefined): string | string[] {
  return Array.isArray(cell) ? cell.map(String) : String(cell);
}

function ruleIn(cell: Json | undefined): string | null | undefined {
  return cell === undefined || cell === null ? cell : String(cell);
}

function paymentOf(base: JsonObject, cells: ReadonlyMap<string, Json>, semantics: Semantics): JsonObject {
  let payment = base;
  for (const [column, cell] of cells) {
    const pointer = column.startsWith("expect.") ? undefined : pointerOfColumn(column, semantics);
    if (pointer !== undefined) payment = withFieldAt(payment, pointer, cell);
  }
  return payment;
}

function pointerOfColumn(column: string, { payment: { fields } }: Semantics): Pointer | undefined {
  if (Object.hasOwn(fields, column)) return fields[column]?.at;
  return column.startsWith("/") && isPointer(column) ? column : undefined;
}

function kindFor(semantics: Semantics): DescribedFile<File> {
  return {
    schema: testFileSchema,
    name: "the file of tests",
    code: "PAYMENTS_INVALID",
    advice: "correct the named lines; `npx --no-install merchant-rules help simulation` shows what a test is",
    verdict: "cannot be used",
    hasColumns: true,
    inconsistencies: (file) => inconsistencies(file, semantics),
  };
}

function inconsistencies(file: File, semantics: Semantics): Issue[] {
  const issues: Issue[] = [];
  const known = outcomesOf(semantics);
  const refuse = (path: Path, allowed: string): void => {
    issues.push({ path, found: shownAt(file, path), allowed });
  };
  const checkOutcome = (given: Json | undefined, path: Path): void => {
    for (const each of Array.isArray(given) ? given : [given ?? null]) {
      if (typeof each === "string" && (known === undefined || known.includes(each))) continue;
      refuse(path, known === undefined ? "the name of an outcome" : `an outcome: ${known.join(", ")}`);
      return;
    }
  };
  for (const [index, each] of file.cases.entries()) {
    const here = ["cases", index];
    if ("expect" in each) {
      checkOutcome(each.expect.outcome, [...here, "expect", "outcome"]);
      continue;
    }
    for (const [place, column] of each.columns.entries()) {
      const path = [...here, "columns", place];
      if (each.columns.indexOf(column) !== place) refuse(path, "each column once");
      const isKnown =
        column === "expect.outcome" || column === "expect.rule" || pointerOfColumn(column, semantics) !== undefined;
      if (!isKnown)
        refuse(path, "a field of payment.fields in the semantics, a JSON Pointer, expect.outcome or expect.rule");
    }
    const outcomeAt = each.columns.indexOf("expect.outcome");
    const ruleAt = each.columns.indexOf("expect.rule");
    if (outcomeAt === -1) refuse([...here, "columns"], "columns with expect.outcome among them");
    for (const [number, row] of each.rows.entries()) {
      const path = [...here, "rows", number];
      if (row.length !== each.columns.length) refuse(path, `${each.columns.length} cells, one for each column`);
      else if (outcomeAt !== -1) checkOutcome(row[outcomeAt], [...path, outcomeAt]);
      const rule = row[ruleAt];
      if (rule !== undefined && rule !== null && typeof rule !== "string")
        refuse([...path, ruleAt], "the name of a rule, or null for none");
    }
  }
  return issues;
}

/** Returns every outcome that the rules can have; undefined where the service's own words name them. */
function outcomesOf({ outcome: { words, others, named, without }, wins }: Semantics): readonly string[] | undefined {
  if (named) return undefined;
  const more = [without, wins.none].filter((name) => name !== null);
  return [...new Set([...outcomeNames, ...Object.values(words), ...others, ...more])];
}
