import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";

/** What rules such as `limit` mean. */
export const described = {
  version: 1,
  applies: {
    at: "/if",
    list: "all",
    without: "always",
    conditions: [{ field: "/f", operator: { at: "/is" }, value: "/v", valueList: "/list" }],
    operators: { over: "gt", in: "in", is: "eq" },
  },
  ignored: ["/note"],
  force: { clock: "now", until: { at: "/until", counts: false } },
  outcome: { at: "/do", words: { block: "decline", pass: "accept" } },
  wins: { by: "order", order: { at: "/priority", first: "highest", equal: "unknown" }, none: "accept" },
  payment: {
    fields: { amount: { at: "/amount", type: "decimal" }, country: { at: "/c", type: "text", ignoresCase: false } },
  },
  missing: "comparisonFalse",
  undecidedRule: "noMatch",
};

/** A file that is gone after the test. */
export function file(name: string, text: string): string {
  const path = join(newFolder(), name);
  writeFileSync(path, text);
  return path;
}

export function semanticsFile(more: object = {}): string {
  return file("rules.semantics.json", JSON.stringify({ ...described, ...more }));
}

/** Declines amounts over a number. */
export function limit(over: unknown, more: JsonObject = {}): Record<string, unknown> {
  return { do: "block", priority: 10, if: [{ f: "amount", is: "over", v: over }], ...more };
}
