import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  findNotJson,
  isPointer,
  type Json,
  maxDepth,
  pathOf,
  pointerOf,
  segmentsOf,
  valueAt,
  withValueAt,
} from "../../../sdk/json/index.ts";

describe("what is JSON", () => {
  test("is everything that JSON can say", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => findNotJson(value) === undefined));
  });

  test.each([
    ["undefined", { a: [1, undefined] }, "a[1]", "undefined"],
    ["NaN", { a: Number.NaN }, "a", "NaN"],
    ["an infinity", [Number.POSITIVE_INFINITY], "[0]", "Infinity"],
    ["a BigInt", { a: { "b c": 1n } }, 'a["b c"]', "bigint"],
    ["a Date", { when: new Date(0) }, "when", "a Date"],
    ["a Map", { a: new Map() }, "a", "a Map"],
    ["a function", { f: () => 1 }, "f", "function"],
  ])("is not %s, and its path is named", (_name, value, path, found) => {
    const place = findNotJson(value);
    expect([pathOf(place?.path ?? []), place?.found]).toEqual([path, found]);
  });

  test("is no cycle and nothing nested without end", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(findNotJson(cycle)).toEqual({ path: ["self"], found: "a reference to an object that contains it" });
    let deep: unknown = 1;
    for (let level = 0; level <= maxDepth; level++) deep = [deep];
    expect(findNotJson(deep)?.found).toBe(`more than ${maxDepth} levels of nesting`);
  });

  test("may hold one object twice", () => {
    const shared = { a: 1 };
    expect(findNotJson([shared, shared])).toBe(undefined);
  });
});

describe("a JSON pointer", () => {
  const segments = fc.array(fc.string({ maxLength: 5 }), { maxLength: 4 });

  test("is read back from its segments, whatever they hold", () => {
    fc.assert(
      fc.property(segments, (keys) => {
        expect(isPointer(pointerOf(keys))).toBe(true);
        expect(segmentsOf(pointerOf(keys))).toEqual(keys);
      }),
    );
  });

  test("finds what was put at it", () => {
    fc.assert(
      fc.property(segments, fc.jsonValue(), (keys, raw) => {
        const value: Json = JSON.parse(JSON.stringify(raw));
        expect(valueAt(withValueAt({}, pointerOf(keys), value), pointerOf(keys))).toEqual(value);
      }),
    );
  });

  test("finds nothing that is inherited", () => {
    expect(valueAt({}, "/constructor")).toBe(undefined);
    expect(valueAt([], "/length")).toBe(undefined);
    expect(valueAt({ a: [1] }, "/a/01")).toBe(undefined);
  });

  test.each(["a", "/a~", "/a~2", "a/b"])("is not %j", (text) => {
    expect(isPointer(text)).toBe(false);
  });
});
