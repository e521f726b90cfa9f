import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  asWritten,
  type CompareOptions,
  canonical,
  differences,
  isEqual,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  project,
  touches,
} from "../../../sdk/json/index.ts";
import type { FormName, NormalForm } from "../../../sdk/json/normal-form.ts";

function by(...forms: readonly NormalForm[]): CompareOptions {
  return { ...asWritten, forms };
}

describe.each<[FormName, readonly Json[][], readonly [Json, Json][]]>([
  [
    "decimal",
    [
      [10, "10", "10.0", "10.00", "1e1", "1E+1", "100e-1"],
      [0, -0, "0", "-0", "0.000", "0e5"],
      [-2.5, "-2.50"],
      [0.1, "0.1", "0.10"],
      [1e21, "1000000000000000000000", "1e21"],
      ["9007199254740993", "9007199254740993.0"],
      ["1e400", "10e399"],
    ],
    [
      // The sum in floating point is 0.30000000000000004.
      [0.1 + 0.2, "0.3"],
      ["9007199254740993", "9007199254740992"],
      ["1e400", "1e401"],
      ["10", " 10"],
      ["10", "010"],
      ["10", "+10"],
      ["10", "10."],
      ["0.5", ".5"],
      ["1000", "1,000"],
      ["1", true],
      ["0", ""],
      ["0", null],
      ["1e1", `1e${"0".repeat(7)}1`],
      ["1", `1.${"0".repeat(1000)}`],
      [16, "0x10"],
      ["NaN", "nan"],
    ],
  ],
  [
    "dateTime",
    [
      ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z", "2026-01-01t01:30:00.0+01:30", "2025-12-31T19:00:00-05:00"],
      ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00-00:00", "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00z"],
      ["2026-01-01T00:00:00.123456789Z", "2026-01-01T00:00:00.1234567890Z"],
      ["2016-12-31T23:59:60Z", "2017-01-01T00:59:60.0+01:00"],
      ["0000-01-01T00:30:00+01:00", "0000-01-01T00:00:00+00:30"],
      ["2024-02-29T00:00:00Z", "2024-02-28T23:00:00-01:00"],
    ],
    [
      ["2026-01-01T00:00:00.123456789Z", "2026-01-01T00:00:00.123456788Z"],
      ["2026-01-01T00:00:00Z", "2026-01-01"],
      ["2026-01-01T00:00:00Z", "2026-01-01 00:00:00Z"],
      ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00"],
      ["2026-01-02T00:00:00Z", "2026-01-01T24:00:00Z"],
      ["2026-03-02T00:00:00Z", "2026-02-30T00:00:00Z"],
      ["2026-01-01T00:00:00Z", "2026-01-01T00:00Z"],
      ["2026-01-01T00:00:00Z", 1767225600000],
      ["2016-12-31T12:00:60Z", "2016-12-31T12:01:00Z"],
      ["2026-01-01T00:00:00+24:00", "2025-12-31T00:00:00Z"],
      ["Thu, 01 Jan 2026 00:00:00 GMT", "2026-01-01T00:00:00Z"],
    ],
  ],
  [
    "trimmed",
    [
      ["a b", " a b", "\ta b\n", "\u00a0a b\u3000"],
      ["", "  "],
    ],
    [
      ["a b", "a  b"],
      ["", null],
      ["1", 1],
    ],
  ],
  ["lower", [["straße", "STRASSE".replace("SS", "ß"), "Straße"]], [["straße", "strasse"]]],
  ["upper", [["straße", "STRASSE"]], [["a", "ä"]]],
  [
    "distinct",
    [
      [
        ["a", "b"],
        ["a", "b", "a"],
        ["a", "a", "b", "b"],
      ],
      [
        [{ x: 1, y: 2 }],
        [
          { x: 1, y: 2 },
          { y: 2, x: 1 },
        ],
      ],
      [[], []],
      [
        [1, "1"],
        [1, "1", 1.0],
      ],
    ],
    [
      [
        ["a", "b"],
        ["b", "a"],
      ],
      [["a"], []],
      [[[1]], [1]],
      ["aa", "a"],
    ],
  ],
])("in the form %s", (is, equal, different) => {
  const options = by({ at: "/x", is });

  test.each(equal)("%j and what follows are equal, and what is seen is as declared", (...values) => {
    for (const declared of values)
      for (const live of values) {
        expect(isEqual({ x: live }, { x: declared }, options)).toBe(true);
        expect(differences({ x: live }, { x: declared }, options)).toEqual([]);
        expect(JSON.stringify(project({ x: live, y: 1 }, { x: declared }, options))).toBe(
          JSON.stringify({ x: declared }),
        );
        // A form holds at its place alone.
        expect(isEqual({ y: live }, { y: declared }, options)).toBe(isEqual(live, declared, asWritten));
      }
  });

  test.each(different)("%j and %j are not equal", (one, other) => {
    expect(isEqual({ x: one }, { x: other }, options)).toBe(false);
    expect(isEqual({ x: other }, { x: one }, options)).toBe(false);
    expect(differences({ x: one }, { x: other }, options)).not.toEqual([]);
    expect(isEqual(project({ x: one }, { x: other }, options), { x: other }, options)).toBe(false);
  });
});

