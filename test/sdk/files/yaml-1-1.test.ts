import { expect, test } from "vitest";
import { parse } from "yaml";
import { ruleFile } from "../../../cli/export/rule-file.ts";
import { editedRuleText } from "../../../sdk/files/edit-rule-text.ts";

const texts = [
  "NO",
  "on",
  "y",
  "~",
  "null",
  "12:30",
  "1_000",
  "0777",
  "0x1F",
  "1e3",
  ".5",
  "=",
  "2026-01-01",
  "10.0.0.1",
];
const rule = { texts, no: "off", "#a": { "(b": 1, "c #d": "yes" }, "e(f)": 2 };

test("what export writes and pull changes is the same to readers of YAML 1.1 and 1.2, also under keys with # and (", () => {
  const written = ruleFile(rule, undefined);
  const before = { "#a": { "(b": 1 }, "k#": "NO" };
  const after = { ...before, ...rule };
  const edited = editedRuleText(`'#a': {(b: 1}\nk#: 'NO' # a country\n`, before, after, false) ?? "";
  for (const version of ["1.1", "1.2"] as const) {
    expect(parse(written, { version })).toEqual(rule);
    expect(parse(edited, { version })).toEqual(after);
  }
  expect(edited).toContain("# a country");
  expect(written).toContain("10.0.0.1\n");
});
