import { expect, test } from "vitest";
import { failOnIn, struck } from "../../report/model/fail-on.ts";
import { kindsOf } from "../../report/model/kinds.ts";
import { type Report, reportOf } from "../../report/model/report.ts";

const finding = (change: "delete" | "update", name: string) => ({ change, name, paths: [] });

const plan: Report = reportOf({
  report: "plan",
  subject: "stack prod",
  rules: 200,
  unchanged: 197,
  findings: [finding("delete", "a"), finding("update", "b"), finding("update", "c")],
  simulation: {
    sha256: "0",
    payments: 1000,
    badLines: 0,
    flipped: 13,
    matrix: [
      { before: "accept", after: "accept", payments: 987, sums: {} },
      { before: "accept", after: "decline", payments: 10, sums: {} },
      { before: "review", after: "decline", payments: 3, sums: {} },
    ],
  },
});

const said = (...conditions: string[]): string[] =>
  struck(
    conditions.flatMap((each) => failOnIn(each, kindsOf.plan) ?? []),
    plan,
  );

test.each([
  ["delete", ["delete: 1 of 200 (0.50 %)"]],
  ["update>2", []],
  ["update>1", ["update>1: 2 of 200 (1.00 %)"]],
  ["update>1%", []],
  ["any>1%", ["any>1%: 3 of 200 (1.50 %)"]],
  ["create", []],
  ["flips", ["flips: 13 of 1000 (1.30 %)"]],
  ["flips>1.3%", []],
  ["flips>1.2%", ["flips>1.2%: 13 of 1000 (1.30 %)"]],
  ["accept->decline>10", []],
  ["accept->decline", ["accept->decline: 10 of 1000 (1.00 %)"]],
  ["*->decline>12", ["*->decline>12: 13 of 1000 (1.30 %)"]],
  ["review->*", ["review->*: 3 of 1000 (0.30 %)"]],
  ["accept->review", []],
])("%s strikes as it says", (condition, strikes) => {
  expect(failOnIn(condition, kindsOf.plan)).toBeDefined();
  expect(said(condition)).toEqual(strikes);
});

test.each(["", "deletes", "missing", "delete>", "delete>x", "flips>1 %", "->decline", "accept->", "delete<3"])(
  "%s is no condition",
  (condition) => {
    expect(failOnIn(condition, kindsOf.plan)).toBeUndefined();
  },
);
