import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contains, isJsonObject, type Json, pathOf, walk } from "../../../sdk/json/index.ts";

describe("a walk", () => {
  test("visits each value before its children, in their order, and knows the path of each", () => {
    const visited: string[] = [];
    walk({ a: [1, { b: null }], "odd key": "x" }, (_value, { path }) => {
      visited.push(pathOf(path, "rule"));
    });
    expect(visited).toEqual(["rule", "rule.a", "rule.a[0]", "rule.a[1]", "rule.a[1].b", 'rule["odd key"]']);
  });

  test("ends at the first result, and gives it", () => {
    let visits = 0;
    const found = walk([1, 2, 3], (value) => {
      visits += 1;
      return value === 2 ? { value } : undefined;
    });
    expect(found).toEqual({ value: 2 });
    expect(visits).toBe(3);
    expect(walk([1], () => undefined)).toBe(undefined);
  });

  test("visits as many values as JSON.parse revives", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        let revived = 0;
        const value: Json = JSON.parse(text, (_key, each: unknown) => {
          revived += 1;
          return each;
        });
        let visits = 0;
        walk(value, () => {
          visits += 1;
        });
        expect(visits).toBe(revived);
      }),
    );
  });

  test("says where a value is part of itself, and does not enter it again", () => {
    const cycle: Record<string, unknown> = { a: {} };
    cycle.self = cycle;
    const cycles: string[] = [];
    walk(cycle, (_value, { path, isCycle }) => {
      if (isCycle) cycles.push(pathOf(path));
    });
    expect(cycles).toEqual(["self"]);
  });

  test("enters a value again that stands in two places", () => {
    const shared = [1];
    let visits = 0;
    walk([shared, shared], () => {
      visits += 1;
    });
    expect(visits).toBe(5);
  });

  test("ends however deep a value nests", () => {
    let deep: Json = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(walk(deep, () => undefined)).toBe(undefined);
  });
});

test("whether a value contains another is asked of the value itself and of all in it", () => {
  const isUnknown = (value: Json): boolean => value === "unknown";
  expect(contains("unknown", isUnknown)).toBe(true);
  expect(contains({ a: [{ b: "unknown" }] }, isUnknown)).toBe(true);
  expect(contains({ a: [{ unknown: "b" }] }, isUnknown)).toBe(false);
  expect(contains({ a: {} }, (value) => isJsonObject(value) && Object.keys(value).length === 0)).toBe(true);
  expect(contains(undefined, () => true)).toBe(false);
});
