import fc from "fast-check";
import { expect, expectTypeOf, test } from "vitest";
import { defined } from "../../../sdk/json/index.ts";

test("a field without a value is left out, whatever else is falsy stays, and the order of fields is kept", () => {
  const fields = fc.dictionary(fc.string(), fc.oneof(fc.constant(undefined), fc.falsy(), fc.string()));
  fc.assert(
    fc.property(fields, (of) => {
      const named = Object.entries(of).filter(([, value]) => value !== undefined);
      expect(Object.entries(defined(of))).toEqual(named);
    }),
  );
});

test("a field that may be undefined is optional to the compiler, and literals keep their types", () => {
  const port = [undefined, 80][0];
  const made = defined({ kind: "tcp", port });
  expectTypeOf(made).toExtend<{ kind: "tcp"; port?: number }>();
  expect(Object.keys(made)).toEqual(["kind"]);
});
