import { expect } from "vitest";
import type { Consumer } from "./consumer.ts";
import { runConsumer } from "./run-consumer.ts";
import type { Tools } from "./tools.ts";

/** A slow registry, or a machine with much else to do, needs minutes for what else takes seconds. */
export const limitMs = 900_000;

/** Installs a consumer from the tarballs, and expects that it takes all of its steps. */
export async function expectPassed(consumer: Consumer, tools: Tools): Promise<void> {
  const results = await runConsumer(consumer, tools, () => undefined);
  expect(results.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
  expect(results.map(({ step }) => step)).toEqual(["install", ...consumer.steps]);
}
