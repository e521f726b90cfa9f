import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/** Set where several runs are one: each adds its counts and its failures to this file's. */
const sumFile = process.env.TEST_COUNTS;

/** Where the local engine is held against what the Pulumi CLI did. */
const conformance = { module: "test/local/conformance/", name: "of the local engine" };

interface Sum {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The failures, a line each. */
  readonly failures: readonly string[];
}

/**
 * Ends a run with what failed, a line each, and one plain line that any script can read: `12 passed, 0 failed, 1 skipped`.
 * Of several runs that are one, the last says it of all: a log is often seen from its end.
 */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly { message?: string }[]): void {
    const before: Sum =
      sumFile !== undefined && existsSync(sumFile) && readFileSync(sumFile, "utf8") !== ""
        ? JSON.parse(readFileSync(sumFile, "utf8"))
        : { passed: 0, failed: 0, skipped: 0, failures: [] };
    const sum = added(before, sumOf(modules, unhandledErrors));
    if (sumFile !== undefined) writeFileSync(sumFile, JSON.stringify(sum));
    const lines = [...agreement(modules), ...sum.failures.map((failure) => `failed: ${failure}`), textOf(sum)];
    process.on("exit", () => process.stdout.write(lines.map((line) => `${line}\n`).join("")));
  }
}

function sumOf(modules: readonly TestModule[], unhandledErrors: readonly { message?: string }[]): Sum {
  const tests = modules.flatMap((module) => [...module.children.allTests()].map((test) => ({ module, test })));
  const inState = (state: string) => tests.filter(({ test }) => test.result().state === state);
  const failures = [
    ...[...inState("failed"), ...inState("pending")].map(
      ({ module, test }) => `${module.relativeModuleId} > ${test.fullName}: ${reasonOf(test.result().errors)}`,
    ),
    ...modules
      .filter((module) => module.state() === "failed" && [...module.children.allTests("failed")].length === 0)
      .map((module) => `${module.relativeModuleId}: ${reasonOf(module.errors())}`),
    ...unhandledErrors.map((error) => `outside of any test: ${reasonOf([error])}`),
  ];
  return {
    passed: inState("passed").length,
    failed: failures.length,
    skipped: inState("skipped").length,
    failures,
  };
}

function reasonOf(errors: readonly { message?: string }[] | undefined): string {
  return errors?.[0]?.message?.split("\n")[0] ?? "it did not end";
}

function added(a: Sum, b: Sum): Sum {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
    failures: [...a.failures, ...b.failures],
  };
}

function textOf({ passed, failed, skipped }: Sum): string {
  return `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

function agreement(modules: readonly TestModule[]): string[] {
  const histories = modules
    .filter(({ moduleId }) => moduleId.includes(conformance.module))
    .flatMap((module) => [...module.children.allTests()])
    .filter((test) => test.fullName.includes(conformance.name) && test.result().state !== "skipped");
  if (histories.length === 0) return [];
  const holding = histories.filter((test) => test.result().state === "passed").length;
  return [`conformance: ${holding} of ${histories.length} histories end as with the Pulumi CLI`];
}
