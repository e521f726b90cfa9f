import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isJsonArray, type Json, mapJson, pathOf, walk } from "../../../sdk/json/index.ts";

/** JSON as `JSON.parse` gives it, also with a field called `__proto__`. */
const json = fc.json().map((text): Json => JSON.parse(text));

describe("mapJson", () => {
  test("puts what the visitor returns in the place of a value, and does not look into that", () => {
    const mapped = mapJson({ a: [1, { b: 1 }], c: "x" }, (value) => (isJsonArray(value) ? [value, 1] : undefined));
    expect(mapped).toEqual({ a: [[1, { b: 1 }], 1], c: "x" });
  });

  test("replaces by null, false and an empty text, which are values like others", () => {
    for (const replacement of [null, false, "", 0])
      expect(mapJson(["a", "b"], (value) => (value === "b" ? replacement : undefined))).toEqual(["a", replacement]);
  });

  test("begins its paths with the given one", () => {
    const paths: string[] = [];
    mapJson(
      [{ b: 1 }],
      (_, path) => {
        paths.push(pathOf(path));
        return undefined;
      },
      ["rules", "a"],
    );
    expect(paths).toEqual(["rules.a", "rules.a[0]", "rules.a[0].b"]);
  });

  test("gives an equal copy when nothing is replaced, and sees what a walk sees", () => {
    fc.assert(
      fc.property(json, (value) => {
        const [walked, mapped]: [unknown[], unknown[]] = [[], []];
        walk(value, (each, { path }) => {
          walked.push([...path], each);
        });
        const copy = mapJson(value, (each, path) => {
          mapped.push([...path], each);
          return undefined;
        });
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
        expect(mapped).toEqual(walked);
      }),
    );
  });

  test("replaces leaves as a reviver of JSON.parse does", () => {
    fc.assert(
      fc.property(json, (value) => {
        const mapped = mapJson(value, (each) => (typeof each === "number" ? String(each) : undefined));
        const revived = JSON.parse(JSON.stringify(value), (_key, each: unknown) =>
          typeof each === "number" ? String(each) : each,
        );
        expect(JSON.stringify(mapped)).toBe(JSON.stringify(revived));
      }),
    );
  });
});
