import { expect, onTestFinished, test } from "vitest";
import { Reader, stepsOf } from "./follow.ts";
import { pageAt } from "./page.ts";

const page = pageAt("docs/simulation.md");
const [section = ""] = /^## In fifteen minutes\n.*?(?=^## )/ms.exec(page) ?? [];

test("the first part of docs/simulation.md leads word for word from an empty folder to the comment of a pull request", async () => {
  const steps = stepsOf(section, "local");
  expect(steps.map(({ kind }) => kind)).toEqual(["run", "run", "run", "run", "write", "edit", "run", "run"]);
  const reader = new Reader("local");
  onTestFinished(() => reader.leave());
  await reader.follow(steps);
  const comment = reader.read("comment.md");
  expect(comment).toMatch(/^<!-- merchant-rules plan: /);
  for (const value of ["1200.50", "12000"]) expect(comment).not.toContain(value);
});
