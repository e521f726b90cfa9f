import { defineConfig } from "vitest/config";
import LongestFirst from "./test/support/longest-first.ts";
import { exhaustive, maxWorkers } from "./vitest.all.config.ts";

/** Every behaviour, in at most five minutes on two cores. */
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "sdk/**/*.test.ts", "provider/**/*.test.ts"],
    exclude: ["**/node_modules/**", "dist/**", ...exhaustive],
    maxWorkers,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ["default", "./test/support/count-reporter.ts"],
  },
});
