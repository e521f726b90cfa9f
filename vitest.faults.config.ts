import { defineConfig } from "vitest/config";
import LongestFirst from "./test/support/longest-first.ts";
import { maxWorkers, poll, putBack } from "./vitest.all.config.ts";

/**
 * Every cell of the fault matrix, every point at which a run can be stopped, and walks through the model of the protocol
 * (`MODEL_WALKS=500` is more of them); `npm run test:all` runs a part of each.
 * `npm run test:faults -- no-list` runs the cells of one contract.
 */
export default defineConfig({
  test: {
    include: ["test/promises/09-one-more-up-heals/{faults,model}/**/*.test.ts"],
    env: { FAULT_MATRIX: "whole" },
    setupFiles: "test/support/seed.ts",
    ...putBack,
    globalSetup: ["test/support/temporary.ts", "test/promises/09-one-more-up-heals/faults/report.ts"],
    maxWorkers,
    sequence: { sequencer: LongestFirst },
    // What is done is said while it runs, a line each.
    disableConsoleIntercept: true,
    testTimeout: 1_800_000,
    hookTimeout: 120_000,
    expect: { poll },
    reporters: ["default", "./test/support/count-reporter.ts"],
  },
});
