import { defineConfig } from "vitest/config";
import { poll } from "./vitest.all.config.ts";

/** Every cell of the fault matrix, and every point at which a run can be stopped; `npm test` runs a part of each. */
export default defineConfig({
  test: {
    include: ["test/promises/faults/**/*.test.ts", "test/promises/lifecycle/{each-request,killed}.test.ts"],
    env: { FAULT_MATRIX: "whole" },
    testTimeout: 1_800_000,
    hookTimeout: 120_000,
    expect: { poll },
    reporters: ["default", "./test/support/count-reporter.ts"],
  },
});