describe("a default", () => {
  const options = by({ at: "/on", default: true }, { at: "/rows/*/size", is: "decimal", default: 0 });

  test("is what a field has that is not there, and nothing else is", () => {
    expect(isEqual({ on: true }, {}, options)).toBe(true);
    expect(isEqual({ on: false }, {}, options)).toBe(false);
    expect(isEqual({ on: null }, {}, options)).toBe(false);
    expect(isEqual({ rows: [{ size: "0.00" }] }, { rows: [{}] }, options)).toBe(true);
    expect(isEqual({ rows: [{ size: 1 }] }, { rows: [{}] }, options)).toBe(false);
    expect(isEqual({ rows: [] }, {}, options)).toBe(false);
  });

  test("that is declared is seen where the service leaves it out", () => {
    expect(project({}, { on: true }, options)).toEqual({ on: true });
    expect(project({}, { on: false }, options)).toEqual({});
    expect(project({ on: false }, { on: true }, options)).toEqual({ on: false });
    expect(project({ on: true }, {}, options)).toEqual({});
    expect(project({ rows: [{}, {}] }, { rows: [{ size: 0 }, { size: 2 }] }, options)).toEqual({
      rows: [{ size: 0 }, {}],
    });
  });

  test("is no difference, also beside one", () => {
    expect(differences({ on: true, a: 1 }, { a: 2 }, options)).toMatchObject([{ path: ["a"] }]);
    expect(differences({ a: 1 }, { on: true, a: 2 }, options)).toMatchObject([{ path: ["a"] }]);
    expect(differences({ on: false, a: 1 }, { a: 1 }, options)).toMatchObject([{ path: ["on"], kind: "delete" }]);
    const [gone] = differences({ within: { on: true } }, {}, asWritten);
    const within = by({ at: "/within/on", default: true });
    expect(gone && touches(gone, "/within/on", within)).toBe(false);
    expect(gone && touches(gone, "/within/on", asWritten)).toBe(true);
  });
});

describe("forms together", () => {
  test("are all applied: an unordered array of texts in small letters, each once", () => {
    const options = {
      unordered: ["/tags"],
      forms: [
        { at: "/tags", is: "distinct" },
        { at: "/tags/*", is: "lower" },
        { at: "/tags/*", is: "trimmed" },
      ] as const,
    };
    expect(isEqual({ tags: ["B ", "a", "A"] }, { tags: ["a", "b"] }, options)).toBe(true);
    expect(project({ tags: ["b", "a"] }, { tags: ["A", "a", " B"] }, options)).toEqual({ tags: ["A", "a", " B"] });
    expect(project({ tags: ["b", "c"] }, { tags: ["A", "a", " B"] }, options)).toEqual({ tags: ["c", "c", " B"] });
    expect(project({ tags: ["b", "c", "d"] }, { tags: ["B"] }, options)).toEqual({ tags: ["B", "c", "d"] });
  });

  test("match elements of an unordered array that are written otherwise or lack a default", () => {
    const options = {
      unordered: ["/rows"],
      forms: [
        { at: "/rows/*/amount", is: "decimal" },
        { at: "/rows/*/tags", default: ["x"] },
      ] as const,
    };
    const declared = { rows: [{ amount: 1, tags: ["x"] }, { amount: "2.0" }] };
    expect(project({ rows: [{ amount: 2, by: "a" }, { amount: "1.00" }] }, declared, options)).toEqual(declared);
  });

  test("match elements by their numbers where a form names one", () => {
    const options = { unordered: ["/rows"], forms: [{ at: "/rows/0/name", is: "lower" }] as const };
    const declared = { rows: [{ name: "A" }, { name: "B" }] };
    expect(project({ rows: [{ name: "B" }, { name: "a" }] }, declared, options)).toEqual(declared);
  });
});

const scalar = fc.constantFrom<Json>(null, true, 0, 1, "1.0", "1", " 1", "a", "A", "a ", "2026-01-01T00:00:00Z");
const stamp = fc.constantFrom<Json>("2026-01-01T01:00:00+01:00", "10e-1", 1e21, "", {}, []);
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    stamp,
    fc.array(tie("tree"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "c", "0"), tie("tree"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const rule = fc.dictionary(fc.constantFrom("a", "b", "c"), tree, { maxKeys: 3, noNullPrototype: true });
const pattern = fc
  .array(fc.constantFrom("a", "b", "c", "*", "0"), { minLength: 1, maxLength: 3 })
  .map((segments) => `/${segments.join("/")}`);
const form = fc.oneof(
  fc.record({
    at: pattern,
    is: fc.constantFrom<FormName>("decimal", "dateTime", "trimmed", "lower", "upper", "distinct"),
  }),
  fc.record({ at: pattern.map((at) => `${at}/a`), default: fc.oneof(scalar, tree) }),
);
const options = fc.record({
  unordered: fc.array(pattern, { maxLength: 2 }),
  forms: fc.array(form, { maxLength: 4 }),
});

/** The same rule as another might write it. */
function rewritten(value: Json): Json {
  if (Array.isArray(value)) return [...value.map(rewritten), ...value.slice(0, 1)];
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, rewritten(child)]));
  if (typeof value === "string") return value.toUpperCase();
  return typeof value === "number" ? `${value}.0` : value;
}

