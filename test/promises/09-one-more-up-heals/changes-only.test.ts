import { describe, expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf, update } from "../../support/stack/contracts.ts";
import { HookStack, openWorld } from "../../support/stack/hooks.ts";
import { ownedBy } from "../../support/stack/hosts.ts";

const owner = { at: "/metadata/managedBy" } as const;

describe("an update that sends only what changed", () => {
  test.each([
    ["PATCH", "a rule", "merchantRule", undefined],
    ["PUT", "a rule", "merchantRule", undefined],
    ["PATCH", "a set", "merchantRuleSet", undefined],
    ["PATCH", "a rule with a mark", "merchantRule", owner],
  ] as const)(
    "by %s and loses its answer is not sent again by the next run: %s",
    async (method, _what, hooks, mark) => {
      const contract = contractOf({
        operations: { update: { ...update, method, body: "changes" } },
        rule: { owner: mark ?? null },
      });
      const world = await openWorld({ contract });
      const stack = new HookStack(world, hooks);
      const inputs = (priority: number) => ({
        ...(hooks === "merchantRule" ? { definition: rule(1, { priority }) } : { rules: { a: rule(1, { priority }) } }),
        ...ownedBy("shop/test/a"),
      });
      expect(await stack.up({ a: inputs(1) })).toEqual([]);
      // All attempts of this run lose their answers.
      world.service.faults.set({ kind: "close", at: "after", operations: ["update"], times: "always" });
      const failures = await stack.up({ a: inputs(9) });
      expect(world.service.rules()[0]?.rule.priority).toBe(9);
      world.service.resetRequests();
      // An empty change would be refused.
      world.service.faults.set({ kind: "status", status: 422, operations: ["update"], times: "always" });
      expect(await stack.up({ a: inputs(9) })).toEqual([]);
      expect(world.service.requestCount("update")).toBe(0);
      expect(failures.length).toBeLessThanOrEqual(1);
      world.service.resetRequests();
      expect(await stack.up({ a: inputs(9) })).toEqual([]);
      expect(world.service.requests).toEqual([]);
    },
  );
});
