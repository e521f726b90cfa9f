import { describe, expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { many } from "../../support/rules.ts";
import { openCommandStack } from "../../support/stack/commands.ts";

type Counts = Readonly<Record<string, number>>;

const total = 1000;
const page = 200;
const seed: ContractInput = { version: 1, operations: { delete: { identifyBy: { in: "query" } } } };

/** Looks at up to five others: at the first five ends of resources, and then at each power of two up to a thousand. */
const looksAtOthers = 5 * (5 + 7);

describe("a thousand rules on the local engine", () => {
  test.each<[string, ContractInput | undefined, { up: Counts; refresh: Counts; destroy: Counts }]>([
    [
      "with a list: passes for the first ends, then a GET of each rule that was written, and none of one that is gone by a pass",
      undefined,
      {
        up: { get: total + looksAtOthers, list: (2 * total) / 5 },
        refresh: { list: total / page },
        destroy: { get: total + looksAtOthers, list: (2 * total) / 5 },
      },
    ],
    [
      "without a list: a GET of each rule that was written or read, and of a few others",
      seed,
      {
        up: { get: total + 2 * looksAtOthers },
        refresh: { get: total },
        destroy: { get: total + 2 * looksAtOthers },
      },
    ],
  ])("%s", { timeout: 300_000 }, async (_name, contract, most) => {
    const { project, service, succeeds, counted } = await openCommandStack("local", contract && { contract });
    project.declare(Object.fromEntries(Object.entries(many(total)).map(([key, definition]) => [key, { definition }])));
    await succeeds("up");
    const { create, ...looks } = counted();
    expect(create).toBe(total);
    expectAtMost(looks, most.up);
    expect(service.rules()).toHaveLength(total);
    await succeeds("preview", "--expect-no-changes");
    expect(counted()).toEqual({});
    await succeeds("refresh", "--expect-no-changes");
    expect(counted()).toEqual(most.refresh);
    await succeeds("destroy");
    const { delete: deletes, ...looked } = counted();
    expect(deletes).toBe(total);
    expectAtMost(looked, most.destroy);
    expect(service.rules()).toEqual([]);
  });
});

function expectAtMost(counts: Counts, most: Counts): void {
  expect(Object.keys(counts).filter((operation) => !(operation in most))).toEqual([]);
  for (const [operation, count] of Object.entries(counts))
    expect(count, operation).toBeLessThanOrEqual(most[operation] ?? 0);
}
