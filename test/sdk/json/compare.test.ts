import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  asWritten,
  type CompareOptions,
  canonical as canonicalBy,
  type Difference,
  differences as differencesBy,
  differsUnseen,
  field,
  fieldsShown,
  isEqual as isEqualBy,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  type Path,
  pathOf,
  project as projectBy,
  touches as touchesBy,
  valueAt,
  withoutWriteOnly,
} from "../../../sdk/json/index.ts";

const canonical = (value: Json, by: CompareOptions = asWritten): string => canonicalBy(value, by);
const isEqual = (a: Json, b: Json, by: CompareOptions = asWritten): boolean => isEqualBy(a, b, by);
const project = (live: Json, declared: Json, by: CompareOptions = asWritten): Json => projectBy(live, declared, by);
const differences = (before: Json, after: Json): Difference[] => differencesBy(before, after, asWritten);
const touches = (difference: Difference, pattern: string): boolean => touchesBy(difference, pattern, asWritten);

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
    const options = { ...asWritten, unordered: ["/tags", "/conditions/*/values"] };
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

  test("keeps a declared null where the service dropped it, and nowhere else", () => {
    expect(project({ nested: {} }, { a: null, b: 0, nested: { c: null } })).toEqual({ a: null, nested: { c: null } });
    expect(project({ a: 1 }, { a: null })).toEqual({ a: 1 });
    expect(project({ a: null }, { a: 1 })).toEqual({ a: null });
    expect(project([], [null])).toEqual([]);
    expect(project(JSON.parse("{}"), JSON.parse('{"constructor": null}'))).toEqual({ constructor: null });
  });

  test("of a rule that lost its nulls is what is declared", () => {
    fc.assert(fc.property(object, (declared) => isEqual(project(withoutNulls(declared), declared), declared)));
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
    const options = { ...asWritten, unordered: ["/tags"] };
    fc.assert(
      fc.property(fc.array(object, { maxLength: 5 }), (tags) => {
        const live = { tags: withServerFields([...tags].reverse()) };
        expect(canonical(project(live, { tags }, options), options)).toBe(canonical({ tags }, options));
      }),
    );
    // To lack a field satisfies a declared null, and yet the element is wanted elsewhere.
    const nulls = { tags: [{ a: null }, { b: false }] };
    expect(project({ tags: [{ b: false }, { c: 1 }] }, nulls, options)).toEqual(nulls);
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
          (value, { path, after: next }) => set(value, path, next),
          before,
        );
        expect(canonical(changed)).toBe(canonical(after));
      }),
    );
  });

  test("are named by paths that read as the engine prints them", () => {
    const before = { priority: 1, conditions: [{ value: 1 }], "odd key": 1, gone: null };
    const after = { priority: 2, conditions: [{ value: 2 }, { value: 3 }], "odd key": 2 };
    expect(differences(before, after).map(({ kind, path }) => `${kind} ${pathOf(path)}`)).toEqual([
      "update priority",
      "update conditions[0].value",
      "add conditions[1]",
      'update ["odd key"]',
      "delete gone",
    ]);
  });
});

