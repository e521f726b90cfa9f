import { z } from "zod";
import type { Semantics } from "../../../meaning/index.ts";
import type { Columns } from "../../../meaning/sql/query.ts";
import { MerchantRulesError } from "../../../sdk/errors.ts";
import { type DescribedFile, type Issue, readDescribed } from "../../../sdk/files/described-file.ts";
import { readTextFile } from "../../../sdk/files/yaml-document.ts";

const name = z
  .string()
  .min(1)
  .regex(/^[^\p{Cc}]*$/u, { error: "allowed: the name of a column" });

const columnsSchema = z.strictObject({
  version: z.literal(1).describe("The version of this format."),
  json: name.nullable().default(null).describe("A text column with the payment as JSON."),
  columns: z
    .record(z.string(), z.union([name, z.strictObject({ column: name, is: z.literal("instant") })]))
    .default({})
    .describe("Fields of the semantics that have a column of their own."),
});

type File = z.output<typeof columnsSchema>;

/**
 * Reads which columns a table has from a YAML or JSON file.
 * @throws MerchantRulesError SETTINGS_INVALID: it cannot be read; or, with line and column, what is wrong in it
 */
export function readColumns(file: string, semantics: Semantics): Columns {
  const read = readTextFile(file);
  if ("fault" in read)
    throw new MerchantRulesError("SETTINGS_INVALID", `it ${read.fault.what}`, {
      attempted: `read columns ${file}`,
      advice: "name a file that can be read",
      cause: read.fault.cause,
    });
  const { json, columns } = readDescribed(read.text, file, kindFor(semantics));
  return {
    json,
    fields: Object.fromEntries(
      Object.entries(columns).map(([field, column]) => [
        field,
        typeof column === "string" ? { column, isInstant: false } : { column: column.column, isInstant: true },
      ]),
    ),
  };
}

function kindFor({ payment: { fields } }: Semantics): DescribedFile<File> {
  return {
    schema: columnsSchema,
    name: "the file of columns",
    code: "SETTINGS_INVALID",
    advice: "correct the named lines; `npx --no-install merchant-rules help simulation` shows such a file",
    verdict: "cannot be used",
    hasColumns: true,
    inconsistencies: ({ json, columns }) => [
      ...(json === null && Object.keys(columns).length === 0
        ? [{ path: [], found: "no column", allowed: "json, or columns, or both" }]
        : []),
      ...Object.entries(columns).flatMap(([field, column]): Issue[] => {
        const described = Object.hasOwn(fields, field) ? fields[field] : undefined;
        const path = ["columns", field];
        if (described === undefined)
          return [{ path, found: "a field that the semantics do not have", allowed: Object.keys(fields).join(" | ") }];
        const isOdd = typeof column !== "string" && (described.type !== "instant" || described.list);
        return isOdd
          ? [{ path, found: "is: instant", allowed: "the name of the column: the field is no instant" }]
          : [];
      }),
    ],
  };
}
