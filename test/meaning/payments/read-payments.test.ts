import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PaymentsFile, type PaymentsRead, type ReadPaymentsOptions } from "../../../meaning/payments/read-payments.ts";
import type { Json, JsonObject } from "../../../sdk/json/index.ts";
import { newFolder } from "../../support/folder.ts";

const folder = newFolder();

const columns = [
  { name: "amount", at: "/amount", type: "decimal", isNeeded: true },
  { name: "country", at: "/card/country", type: "text", isNeeded: true },
  { name: "trusted", at: "/trusted", type: "boolean", isNeeded: false },
  { name: "tags", at: "/tags", type: "text", list: true, isNeeded: false },
];

interface All {
  readonly payments: readonly JsonObject[];
  readonly read: PaymentsRead;
}

async function readAll(bytes: Buffer | string, options: Partial<ReadPaymentsOptions> = {}): Promise<All> {
  const path = join(folder, "payments");
  writeFileSync(path, bytes);
  return await collected(new PaymentsFile(path, { columns, ...options }));
}

async function collected(file: PaymentsFile): Promise<All> {
  const payments: JsonObject[] = [];
  for await (const batch of file.batches()) payments.push(...batch);
  return { payments, read: file.read };
}

/** The message of a failure, without the name of the file. */
async function failure(bytes: Buffer | string, options: Partial<ReadPaymentsOptions> = {}): Promise<string> {
  const message = await readAll(bytes, options).then(
    () => "it was read",
    (error: Error) => error.message,
  );
  expect(message).toMatch(/What to do: .*\(PAYMENTS_INVALID\)$/s);
  return message
    .replace(/^read payments \S+ failed: /, "")
    .replace(/\. What to do: .*|\n?What to do: .*/s, "")
    .trim();
}

const [one, two] = [
  { amount: 12.5, card: { country: "FR" } },
  { amount: "7", card: { country: 'Ö, "x"' }, other: null },
] as const;
const ndjson = `${JSON.stringify(one)}\r\n\n  ${JSON.stringify(two)}`;

describe("payments are read", () => {
  test.each([
    ["NDJSON", Buffer.from(ndjson)],
    ["NDJSON with a byte order mark", Buffer.from(`\ufeff${ndjson}\n`)],
    ["packed NDJSON", gzipSync(ndjson)],
    ["NDJSON packed in two parts", Buffer.concat([gzipSync(ndjson.slice(0, 20)), gzipSync(ndjson.slice(20))])],
  ])("from %s, with the hash of the file as it is", async (_, bytes) => {
    const { payments, read } = await readAll(bytes);
    expect(payments).toEqual([one, two]);
    expect(read).toMatchObject({ form: "NDJSON", payments: 2, badLines: 0, bytes: bytes.length });
    expect(read.sha256).toBe(createHash("sha256").update(bytes).digest("hex"));
  });

  test.each([",", ";", "\t"])(
    "from CSV with %j between the cells: named columns alone, quotes, empty and missing",
    async (delimiter) => {
      const csv = [
        "card.country,ignored,/amount,tags",
        `FR,x,12.50,"[""a"",5]"`,
        `"two\nlines and ""quotes""","",,not a list`,
        `"",,"0",`,
      ].join("\r\n");
      const cells = csv.replaceAll(/,(?!5)/g, delimiter);
      const { payments, read } = await readAll(gzipSync(cells));
      expect(payments).toEqual([
        { card: { country: "FR" }, amount: "12.50", tags: ["a", 5] },
        { card: { country: 'two\nlines and "quotes"' }, tags: "not a list" },
        { card: { country: "" }, amount: "0" },
      ]);
      expect(read).toMatchObject({ form: "CSV", payments: 3, badLines: 0, absent: ["trusted"] });
    },
  );

  test("from standard input, wherever its parts are cut", async () => {
    const lines = Array.from({ length: 50 }, (_, index) => ({
      amount: index,
      card: { country: "Ö€😀".repeat(index % 7) },
    }));
    const bytes = Buffer.from(lines.map((line) => JSON.stringify(line)).join("\n"));
    for (const size of [1, 2, 3, 7, 64]) {
      const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      const { payments } = await collected(new PaymentsFile("-", { columns, stdin: Readable.from(parts) }));
      expect(payments).toEqual(lines);
    }
  });

  test("a truth value in CSV is one of two words, and any other stays the text that it is", async () => {
    const { payments } = await readAll("amount,country,trusted\n1,FR,true\n1,FR,false\n1,FR,TRUE\n1,FR,1\n");
    expect(payments.map(({ trusted }) => trusted)).toEqual([true, false, "TRUE", "1"]);
  });

  test("what was written as CSV is read again, whatever is in its cells", async () => {
    const cell = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("", '"', ",", "\n", "a,b", '""', " x "));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, fc.option(cell)), { minLength: 1 }), async (rows) => {
        const written = rows.map(([amount, country]) =>
          [amount, country].map((each) => (each === null ? "" : `"${each.replaceAll('"', '""')}"`)).join(","),
        );
        const { payments } = await readAll(`amount,country\n${written.join("\n")}\n`);
        expect(
          payments.map((each): Json[] => [each.amount ?? null, (each.card as JsonObject | undefined)?.country ?? null]),
        ).toEqual(rows.map(([amount, country]) => [amount, country]));
      }),
      { numRuns: 100 },
    );
  });
});

