import { describe, expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { many } from "../../support/rules.ts";
import { openCommandStack } from "../../support/stack/commands.ts";

const total = 1000;
const page = 200;
const seed: ContractInput = { version: 1, operations: { delete: { identifyBy: { in: "query" } } } };

describe("a thousand rules on the local engine", () => {
  test.each<[string, ContractInput | undefined, number, Record<string, number>, Record<string, number>]>([
    [
      "with a list: one page to look (and a reading each ten seconds), N creates, ⌈N/page⌉ reads, N deletes between two readings of the list",
      undefined,
      1,
      { list: total / page },
      { list: (2 * total) / page },
    ],
    // A witness and another rule (which may be the same) before the first delete; after it the rule itself, and the
    // other one twice.
    ["without a list: N creates, N reads, N deletes and at most five looks", seed, 0, { get: total }, { get: 5 }],
  ])("%s", { timeout: 300_000 }, async (_name, contract, lookUps, reads, looks) => {
    const { project, service, succeeds, counted } = await openCommandStack("local", contract && { contract });
    project.declare(Object.fromEntries(Object.entries(many(total)).map(([key, definition]) => [key, { definition }])));
    const beganAt = performance.now();
    await succeeds("up");
    const readings = Math.floor((performance.now() - beganAt) / 10_000);
    const { create: creates, list: pages = 0, ...others } = counted();
    expect([creates, others]).toEqual([total, {}]);
    expect(pages).toBeGreaterThanOrEqual(lookUps);
    expect(pages).toBeLessThanOrEqual(lookUps * (1 + (readings * total) / page));
    expect(service.rules()).toHaveLength(total);
    await succeeds("preview", "--expect-no-changes");
    expect(counted()).toEqual({});
    await succeeds("refresh", "--expect-no-changes");
    expect(counted()).toEqual(reads);
    await succeeds("destroy");
    const { delete: deletes, ...looked } = counted();
    expect(deletes).toBe(total);
    expect(Object.keys(looked)).toEqual(Object.keys(looks));
    for (const [operation, most] of Object.entries(looks)) expect(looked[operation]).toBeLessThanOrEqual(most);
    expect(service.rules()).toEqual([]);
  });
});
