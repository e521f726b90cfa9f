import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  canonical,
  differences,
  field,
  isEqual,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  pathOf,
  project,
} from "../../sdk/rules/index.ts";

const json = fc.jsonValue({ maxDepth: 4 }).map((value): Json => JSON.parse(JSON.stringify(value)));
const object = fc
  .dictionary(fc.string({ maxLength: 8 }), json, { maxKeys: 6 })
  .map((value): JsonObject => JSON.parse(JSON.stringify(value)));

/** The same value with object keys in another order. */
function shuffled(value: Json): Json {
  if (isJsonArray(value)) return value.map(shuffled);
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, child]) => [key, shuffled(child)]),
    );
  return value;
}

/** The same value as a service would give it: every object with fields that nobody declared. */
function withServerFields(value: Json): Json {
  if (isJsonArray(value)) return value.map(withServerFields);
  if (!isJsonObject(value)) return value;
  const own = Object.entries(value).map(([key, child]): [string, Json] => [key, withServerFields(child)]);
  return Object.fromEntries([...own, ["updatedAt (by the service)", "2026-01-01"]]);
}

describe("the canonical form", () => {
  test("does not depend on the order of object keys", () => {
    fc.assert(fc.property(json, (value) => canonical(shuffled(value)) === canonical(value)));
  });

  test("tells values apart exactly as JSON does", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(isEqual(a, b)).toBe(
          canonical(JSON.parse(JSON.stringify(a))) === canonical(JSON.parse(JSON.stringify(b))),
        );
      }),
    );
    expect(isEqual(1, JSON.parse("1.0"))).toBe(true);
    expect(isEqual(-0, 0)).toBe(true);
    expect(isEqual("1", 1)).toBe(false);
    expect(isEqual(null, {})).toBe(false);
    expect(isEqual({ a: null }, {})).toBe(false);
    expect(isEqual([1, 2], [2, 1])).toBe(false);
    expect(isEqual([], {})).toBe(false);
  });

  test("can be read back as the same value", () => {
    fc.assert(fc.property(json, (value) => isEqual(JSON.parse(canonical(value)), value)));
  });

  test("ignores order where the contract says that order means nothing, and only there", () => {
    const options = { unordered: ["/tags", "/conditions/*/values"] };
    const a = { tags: ["x", "y"], conditions: [{ values: [1, 2] }], order: [1, 2] };
    expect(isEqual(a, { tags: ["y", "x"], conditions: [{ values: [2, 1] }], order: [1, 2] }, options)).toBe(true);
    expect(isEqual(a, { ...a, order: [2, 1] }, options)).toBe(false);
    expect(isEqual(a, { ...a, tags: ["x", "x"] }, options)).toBe(false);
  });

  test("treats __proto__ and constructor as fields like any other", () => {
    const hostile: Json = JSON.parse('{"__proto__": {"admin": true}, "constructor": 1}');
    expect(isEqual(hostile, {})).toBe(false);
    expect(isEqual(hostile, JSON.parse('{"constructor": 1, "__proto__": {"admin": true}}'))).toBe(true);
    expect(isJsonObject(hostile) && field(hostile, "toString")).toBe(undefined);
    const projected = project(
      JSON.parse('{"__proto__": {"admin": true, "x": 1}, "other": 1}'),
      JSON.parse('{"__proto__": {"admin": false}}'),
    );
    expect(JSON.stringify(projected)).toBe('{"__proto__":{"admin":true}}');
  });
});

describe("the projection onto what is declared", () => {
  test("of a rule as declared, with whatever the service adds, is what is declared", () => {
    fc.assert(
      fc.property(object, (declared) => isEqual(project(withServerFields(shuffled(declared)), declared), declared)),
    );
  });

  test("is stable: projecting again changes nothing", () => {
    fc.assert(
      fc.property(json, json, (live, declared) => {
        const once = project(live, declared);
        expect(canonical(project(once, declared))).toBe(canonical(once));
      }),
    );
  });

  test("keeps a missing field missing and an unmanaged field out", () => {
    expect(project({ b: 2, c: 3 }, { a: 1, b: 1 })).toEqual({ b: 2 });
  });

  test("keeps elements that were added and shows elements that were removed", () => {
    expect(
      project(
        [
          { a: 1, x: 1 },
          { a: 2, x: 2 },
        ],
        [{ a: 1 }],
      ),
    ).toEqual([{ a: 1 }, { a: 2, x: 2 }]);
    expect(project([{ a: 1, x: 1 }], [{ a: 1 }, { a: 2 }])).toEqual([{ a: 1 }]);
  });

  test("puts elements of unordered arrays where the declaration has them", () => {
    const options = { unordered: ["/tags"] };
    fc.assert(
      fc.property(fc.array(object, { maxLength: 5 }), (tags) => {
        const live = { tags: withServerFields([...tags].reverse()) };
        expect(canonical(project(live, { tags }, options), options)).toBe(canonical({ tags }, options));
      }),
    );
    expect(
      project(
        {
          tags: [
            { a: 1, b: 2 },
            { a: 1, s: 0 },
          ],
        },
        { tags: [{ a: 1 }, { a: 1, b: 2 }] },
        options,
      ),
    ).toEqual({ tags: [{ a: 1 }, { a: 1, b: 2 }] });
    expect(project({ tags: [null, 1] }, { tags: [1, null] }, options)).toEqual({ tags: [1, null] });
  });
});

describe("the differences", () => {
  test("are none exactly between equal values", () => {
    fc.assert(fc.property(json, json, (a, b) => (differences(a, b).length === 0) === isEqual(a, b)));
    fc.assert(fc.property(json, (value) => differences(value, shuffled(value)).length === 0));
  });

  test("turn one value into the other when they are applied", () => {
    fc.assert(
      fc.property(object, object, (before, after) => {
        const changed = differences(before, after).reduce<Json>(
          (value, { place, after: next }) => set(value, place, next),
          before,
        );
        expect(canonical(changed)).toBe(canonical(after));
      }),
    );
  });

  test("are named by paths that read as the engine prints them", () => {
    const before = { priority: 1, conditions: [{ value: 1 }], "odd key": 1, gone: null };
    const after = { priority: 2, conditions: [{ value: 2 }, { value: 3 }], "odd key": 2 };
    expect(differences(before, after).map(({ kind, place }) => `${kind} ${pathOf(place)}`)).toEqual([
      "update priority",
      "update conditions[0].value",
      "add conditions[1]",
      'update ["odd key"]',
      "delete gone",
    ]);
  });
});

function set(value: Json, place: readonly (string | number)[], next: Json | undefined): Json {
  const [first, ...rest] = place;
  if (first === undefined) return next ?? null;
  if (isJsonArray(value)) {
    const elements = [...value];
    if (rest.length === 0 && next === undefined) return elements.toSpliced(-1, 1);
    elements[Number(first)] = set(elements[Number(first)] ?? null, rest, next);
    return elements;
  }
  const fields = isJsonObject(value) ? value : {};
  const others = Object.entries(fields).filter(([key]) => key !== first);
  if (rest.length === 0 && next === undefined) return Object.fromEntries(others);
  return Object.fromEntries([...others, [String(first), set(field(fields, String(first)) ?? null, rest, next)]]);
}
