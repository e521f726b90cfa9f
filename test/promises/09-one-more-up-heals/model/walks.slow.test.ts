import { expect, test, vi } from "vitest";
import { scenarios } from "./scenarios.ts";
import { randomOf, walk } from "./walk.ts";
import { contracts, type Means, nameOf } from "./world.ts";

/** No verdict hangs on how long the hooks wait, so that here all waits are shorter. */
vi.mock("node:timers/promises", async (importOriginal) => {
  const timers = await importOriginal<typeof import("node:timers/promises")>();
  const sleep: typeof timers.setTimeout = (ms = 0, ...rest) => timers.setTimeout(ms / 20, ...rest);
  return { ...timers, setTimeout: sleep, default: { ...timers, setTimeout: sleep } };
});

/** Walks for each contract: MODEL_WALKS says how many, MODEL_SEED others; MODEL_SCENARIO names one scenario. */
const isWhole = process.env.FAULT_MATRIX === "whole";
const walks = Number(process.env.MODEL_WALKS ?? (isWhole ? "60" : "3"));
const seed = Number(process.env.MODEL_SEED ?? "1");
const only = process.env.MODEL_SCENARIO;

/** The scenarios of a contract. */
function namesOf({ ids, marks, identity }: Means): string[] {
  const isShort = ids === "short" || ids === "again";
  const names = Object.entries(scenarios).filter(([, { isOfShortIds, acts }]) => {
    const isToLearn = (marks && acts.includes("learn marks")) || (identity && acts.includes("learn the identity"));
    return (isShort || !isOfShortIds) && (isToLearn || !acts.some((act) => String(act).startsWith("learn")));
  });
  return names.flatMap(([name]) => (only === undefined || name === only ? [name] : []));
}

vi.setConfig({ maxConcurrency: 4 });
const limits = new Map<string, number>();

test.concurrent.each(contracts.map((means, at) => [nameOf(means), means, at] as const))(
  "whatever happens to a stack, its rules stay its own, and there is a way out: contract %s",
  async (name, means, at) => {
    const failures: string[] = [];
    const names = namesOf(means);
    let runs = 0;
    for (let turn = 0; turn < walks; turn += 1) {
      const number = seed * 100_000 + at * 1000 + turn;
      const scenario = names[(at * 7 + turn + seed) % names.length];
      if (scenario === undefined) continue;
      const walked = await walk(means, scenario, randomOf(number), 8);
      runs += walked.runs;
      failures.push(...walked.failures);
      for (const limit of walked.limits) limits.set(limit, (limits.get(limit) ?? 0) + 1);
    }
    console.log(`${name}: ${walks} walks, ${runs} runs, ${failures.length} failed`);
    expect(failures.join("\n\n")).toBe("");
  },
);

test("the known limits that were met are named", () => {
  console.log([...limits].map(([limit, times]) => `${times} × ${limit}`).join("\n"));
});
