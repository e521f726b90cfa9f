import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import LongestFirst from "./test/support/longest-first.ts";

/** All tests. */
export const files = "test/**/*.test.ts";

/**
 * What `npm test` leaves to `npm run test:all`: the same behaviours at many more points, at full size, or once more by
 * whole runs, as the pages and the examples have them.
 */
export const slow = "test/**/*.slow.test.ts";

/**
 * Run in both. `npm run test:all` tries properties for much longer and from another seed, calls the hooks in Pulumi's
 * provider host in place of the test's own process, and takes all variants.
 */
const inBoth = globSync(files).filter(
  (file) =>
    file.endsWith(".property.test.ts") ||
    /support\/(variants|stack\/(hooks|place))\.ts/.test(readFileSync(file, "utf8")),
);

/** Most tests wait for processes that they started, so one file more runs at once than there are cores. */
export const maxWorkers = availableParallelism() + 1;

/** A machine under load needs seconds for what else takes milliseconds: `expect.poll` waits as long as this. */
export const poll = { timeout: 60_000 };

/** What a test changes of its process is put back before the next one, and at the end of the file: see test/support/seed.ts. */
export const putBack = { restoreMocks: true, unstubEnvs: true, unstubGlobals: true } as const;

export default defineConfig({
  test: {
    include: [slow, ...inBoth],
    env: {
      TEST_HOOKS: "host",
      TEST_VARIANTS: "all",
      FUZZ_RUNS: process.env.FUZZ_RUNS ?? "25",
      FUZZ_SEED: process.env.FUZZ_SEED ?? "20261122",
    },
    setupFiles: "test/support/seed.ts",
    ...putBack,
    globalSetup: ["test/support/temporary.ts", "test/promises/09-one-more-up-heals/faults/report.ts"],
    maxWorkers,
    sequence: { sequencer: LongestFirst },
    testTimeout: 600_000,
    hookTimeout: 120_000,
    expect: { poll },
    reporters: ["default", "./test/support/count-reporter.ts"],
  },
});
