import type { Reporter, TestModule } from "vitest/node";

/** Ends a run with one plain line that any script can read: `12 passed, 0 failed, 1 skipped`. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.state() === "failed" && [...module.children.allTests("failed")].length === 0) count.failed++;
      for (const test of module.children.allTests()) count[test.result().state]++;
    }
    const failed = count.failed + count.pending;
    const skipped = count.skipped === 0 ? "" : `, ${count.skipped} skipped`;
    process.on("exit", () => process.stdout.write(`${count.passed} passed, ${failed} failed${skipped}\n`));
  }
}