describe("lines that hold no payment", () => {
  test("are counted, and shown to a limit by line, column and why, without what is in them", async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"amount":1}\n{"amount":s3cret}\n[1]\nnull\n{"amount":'),
      Buffer.from('\n{"country":"K'),
      Buffer.from([0xf6]),
      Buffer.from('ln"}\n"s3cret"\n{"amount":2}\n'),
    ]);
    const { payments, read } = await readAll(bytes, { mostBad: 5 });
    expect(payments).toEqual([{ amount: 1 }, { amount: 2 }]);
    expect(read.badLines).toBe(6);
    expect(read.bad).toEqual([
      { line: 2, column: 11, why: "is not JSON" },
      { line: 3, column: 1, why: "is a list, and no payment" },
      { line: 4, column: 1, why: "is null, and no payment" },
      { line: 5, column: 11, why: "is not JSON" },
      { line: 6, column: 14, why: "is not UTF-8" },
    ]);
    expect(await failure(bytes, { strict: true })).toBe("line 2, column 11: it is not JSON");
  });

  test("of CSV have another number of cells, or quotes that stand wrongly", async () => {
    const csv = 'amount,country\n1,FR\n1\n1,F"R\n1,"FR" \n1,"FR\n2,DE\n';
    const { payments, read } = await readAll(csv);
    expect(payments).toEqual([{ amount: "1", card: { country: "FR" } }]);
    expect(read.bad).toEqual([
      { line: 3, column: 1, why: "has 1 cells, and the header has 2" },
      { line: 4, column: 4, why: "has a quote within a cell that does not begin with one" },
      { line: 5, column: 7, why: "has more behind the quote that closes a cell" },
      { line: 6, column: 1, why: "has a quote that is not closed; the lines to 7 are lost with it" },
    ]);
  });

  test("of 100 MB are skipped without being held", async () => {
    const piece = Buffer.alloc(1_000_000, "x");
    function* parts(): Generator<Buffer> {
      yield Buffer.from('{"amount":1}\n{"amount":"');
      for (let count = 0; count < 100; count += 1) yield piece;
      yield Buffer.from('"}\n{"amount":2}\n');
    }
    const { payments, read } = await collected(new PaymentsFile("-", { columns, stdin: Readable.from(parts()) }));
    expect(payments).toEqual([{ amount: 1 }, { amount: 2 }]);
    expect(read.bad).toEqual([{ line: 2, column: 1_048_577, why: "is longer than 1048576 bytes" }]);
  });
});

describe("a file that cannot be used is refused", () => {
  const packed = gzipSync(Array.from({ length: 5000 }, (_, index) => JSON.stringify({ amount: index })).join("\n"));

  test.each<[string, Buffer | string, string]>([
    ["empty", "", "it holds no payment"],
    ["a header alone", "amount,country\n", "it holds no payment"],
    ["bad lines alone", '{"a\n', "none of its lines holds a payment; line 1, column 4: it is not JSON"],
    ["one JSON list", '\n [{"amount":1}]', "line 2 begins with [, so it is one JSON list"],
    ["UTF-16", Buffer.from('{"amount":1}', "utf16le"), "line 1, column 1: it is UTF-16, UTF-32 or no text"],
    ["UTF-16 with its mark", Buffer.from("\ufefföäü", "utf16le"), "line 1, column 1: it is UTF-16, UTF-32 or no text"],
    [
      "a header in Latin-1",
      Buffer.from("amount,L\xe4nd\n1,FR\n", "latin1"),
      "the header cannot be read; line 1, column 9: it is not UTF-8",
    ],
    ["columns that are not there", "land,amounts\n1,FR\n", "it has no columns amount, country (or card.country)"],
    [
      "a column that is not there",
      "amount,land\n1,FR\n",
      "line 1, column 1: it has no column country (or card.country)",
    ],
    [
      "a column twice",
      "amount,country,card.country\n1,FR,FR\n",
      "line 1, column 1: it has 2 columns for country: country, card.country",
    ],
    [
      "an open quote in the header",
      'amount,"country\n1,FR\n',
      "line 1, column 16: it has a quote in its header that is not closed there",
    ],
    ["gzip that is cut off", packed.subarray(0, 9000), "it is cut off: gzip ends too early, after line"],
    [
      "gzip that is damaged",
      Buffer.concat([packed.subarray(0, 5000), Buffer.alloc(3000, 7), packed.subarray(8000)]),
      "gzip is damaged after line",
    ],
  ])("%s", async (_, bytes, reason) => {
    expect(await failure(bytes)).toContain(reason);
  });

  test("a file that is not there, and a folder", async () => {
    const read = (path: string): Promise<All> => collected(new PaymentsFile(path, { columns }));
    await expect(read(join(folder, "none"))).rejects.toThrow(/ENOENT.*What to do: name a file that can be read/s);
    await expect(read(folder)).rejects.toThrow(/EISDIR.*What to do: name a file that can be read/s);
  });

  test("lines in Latin-1 alone, with how to write them in UTF-8", async () => {
    const path = join(folder, "latin-1.csv");
    writeFileSync(path, Buffer.from("amount,country\n1,L\xe4\n", "latin1"));
    await expect(collected(new PaymentsFile(path, { columns }))).rejects.toThrow(
      /line 2, column 4: it is not UTF-8.*What to do: write the file in UTF-8/s,
    );
  });

  test("a column inside another", async () => {
    const inside = [...columns, { name: "card", at: "/card", isNeeded: true }];
    expect(await failure("amount,country,card\n", { columns: inside })).toContain(
      "cannot hold country (/card/country) inside card (/card)",
    );
  });
});
