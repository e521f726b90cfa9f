import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { copyExample } from "./copy.ts";

const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));

test("examples/unit-tests: its tests pass with vitest", async () => {
  const { code, output } = await copyExample("unit-tests").node([vitest, "run"]);
  expect(code, output).toBe(0);
  expect(output).toMatch(/Tests +7 passed/);
});

test("examples/unit-tests: its tests pass with Node's own runner", async () => {
  const words = ["--test", "--test-reporter", "tap", "test/program.node-test.ts"];
  const { code, output } = await copyExample("unit-tests").node(words);
  expect(code, output).toBe(0);
  expect(output).toContain("# pass 2");
});
