import { afterAll, describe, expect, test } from "vitest";
import type { Consumer } from "./consumer.ts";
import { consumers, quickest } from "./consumers.ts";
import { expectPassed, limitMs } from "./expect-passed.ts";
import type { StepResult } from "./run-consumer.ts";
import { tableOf, withRow } from "./table.ts";
import { Tools } from "./tools.ts";

const tools = new Tools();
afterAll(() => tools.remove());

test(
  `a project that installs the tarball (npm run test:all has more, npm run test:consumers all of them): ${quickest.name}`,
  () => expectPassed(quickest, tools),
  limitMs,
);

describe("the table of consumers", () => {
  test("has a row for each, and names what failed and what was skipped", () => {
    const [one, other] = consumers;
    if (one === undefined || other === undefined) throw new Error("no consumers");
    const result: StepResult = { consumer: one.name, step: "install", outcome: "passed", seconds: 3.2, note: "" };
    const results: StepResult[] = [
      result,
      { ...result, step: "up", outcome: "failed", note: "a long text" },
      { ...result, consumer: other.name, outcome: "skipped", note: "no Pulumi CLI" },
    ];
    expect(tableOf([one, other], results, true).split("\n").slice(2, -1)).toEqual([
      `| ${one.name} | npm | ${one.node} | local | ✓ 3 s |  | ✗ 3 s |  |  |  |`,
      `| ${other.name} | npm | ${other.node} | local | skipped |  |  |  |  |  |`,
    ]);
  });

  test("takes the row of one that ran again, and keeps the others in their order", () => {
    const [one, other] = consumers;
    if (one === undefined || other === undefined) throw new Error("no consumers");
    const rowOf = (consumer: Consumer, outcome: "passed" | "failed"): string =>
      tableOf([consumer], [{ consumer: consumer.name, step: "install", outcome, seconds: 1, note: "" }], false);
    const first = withRow("", consumers, rowOf(other, "failed"));
    const second = withRow(first, consumers, rowOf(one, "passed"));
    const third = withRow(second, consumers, rowOf(other, "passed"));
    expect(third.split("\n").map((line) => line.split(" | ")[0])).toEqual([
      "| project",
      "| ---",
      `| ${one.name}`,
      `| ${other.name}`,
      "",
    ]);
    expect(third.split("\n").map((line) => line.split(" | ")[4])).toEqual(["install", "---", "✓", "✓", undefined]);
  });

  test("tells every consumer apart by its name", () => {
    expect(new Set(consumers.map(({ name }) => name)).size).toBe(consumers.length);
  });
});
