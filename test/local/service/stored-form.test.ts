import fc from "fast-check";
import { expect, test } from "vitest";
import { inStoredForm } from "../../../local/service/stored-form.ts";
import { asWritten, isEqual, type Json } from "../../../sdk/json/index.ts";
import type { FormName } from "../../../sdk/json/normal-form.ts";

test.each<[FormName, Json, Json]>([
  ["decimal", 10, "10.00"],
  ["decimal", -1.5, "-1.50"],
  ["decimal", "0.015", "0.015"],
  ["decimal", "12.3450", "12.345"],
  ["decimal", 1e21, "1000000000000000000000.00"],
  ["decimal", 1e-7, "0.0000001"],
  ["decimal", -0, "0.00"],
  ["decimal", "1e400", "1e400"],
  ["decimal", "ten", "ten"],
  ["dateTime", "2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00.000Z"],
  ["dateTime", "2026-01-01T00:00:00.1234567Z", "2026-01-01T00:00:00.1234567Z"],
  ["dateTime", "2026-01-01", "2026-01-01"],
  ["trimmed", " a ", "a"],
  ["upper", "a", "A"],
  ["distinct", [1, 2, 1.0, "1"], [1, 2, "1"]],
])("the local service stores, as %s, %j as %j", (is, sent, stored) => {
  const by = { ...asWritten, forms: [{ at: "/x", is }] };
  expect(inStoredForm({ x: sent, y: sent }, by)).toEqual({ x: stored, y: sent });
});

test("what the local service stores is equal to what it was sent, and stays as it is", () => {
  const value = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(" a", "A", true, null));
  const row = fc.record({ amount: value, name: value, on: value }, { requiredKeys: [], noNullPrototype: true });
  const by = {
    unordered: ["/rows"],
    forms: [
      { at: "/rows/*/amount", is: "decimal" },
      { at: "/rows/*/name", is: "lower" },
      { at: "/rows/*/name", is: "trimmed" },
      { at: "/rows/*/on", default: true },
      { at: "/rows", is: "distinct" },
    ] as const,
  };
  fc.assert(
    fc.property(fc.array(row), (rows) => {
      const sent = { rows: [...rows, ...rows] };
      const stored = inStoredForm(sent, by);
      expect(isEqual(stored, sent, by)).toBe(true);
      expect(inStoredForm(stored, by)).toEqual(stored);
    }),
  );
});
