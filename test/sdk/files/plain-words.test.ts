import { expect, test } from "vitest";
import { z } from "zod";
import { inPlainWords } from "../../../sdk/files/described-file.ts";

test("what a schema refuses is told in this package's words, and of several forms that of the one that is meant", () => {
  const pages = z.strictObject({ kind: z.literal("pages"), size: z.int().min(1) });
  const all = z.strictObject({ kind: z.literal("all") });
  const schema = z.strictObject({
    name: z.string(),
    day: z.iso.date(),
    step: z.number().multipleOf(5),
    list: z.union([all, pages]),
    own: z.string().refine(() => false, "allowed: none"),
  });
  const given = { name: 5, day: "x", step: 3, list: { kind: "pages", size: 0 }, own: "", odd: 1 };
  const told = inPlainWords(schema.safeParse(given).error ?? { issues: [] });
  expect(told.issues.map(({ path, message }) => `${path.join(".")}: ${message}`)).toEqual([
    "name: allowed: string",
    expect.stringMatching(/^day: allowed: a text of the form /),
    "step: allowed: a multiple of 5",
    "list.size: allowed: at least 1",
    "own: allowed: none",
    "odd: an unknown field",
  ]);
});
