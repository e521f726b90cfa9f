import { expect, test } from "vitest";
import { fittingForms } from "../../sdk/contract/fitting-forms.ts";
import { defineContract } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";

const contract = defineContract({
  version: 1,
  rule: { unordered: ["/set"], forms: [{ at: "/known", is: "lower" }] },
});
const nothing = { forms: [], unordered: [], missing: [], isPart: false };

test.each<[string, JsonObject, JsonObject, object]>([
  ["another value", { a: 1 }, { a: 2 }, { isPart: true }],
  ["another kind of value", { a: { b: 1 } }, { a: [1] }, { isPart: true }],
  ["what the contract says already", { known: "x" }, { known: "X" }, {}],
  [
    "a text that is trimmed and made small",
    { a: "x" },
    { a: " X" },
    { forms: [at("/a", "trimmed"), at("/a", "lower")] },
  ],
  ["capitals", { a: "X" }, { a: "x" }, { forms: [at("/a", "upper")] }],
  ["a letter of the two that is neither", { a: "Xx" }, { a: "xX" }, { forms: [at("/a", "upper")] }],
  [
    "the same in each element",
    { rows: [{ v: "1.0" }, { v: "2.0" }, { v: 3 }] },
    { rows: [{ v: 1 }, { v: 2 }, { v: 3 }] },
    { forms: [at("/rows/*/v", "decimal")] },
  ],
  ["a name that YAML reads otherwise", { "a: b": 1 }, { "a: b": "1" }, { forms: [at('"/a: b"', "decimal")] }],
  ["another order", { rows: [{ v: ["b", "a"] }] }, { rows: [{ v: ["a", "b"] }] }, { unordered: ["/rows/*/v"] }],
  ["fewer of what is there twice", { set: ["a"] }, { set: ["a", "a"] }, { forms: [at("/set", "distinct")] }],
  ["an element that is gone", { set: ["a"] }, { set: ["a", "b"] }, { isPart: true }],
  ["a field that is not there", { rows: [{}] }, { rows: [{ on: false }] }, { missing: ["rows[0].on"] }],
  ["a form beside a lost value", { a: "1", b: 1 }, { a: 1, b: 2 }, { forms: [at("/a", "decimal")], isPart: true }],
  [
    "a form that would hold for one element alone",
    { a: ["x", "y"] },
    { a: ["X", "z"] },
    { forms: [at("/a/*", "lower")], isPart: true },
  ],
])("of %s, what could be said in the contract", (_, live, definition, expected) => {
  expect(fittingForms(live, definition, contract)).toEqual({ ...nothing, ...expected });
});

function at(pointer: string, is: string): string {
  return `{ at: ${pointer}, is: ${is} }`;
}