describe("a pattern", () => {
  const touched = (before: Json, after: Json, pattern: string): boolean =>
    differences(before, after).some((difference) => touches(difference, pattern));

  test.each<[string, Json, Json, string, boolean]>([
    ["at its place", { scope: { merchantId: 1 } }, { scope: { merchantId: 2 } }, "/scope/merchantId", true],
    ["below it", { scope: { merchantId: 1 } }, { scope: { merchantId: 2 } }, "/scope", true],
    ["beside it", { scope: { label: 1 } }, { scope: { label: 2 } }, "/scope/merchantId", false],
    ["above it, without the field", {}, { scope: { label: 1 } }, "/scope/merchantId", false],
    ["above it, with the field", {}, { scope: { merchantId: 1 } }, "/scope/merchantId", true],
    ["above it, with the field as null", {}, { scope: { merchantId: null } }, "/scope/merchantId", true],
    ["above it, taking the field away", { scope: { merchantId: 1 } }, {}, "/scope/merchantId", true],
    ["above it, taking others away", { scope: { label: 1 } }, {}, "/scope/merchantId", false],
    ["above it, by another kind", { type: { kind: 1 } }, { type: 3 }, "/type/kind", true],
    ["above it, by another kind without the field", { type: { other: 1 } }, { type: 3 }, "/type/kind", false],
    ["by an element without the field", { conditions: [] }, { conditions: [{ op: "=" }] }, "/conditions/*/id", false],
    ["by an element with the field", { conditions: [] }, { conditions: [{ id: 1 }] }, "/conditions/*/id", true],
    ["by all elements without the field", {}, { conditions: [{ op: "=" }] }, "/conditions/*/id", false],
    ["by all elements, one with the field", {}, { conditions: [{ op: "=" }, { id: 1 }] }, "/conditions/*/id", true],
    ["by fields, one with the field", { by: 1 }, { by: { a: {}, b: { id: 1 } } }, "/by/*/id", true],
  ])("is touched by a change %s", (_, before, after, pattern, expected) => {
    expect(touched(before, after, pattern)).toBe(expected);
  });

  test("of no segments is touched by every change", () => {
    fc.assert(fc.property(json, json, (before, after) => touched(before, after, "") !== isEqual(before, after)));
  });

  test("is touched exactly where the value at it changes", () => {
    const pointers = fc.constantFrom("/a", "/a/b", "/a/b/c", "/a/0", "/a/0/b");
    const key = fc.constantFrom("a", "b", "c", "x");
    const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        fc.constantFrom<Json>(null, 1, 2),
        fc.array(tie("tree"), { maxLength: 2 }),
        fc.dictionary(key, tie("tree"), { maxKeys: 3, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(tree, tree, pointers, (before, after, pointer) => {
        const [was, is] = [valueAt(before, pointer), valueAt(after, pointer)];
        const isSame = was === undefined || is === undefined ? was === is : isEqual(was, is);
        expect(touched(before, after, pointer)).toBe(!isSame);
      }),
    );
  });
});

function withoutNulls(value: Json): Json {
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, child]) => child !== null);
  return Object.fromEntries(kept.map(([key, child]) => [key, withoutNulls(child)]));
}

function set(value: Json, path: Path, next: Json | undefined): Json {
  const [first, ...rest] = path;
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

describe("at a write-only place", () => {
  const by = { ...asWritten, unordered: ["/rows"], writeOnly: ["/key", "/rows/*/key", "/auth/token"] };
  const rows = (...keys: readonly Json[]): JsonObject[] => keys.map((key, id) => ({ id, key }));
  const declared = { key: 1, auth: { token: 2 }, rows: rows(3, 4), name: "a" };
  const masked = { key: "*", auth: { token: "*" }, rows: rows("*", "*").reverse(), name: "a" };

  test.each<[string, JsonObject]>([
    ["left out", { rows: [{ id: 1 }, { id: 0 }], name: "a" }],
    ["masked", masked],
  ])("what is %s is taken as declared, and all else is compared", (_, live) => {
    expect(project(live, declared, by)).toEqual(declared);
    expect(project({ ...live, name: "b" }, declared, by)).toEqual({ ...declared, name: "b" });
    expect(withoutWriteOnly(live, by)).toEqual({ rows: [{ id: 1 }, { id: 0 }], name: "a" });
  });

  test("a change between two definitions is one, and no other change is taken for it", () => {
    const changes: JsonObject[] = [
      { name: "b" },
      { rows: rows(3, 4).reverse() },
      { key: 9 },
      { auth: {} },
      { rows: rows(3, 9) },
    ];
    const after = changes.map((change) => ({ ...declared, ...change }));
    expect(after.map((each) => isEqual(declared, each, by))).toEqual([false, true, false, false, false]);
    expect(after.map((each) => differsUnseen(declared, each, by))).toEqual([false, false, true, true, true]);
    expect(fieldsShown(declared, by)).toEqual(["rows", "name"]);
  });
});
