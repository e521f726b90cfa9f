import { globSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import LongestFirst from "./test/support/longest-first.ts";
import { files, maxWorkers, poll, putBack, slow } from "./vitest.all.config.ts";

/** What puts another module into the place of one needs a process of its own: others would get that module, too. */
const replacing = globSync(files).filter((file) =>
  /\bvi\.(mock|doMock|resetModules)\(/.test(readFileSync(file, "utf8")),
);

/** Every behaviour once. */
export default defineConfig({
  test: {
    // These files wait for processes even more than those of `npm run test:all`.
    maxWorkers: maxWorkers + 1,
    globalSetup: "test/support/temporary.ts",
    setupFiles: "test/support/seed.ts",
    ...putBack,
    sequence: { sequencer: LongestFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll },
    reporters: ["default", "./test/support/count-reporter.ts"],
    projects: [
      {
        extends: true,
        // One process runs many files: to load the Pulumi SDK anew for each took a fifth of the whole time.
        test: {
          name: "many in a process",
          include: [files],
          exclude: ["**/node_modules/**", slow, ...replacing],
          isolate: false,
        },
      },
      { extends: true, test: { name: "one in a process", include: replacing, exclude: [slow] } },
    ],
  },
});
