import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { startHost } from "../../support/stack/hooks.ts";
import { resource } from "../../support/stack/hosts.ts";
import { openStack } from "../../support/stack/place.ts";
import { serve } from "../../support/stack/service.ts";

/** Every change replaces its rule, and both stand in the state until the old one is deleted. */
const replacing = contractOf({ operations: { update: null, list: null }, rule: { naturalKey: null } });

/** Rules of some 4 KB each. */
function large(count: number, priority: number): Record<string, JsonObject> {
  const note = "n".repeat(4_000);
  return Object.fromEntries(Array.from({ length: count }, (_, k) => [`r${k}`, rule(k, { priority, note })]));
}

describe("check", () => {
  test.each([
    [
      "refuses a change that replaces so many rules that a failed run could not report old and new ones",
      replacing,
      true,
    ],
    ["lets the same change pass where rules are changed in place", contractOf(), false],
  ])("%s", async (_, contract, isRefused) => {
    const served = await serve(contract);
    const host = await startHost(served.environment, "merchantRuleSet");
    const [before, after] = [1, 2].map((priority) => resource("all", { rules: large(2_000, priority) }));
    expect((await host.check(before ?? {})).failures).toEqual([]);
    const { failures } = await host.check(after ?? {}, before);
    expect(failures.map(({ reason }) => reason)).toEqual(
      isRefused ? [expect.stringMatching(/too large for one set.*Declare them as 4 sets$/)] : [],
    );
  });
});

onBothEngines((engine) => {
  test("replacements whose deletes all fail lose no id, at the largest set that is let pass", async () => {
    const { place, stack } = await openStack(engine, { contract: replacing });
    await stack.up({ all: { rules: large(1_250, 1) } });
    place.service.faults.set({ kind: "status", status: 422, operations: ["delete"], times: "always" });
    await stack.upFails({ all: { rules: large(1_250, 2) } }, {}, /1250 of 1250 rules failed/);
    expect(place.service.rules()).toHaveLength(2_500);
    place.service.faults.clear();
    await stack.succeeds("up");
    const left = place.service.rules();
    expect(left).toHaveLength(1_250);
    expect(new Set(left.map(({ rule: { priority } }) => priority))).toEqual(new Set([2]));
    await stack.isUnchanged();
  }, 300_000);
});