describe("whatever the contract says", () => {
  const pair = fc.oneof(
    fc.tuple(rule, rule),
    rule.map((one): [JsonObject, Json] => [one, rewritten(one)]),
  );

  test("comparison is an equivalence relation, and equal as written is equal", () => {
    fc.assert(
      fc.property(pair, rule, options, ([a, b], c, given) => {
        expect(isEqual(a, structuredClone(a), given)).toBe(true);
        expect(isEqual(a, b, given)).toBe(isEqual(b, a, given));
        if (isEqual(a, b, given)) expect(isEqual(b, c, given)).toBe(isEqual(a, c, given));
        if (isEqual(a, b, asWritten)) expect(isEqual(a, b, given)).toBe(true);
        // The canonical form is JSON.
        JSON.parse(canonical(a, given));
      }),
    );
  });

  test("differences are none exactly between equal rules", () => {
    fc.assert(
      fc.property(pair, options, ([a, b], given) => {
        expect(differences(a, b, given).length === 0).toBe(isEqual(a, b, given));
      }),
    );
  });

  test("a projection is as declared exactly where it is so to the letter, and is stable", () => {
    fc.assert(
      fc.property(pair, options, ([live, declared], given) => {
        const seen = project(live, declared, given);
        const isAsDeclared = isEqual(seen, declared, given);
        if (isAsDeclared) expect(isEqual(seen, declared, asWritten)).toBe(true);
        if (isEqual(live, declared, given)) expect(isAsDeclared).toBe(true);
        // Where elements of an unordered array are missing, a second look may place the others otherwise.
        if (given.unordered.length === 0) expect(isEqual(project(seen, declared, given), seen, given)).toBe(true);
      }),
    );
  });
});

test("two values are equal exactly when their canonical texts are, whatever forms there are and wherever", () => {
  const leaf = fc.constantFrom<Json>(null, 0, 1, "1", "1.0", " a", "A", "a", "", true, "2026-01-01T00:00:00Z");
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "0"), tie("value"), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  const pointer = fc
    .array(fc.constantFrom("a", "b", "*", "*"), { minLength: 1, maxLength: 2 })
    .map((names) => `/${names.join("/")}`);
  const form = fc.record(
    {
      at: pointer,
      is: fc.constantFrom<FormName>("decimal", "dateTime", "trimmed", "lower", "upper", "distinct"),
      default: fc.oneof(leaf, fc.constant<Json>([]), fc.constant<Json>({ a: 1 })),
    },
    { requiredKeys: ["at"] },
  );
  const options = fc.record({
    unordered: fc.array(pointer, { maxLength: 2 }),
    forms: fc.array(form, { minLength: 1, maxLength: 5 }),
  });
  const other = fc.tuple(value, fc.array(fc.nat(7), { minLength: 1, maxLength: 8 })).map(([a, picks]) => {
    const next = picks.values();
    const pick = (): number => next.next().value ?? 0;
    return [a, respelled(a, pick)] as const;
  });
  const met = { equal: 0, written: 0 };
  fc.assert(
    fc.property(other, options, ([a, b], by) => {
      const isSame = canonical(a, by) === canonical(b, by);
      expect(isEqual(a, b, by)).toBe(isSame);
      if (isSame) met.equal += 1;
      if (isSame && !isEqual(a, b, asWritten)) met.written += 1;
    }),
    { numRuns: 5_000 },
  );
  expect(met.equal).toBeGreaterThan(100);
  expect(met.written).toBeGreaterThan(10);
});

/** A value with some of its parts written otherwise, in another order, twice, or left out. */
function respelled(value: Json, pick: () => number): Json {
  const how = pick();
  if (isJsonArray(value)) {
    const elements = value.map((element) => respelled(element, pick));
    return how === 1 ? elements.reverse() : how === 2 ? [...elements, ...elements] : elements;
  }
  if (isJsonObject(value)) {
    const fields = Object.entries(value).map(([name, each]): [string, Json] => [name, respelled(each, pick)]);
    return Object.fromEntries(how === 1 ? fields.reverse() : how === 2 ? fields.slice(1) : fields);
  }
  const spellings: readonly Json[][] = [
    [1, "1", "1.0"],
    ["a", " a", "A"],
    [0, "", null],
  ];
  const alike = spellings.find((each) => each.includes(value)) ?? [value];
  return alike[how] ?? value;
}
