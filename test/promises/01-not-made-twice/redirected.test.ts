import { expect, test } from "vitest";
import { many, rule } from "../../support/rules.ts";
import { contractOf, list } from "../../support/stack/contracts.ts";
import { HookStack, openWorld } from "../../support/stack/hooks.ts";

const knownLag = contractOf();
const unknownLag = contractOf({ operations: { list: { ...list, lagMs: null } } });

test.each([
  [301, knownLag],
  [302, knownLag],
  [303, knownLag],
  [302, unknownLag],
  [303, unknownLag],
] as const)(
  "three runs leave one rule where a create that was carried out is answered %i",
  async (status, contract) => {
    const world = await openWorld({ contract, allowDuplicates: true });
    world.service.faults.set({ kind: "redirect", at: "after", status, operations: ["create"], times: "always" });
    const stack = new HookStack(world);
    for (let run = 1; run <= 3; run += 1) {
      expect(await stack.up({ a: { definition: rule(1) } })).toEqual([]);
      expect(world.service.rules()).toHaveLength(1);
    }
    expect(world.service.requestCount("create")).toBe(1);
  },
);

test("one that was not carried out, as 307 says, fails and leaves none", async () => {
  const world = await openWorld({ allowDuplicates: true });
  world.service.faults.set({ kind: "redirect", status: 307, operations: ["create"], times: "always" });
  const [message] = await new HookStack(world).up({ a: { definition: rule(1) } });
  expect(message).toMatch(/answered 307.*baseUrl/s);
  expect(message).not.toContain("may exist");
  expect(world.service.rules()).toEqual([]);
  expect(world.service.requestCount("create")).toBe(1);
});

test("a set of rules whose creates are all answered 303 is there as declared, each rule once", async () => {
  const world = await openWorld({ contract: unknownLag, allowDuplicates: true });
  world.service.faults.set({ kind: "redirect", at: "after", status: 303, operations: ["create"], times: "always" });
  const rules = many(10);
  const stack = new HookStack(world, "merchantRuleSet");
  for (let run = 1; run <= 3; run += 1) expect(await stack.up({ s: { rules } })).toEqual([]);
  expect(world.service.rules()).toHaveLength(10);
});
