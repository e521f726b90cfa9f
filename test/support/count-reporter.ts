import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/** Set where several runs are one: each adds its counts to this file's. */
const sumFile = process.env.TEST_COUNTS;

/** Where the local engine is held against what the Pulumi CLI did. */
const conformance = { module: "test/conformance/", name: "of the local engine" };

/** Ends a run with one plain line that any script can read: `12 passed, 0 failed, 1 skipped`. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.state() === "failed" && [...module.children.allTests("failed")].length === 0) count.failed++;
      for (const test of module.children.allTests()) count[test.result().state]++;
    }
    count.failed += count.pending;
    const before = sumFile !== undefined && existsSync(sumFile) ? readFileSync(sumFile, "utf8") : "";
    for (const name of ["passed", "failed", "skipped"] as const)
      count[name] += Number(new RegExp(`(\\d+) ${name}`).exec(before)?.[1] ?? 0);
    const skipped = count.skipped === 0 ? "" : `, ${count.skipped} skipped`;
    const histories = modules
      .filter(({ moduleId }) => moduleId.includes(conformance.module))
      .flatMap((module) => [...module.children.allTests()])
      .filter((test) => test.fullName.includes(conformance.name) && test.result().state !== "skipped");
    const holding = histories.filter((test) => test.result().state === "passed").length;
    const line = `${count.passed} passed, ${count.failed} failed${skipped}\n`;
    if (sumFile !== undefined) writeFileSync(sumFile, line);
    const agree =
      histories.length === 0
        ? ""
        : `conformance: ${holding} of ${histories.length} histories end as with the Pulumi CLI\n`;
    process.on("exit", () => process.stdout.write(agree + line));
  }
}
