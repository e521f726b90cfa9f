import { expect, test } from "vitest";
import { many } from "../../support/rules.ts";
import { contractOf, list } from "../../support/stack/contracts.ts";
import { openStack } from "../../support/stack/place.ts";

test("creates whose answers are all lost wait for the list's lag side by side, not one after the other", async () => {
  const lagMs = 1000;
  const contract = contractOf({ operations: { list: { ...list, lagMs } }, limits: { concurrency: 4 } });
  const { place, stack } = await openStack("local", { contract });
  place.front.behave(async ({ method }, pass) => {
    const answer = await pass();
    return method === "POST" ? { status: 504, body: {} } : answer;
  });
  const rules = many(40);
  const began = performance.now();
  await stack.up({ all: { rules } });
  expect(place.service.rules()).toHaveLength(40);
  // One after the other, 4 at once, they would take ten times the lag.
  expect(performance.now() - began).toBeLessThan(5 * lagMs);
}, 120_000);
