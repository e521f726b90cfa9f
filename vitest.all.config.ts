import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import LongestFirst from "./test/support/longest-first.ts";

/**
 * What `npm test` leaves to `npm run test:all`: the same behaviours at many more points, at full size, or once more by
 * whole runs, as the pages and the examples have them.
 */
export const exhaustive = [
  "test/promises/faults/**/*.test.ts",
  "test/local/conformance/conformance.test.ts",
  "test/local/engine/{as-the-real-one,cli,explicit-providers,failure,full-disk,messages,pending-creates,policy,policy-pack,state}.test.ts",
  "test/package/{consumers/strict,init}.test.ts",
  "test/cli/{decide,doctor-of-stack,pull-runs,simulate}.test.ts",
  "test/docs/{getting-started,guides,moving,simulation,site}.test.ts",
  "test/examples/{ci,policy,programs,several-merchants}.test.ts",
  "test/promises/creates/{chosen-ids,deleted-a-moment-ago,ids-given-again,listed-and-gone}.test.ts",
  "test/promises/doubt/{added-field,fields-of-lost-writes,lagging-list,lost-delete,one-witness,unread-write}.test.ts",
  "test/promises/fuzz/command.test.ts",
  "test/promises/lifecycle/*.test.ts",
  "test/promises/{first-update-foreign,found-by-histories,large-replacements,take-over}.test.ts",
  "test/promises/leftovers-{heard-later,unread}.test.ts",
  "test/promises/load/**/*.test.ts",
  "test/promises/{one-stack,other-merchant,same-names}.test.ts",
  "test/promises/presets/every-engine.test.ts",
  "test/policy/by-meaning.test.ts",
  "test/promises/probe/{all-contracts,safety}.test.ts",
  "test/real/*.test.ts",
  "test/meaning/sql/spark.test.ts",
  "test/local/quickstart/{keep,story}.test.ts",
  "test/promises/secrets/product.test.ts",
  "test/local/testing/guide.test.ts",
];

/** Run in both, by `npm run test:all` for much longer and from another seed. */
const fuzzed = [
  "test/promises/fuzz/{answers,contract,rule-files,state}.test.ts",
  "test/provider/{identity,set,stack}-property.test.ts",
  "test/report/plan-property.test.ts",
  "test/meaning/property.test.ts",
];

/** Run in both: by `npm test` with the hooks in one process, by `npm run test:all` in Pulumi's provider host. */
const hosted = [
  "test/promises/{owners,worlds}/*.test.ts",
  "test/provider/{hooks,set-hooks,holding}.test.ts",
  "test/promises/guards/*.test.ts",
];

/** Run in both, by `npm run test:all` in all their variants. */
const varied = globSync("test/**/*.test.ts").filter((file) =>
  readFileSync(file, "utf8").includes("support/variants.ts"),
);

/** Most tests wait for processes that they started, so one file more runs at once than there are cores. */
export const maxWorkers = availableParallelism() + 1;

/** A machine under load needs seconds for what else takes milliseconds: `expect.poll` waits as long as this. */
export const poll = { timeout: 60_000 };

export default defineConfig({
  test: {
    include: [...exhaustive, ...hosted, ...fuzzed, ...varied],
    env: {
      TEST_HOOKS: "host",
      TEST_VARIANTS: "all",
      FUZZ_RUNS: process.env.FUZZ_RUNS ?? "25",
      FUZZ_SEED: process.env.FUZZ_SEED ?? "20261122",
    },
    setupFiles: "test/support/seed.ts",
    globalSetup: "test/promises/faults/report.ts",
    maxWorkers,
    sequence: { sequencer: LongestFirst },
    testTimeout: 600_000,
    hookTimeout: 120_000,
    expect: { poll },
    reporters: ["default", "./test/support/count-reporter.ts"],
  },
});
