import { defineConfig } from "vitest/config";
import LongestFirst from "./test/support/longest-first.ts";
import { exhaustive, maxWorkers, poll } from "./vitest.all.config.ts";

/** Every behaviour once. */
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "sdk/**/*.test.ts", "provider/**/*.test.ts"],
    exclude: ["**/node_modules/**", "dist/**", ...exhaustive],
    maxWorkers,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll },
    reporters: ["default", "./test/support/count-reporter.ts"],
  },
});
