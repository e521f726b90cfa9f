import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  asWritten,
  differences,
  isEqual,
  isJsonObject,
  type Json,
  type JsonObject,
  project,
  valueAt,
} from "../../../sdk/json/index.ts";

const options = { ...asWritten, unordered: ["/conditions"] };

function condition(index: number): JsonObject {
  return { field: `f${index}`, operator: index % 2 === 0 ? "eq" : "in", value: [index, "x"], note: null };
}

function withServerField(element: Json): Json {
  return isJsonObject(element) ? { ...element, updatedAt: "2026-01-01" } : element;
}

const declarations: [string, (index: number) => Json][] = [
  ["objects that all differ", condition],
  ["objects that are all the same", () => condition(0)],
  ["objects that differ deep inside", (index) => ({ kind: "any", of: [{ match: { country: `c${index}` } }] })],
  ["objects that many fields together tell apart", (index) => ({ a: index % 10, b: index % 9, c: index % 7 })],
  ["texts", (index) => `tag ${index}`],
  ["texts that are all the same", () => "tag"],
];

const services: [string, (declared: readonly Json[]) => readonly Json[]][] = [
  ["in another order, with fields that the service added", (declared) => declared.map(withServerField).reverse()],
  [
    "with none of them as declared",
    (declared) => declared.map((_, index) => ({ ...condition(index), field: "other" })),
  ],
  ["with half of them gone", (declared) => declared.filter((_, index) => index % 2 === 0).reverse()],
  [
    "with a broad one for each narrow one",
    (declared) => declared.flatMap((element) => [element, withServerField(element)]),
  ],
];

const cases = declarations.flatMap(([elements, make]) =>
  services.map(([change, answer]) => [elements, change, make, answer] as const),
);

function compare(declared: Json, live: Json): void {
  const seen = project(live, declared, options);
  differences(declared, seen, options);
  isEqual(declared, live, options);
}

/** A value that counts how often something in it is read. */
function counted(value: Json, count: () => void): Json {
  if (typeof value !== "object" || value === null) return value;
  const children = Array.isArray(value)
    ? value.map((child: Json) => counted(child, count))
    : Object.fromEntries(Object.entries(value).map(([key, child]: [string, Json]) => [key, counted(child, count)]));
  return new Proxy(children, {
    get: (target, key, receiver) => {
      count();
      return Reflect.get(target, key, receiver);
    },
  });
}

describe("an unordered array", () => {
  test.each(cases)(
    "of %s, %s, is read about ten times as often when it is ten times as long",
    (_, __, make, answer) => {
      const reads = (length: number): number => {
        let total = 0;
        const declared = Array.from({ length }, (_, index) => make(index));
        const count = (): void => {
          total += 1;
        };
        compare({ conditions: counted(declared, count) }, { conditions: counted(answer(declared), count) });
        return total;
      };
      expect(reads(1000)).toBeLessThan(20 * reads(100));
    },
  );

  test("has as many elements where they are declared as can be there", () => {
    const few = fc.constantFrom<Json>(1, 2, null);
    const list = fc.array(few, { maxLength: 2 });
    const element = fc.oneof(
      few,
      fc.record({ a: few, b: few, tags: list }, { requiredKeys: [], noNullPrototype: true }),
    );
    const elements = fc.array(element, { maxLength: 5 });
    const nested = { ...asWritten, unordered: ["/*", "/*/*/tags"] };
    fc.assert(
      fc.property(elements, elements, (declared, found) => {
        // Where elements are missing, those after them move up.
        const live = [...found, ...declared.map(() => "other")];
        const isAsDeclared = (seen: Json | undefined, wanted: Json): boolean =>
          seen !== undefined && isEqual({ x: [seen] }, { x: [wanted] }, nested);
        const satisfies = (at: number, wanted: Json): boolean =>
          isAsDeclared(valueAt(project({ x: [live[at] ?? null] }, { x: [wanted] }, nested), "/x/0"), wanted);
        const most = ([wanted, ...rest]: readonly Json[], free: readonly number[]): number =>
          wanted === undefined
            ? 0
            : Math.max(
                most(rest, free),
                ...free
                  .filter((at) => satisfies(at, wanted))
                  .map((at) => 1 + most(rest, free.toSpliced(free.indexOf(at), 1))),
              );
        const seen = project({ x: live }, { x: declared }, nested);
        const placed = declared.filter((wanted, index) => isAsDeclared(valueAt(seen, `/x/${index}`), wanted));
        expect(placed).toHaveLength(most(declared, [...live.keys()]));
      }),
    );
  });

  test("is compared element by element where a pattern names one by its number", () => {
    const numbered = { ...asWritten, unordered: ["/x", "/x/0/tags"] };
    const declared = { x: [{ tags: [1, 2] }, { tags: [1, 2] }] };
    const live = { x: [{ tags: [1, 2] }, { tags: [2, 1] }] };
    expect(project(live, declared, numbered)).toEqual(declared);
  });
});
