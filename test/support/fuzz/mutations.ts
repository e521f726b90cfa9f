import fc from "fast-check";

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

/** An alias of an alias of an alias: a few lines that stand for a billion values. */
const bomb = Array.from({ length: 9 }, (_, n) => `b${n}: &b${n} [${Array(10).fill(n === 0 ? "x" : `*b${n - 1}`)}]\n`);

/** Texts that a file may hold in the place of what it should hold. */
export const hostile: readonly string[] = [
  "__proto__: { polluted: true }\n",
  '"__proto__": {"polluted": true},',
  '"constructor": {"prototype": {"polluted": true}},',
  "__proto__",
  "constructor",
  "null",
  "true",
  "-0",
  "-1",
  "1e400",
  "1e308",
  "0x7fffffffffffffff",
  "12345678901234567890",
  "9007199254740993",
  ".nan",
  "-.inf",
  '""',
  '"\\ud800"',
  "\u0000",
  "\u001b[31m",
  "\uFEFF",
  "\t",
  "\r\n",
  "\r",
  "\u2028",
  "{}",
  "[]",
  "{",
  "]",
  '"',
  "'",
  ": ",
  "? ",
  "- ",
  "# ",
  "---\n",
  "...\n",
  "%YAML 1.1\n",
  "|\n",
  ">-\n",
  "&a ",
  "*a",
  "&a [*a]",
  "<<: *a\n",
  "<<: { a: 1 }\n",
  "!!binary aGk=",
  "!!set { a, b }",
  "!!timestamp 2026-01-01",
  "!!js/function x",
  "!secret x",
  "? [a, b]\n: c\n",
  nested(90),
  nested(150),
  nested(2000),
  "{a: ".repeat(500),
  `{"a":`.repeat(2000),
  "x".repeat(100_000),
  `"${"k".repeat(2000)}": 1,`,
  bomb.join(""),
  Array.from({ length: 500 }, (_, n) => `"u${n}": ${n},`).join("\n"),
  Array.from({ length: 500 }, (_, n) => `u${n}: &n${n} ${n}\n`).join(""),
  "&a ".repeat(1000),
  "- ".repeat(2000),
];

const bytes = fc.constantFrom(0x00, 0x09, 0x0a, 0x0d, 0x22, 0x2d, 0x3a, 0x5b, 0x7b, 0x7d, 0x80, 0xc0, 0xed, 0xff);

type Edit = (text: Buffer) => Buffer;
const place = fc.double({ min: 0, max: 1, noNaN: true });
const at = (text: Buffer, where: number): number => Math.floor(where * text.length);

const edits: fc.Arbitrary<Edit> = fc.oneof(
  // One byte is another.
  fc.tuple(place, fc.oneof(bytes, fc.integer({ min: 0, max: 255 }))).map(
    ([where, byte]): Edit =>
      (text) => {
        const copy = Buffer.from(text);
        if (copy.length > 0) copy[Math.min(at(text, where), copy.length - 1)] = byte;
        return copy;
      },
  ),
  // The rest is missing.
  place.map(
    (where): Edit =>
      (text) =>
        text.subarray(0, at(text, where)),
  ),
  // A part is missing, or there twice.
  fc.tuple(place, fc.nat({ max: 40 }), fc.boolean()).map(
    ([where, length, twice]): Edit =>
      (text) => {
        const start = at(text, where);
        const end = start + length;
        return Buffer.concat([text.subarray(0, twice ? end : start), text.subarray(twice ? start : end)]);
      },
  ),
  // Something is put in between.
  fc.tuple(place, fc.constantFrom(...hostile)).map(
    ([where, what]): Edit =>
      (text) => {
        const start = at(text, where);
        return Buffer.concat([text.subarray(0, start), Buffer.from(what), text.subarray(start)]);
      },
  ),
  // A line is missing, there twice, another, or has another before it that is as far to the right.
  fc.tuple(place, fc.constantFrom("drop", "twice", "replace", "before"), fc.constantFrom(...hostile)).map(
    ([where, how, what]): Edit =>
      (text) => {
        const lines = text.toString("latin1").split("\n");
        const index = Math.min(Math.floor(where * lines.length), lines.length - 1);
        const line = lines[index] ?? "";
        const [indent = ""] = /^\s*/.exec(line) ?? [];
        const other = indent + Buffer.from(what).toString("latin1");
        const instead = { drop: [], twice: [line, line], replace: [other], before: [other, line] }[how] ?? [];
        return Buffer.from([...lines.slice(0, index), ...instead, ...lines.slice(index + 1)].join("\n"), "latin1");
      },
  ),
  // A word is another.
  fc.tuple(place, fc.constantFrom(...hostile)).map(
    ([where, what]): Edit =>
      (text) => {
        const words = [...text.toString("latin1").matchAll(/"[^"\n]*"|[\w./{}$-]+/g)];
        const word = words[Math.min(Math.floor(where * words.length), words.length - 1)];
        if (word === undefined) return text;
        const end = word.index + word[0].length;
        return Buffer.concat([text.subarray(0, word.index), Buffer.from(what), text.subarray(end)]);
      },
  ),
  // All line ends, or all blanks at their beginning, are others.
  fc.constantFrom<[RegExp, string]>([/\n/g, "\r\n"], [/\n/g, "\r"], [/^ +/gm, "\t"], [/"/g, "'"]).map(
    ([from, to]): Edit =>
      (text) =>
        Buffer.from(text.toString("latin1").replace(from, to), "latin1"),
  ),
);

/** A file that was right, changed a few times. */
export function mutated(...seeds: readonly string[]): fc.Arbitrary<Buffer> {
  return fc
    .tuple(fc.constantFrom(...seeds), fc.array(edits, { minLength: 1, maxLength: 4 }))
    .map(([seed, changes]) => changes.reduce<Buffer>((text, edit) => edit(text), Buffer.from(seed)));
}

/** Bytes that never were a file of this kind. */
export const foreign: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
  fc.json().map((text) => Buffer.from(text)),
  fc.array(fc.constantFrom(...hostile), { maxLength: 4 }).map((parts) => Buffer.from(parts.join(""))),
);

/** Files that are right in form and wrong in size, or the other way round. */
export const extremes: readonly Buffer[] = [
  "",
  "\uFEFF",
  "\0",
  "null",
  "[]",
  "x".repeat(10_000_000),
  `a: ${"y".repeat(1_000_000)}`,
  nested(50_000),
  "{".repeat(100_000),
  "&a ".repeat(20_000),
  `{${Array.from({ length: 8000 }, (_, n) => `"k${n}":1`)}}`,
  Array.from({ length: 3000 }, (_, n) => `k${n}: &a${n} 1\nl${n}: *a${n}\n`).join(""),
  `x: ${Array(5_000).fill("a").join(": ")}`,
  `version: 1\n${bomb.join("")}`,
  "version: 1\ndescription: &x\n  a: *x\n",
].map((text) => Buffer.from(text));
