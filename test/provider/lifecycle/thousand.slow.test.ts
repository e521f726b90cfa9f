import { afterEach, describe, expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { rule } from "../../support/rules.ts";
import { TestProject } from "../../support/stack/project.ts";
import { type Served, serve } from "../../support/stack/service.ts";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const total = 1000;
const page = 200;
const seed: ContractInput = { version: 1, operations: { delete: { identifyBy: { in: "query" } } } };

function counted({ service }: Served): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { operation } of service.requests) counts[operation] = (counts[operation] ?? 0) + 1;
  service.resetRequests();
  return counts;
}

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
    const served = await serve(contract);
    opened.push(() => served.close());
    const project = new TestProject(served.environment);
    opened.push(() => project.remove());
    project.declare(Object.fromEntries(Array.from({ length: total }, (_, k) => [`r${k}`, { definition: rule(k) }])));
    const succeeds = async (verb: string, ...flags: string[]): Promise<void> => {
      const { code, output } = await project.run("local", verb, ...flags);
      expect(code, output.slice(-2000)).toBe(0);
    };

    const beganAt = performance.now();
    await succeeds("up");
    const readings = Math.floor((performance.now() - beganAt) / 10_000);
    const { create: creates, list: pages = 0, ...others } = counted(served);
    expect([creates, others]).toEqual([total, {}]);
    expect(pages).toBeGreaterThanOrEqual(lookUps);
    expect(pages).toBeLessThanOrEqual(lookUps * (1 + (readings * total) / page));
    expect(served.service.rules()).toHaveLength(total);
    await succeeds("preview", "--expect-no-changes");
    expect(counted(served)).toEqual({});
    await succeeds("refresh", "--expect-no-changes");
    expect(counted(served)).toEqual(reads);
    await succeeds("destroy");
    const { delete: deletes, ...looked } = counted(served);
    expect(deletes).toBe(total);
    expect(Object.keys(looked)).toEqual(Object.keys(looks));
    for (const [operation, most] of Object.entries(looks)) expect(looked[operation]).toBeLessThanOrEqual(most);
    expect(served.service.rules()).toEqual([]);
  });
});
