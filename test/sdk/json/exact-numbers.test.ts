import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  asWritten,
  canonical,
  findNotJson,
  isEqual,
  isExactNumber,
  parseJson,
  rounded,
} from "../../../sdk/json/index.ts";

/** Numbers as services write them: any digits, with or without a point and an exponent. */
const numbers = fc
  .tuple(
    fc.boolean(),
    fc.bigInt({ min: 0n }),
    fc.option(fc.stringMatching(/^\d{1,30}$/)),
    fc.option(fc.integer({ min: -400, max: 400 })),
  )
  .map(([isNegative, whole, fraction, exponent]) =>
    [
      isNegative ? "-" : "",
      whole,
      fraction === null ? "" : `.${fraction}`,
      exponent === null ? "" : `e${exponent}`,
    ].join(""),
  );

/** The exact value, by integers alone. */
function worth(number: string): string {
  const [, sign, whole = "", fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e(.*))?$/.exec(number) ?? [];
  const digits = BigInt(whole + fraction) * 10n ** BigInt(Number(exponent) - fraction.length + 500);
  return digits === 0n ? "0" : `${sign}${digits}`;
}

describe("a number of JSON", () => {
  test("goes out with the value that came in, whatever its length", () => {
    fc.assert(
      fc.property(numbers, (number) => {
        const [written] = /(?<=^\[).*(?=\]$)/.exec(JSON.stringify(parseJson(`[ ${number}]`))) ?? [""];
        expect(worth(written.replace("e+", "e"))).toBe(worth(number));
      }),
    );
  });

  test("is equal to another exactly when their values are, and has one canonical string with those", () => {
    fc.assert(
      fc.property(numbers, numbers, fc.constantFrom("", "0", "1", "00"), (one, other, more) => {
        for (const [a, b] of [
          [one, other],
          [one, one.includes(".") && !one.includes("e") ? one + more : one],
        ] as const) {
          const [read, readToo] = [parseJson(a), parseJson(b)];
          const isSame = worth(a) === worth(b);
          expect(isEqual([read], [readToo], asWritten)).toBe(isSame);
          expect(canonical([read], asWritten) === canonical([readToo], asWritten)).toBe(isSame);
        }
      }),
    );
  });

  test.each(["0.1", "1.50", "-0", "1e3", "123456789012345", "9007199254740991", "1234567.12345678"])(
    "that a double holds is that double: %s",
    (number) => expect(parseJson(number)).toBe(Number(number)),
  );

  test.each(["12345678901234.567", "9007199254740993", "9007199254740992", "1e400", "1e-400", "0.1000000000000000055"])(
    "that a double would round is a leaf of its own, and JSON: %s",
    (number) => {
      const [read] = Object(parseJson(`[${number}]`));
      expect(isExactNumber(read)).toBe(true);
      expect([String(read), findNotJson([read])]).toEqual([number, undefined]);
      expect(rounded(read)).toBe(Number.isFinite(Number(number)) ? Number(number) : number);
    },
  );

  test("is not found in a text", () => {
    expect(parseJson('{"a":" 12345678901234567890 [1e9"}')).toEqual({ a: " 12345678901234567890 [1e9" });
  });
});
