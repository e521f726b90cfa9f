import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/** Set where several runs are one: each adds its counts to this file's. */
const sumFile = process.env.TEST_COUNTS;

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
    const line = `${count.passed} passed, ${count.failed} failed${skipped}\n`;
    if (sumFile !== undefined) writeFileSync(sumFile, line);
    process.on("exit", () => process.stdout.write(line));
  }
}
