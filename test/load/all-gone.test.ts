import { describe, expect, test } from "vitest";
import { rule } from "../support/connections.ts";
import { stateOf, withoutList } from "../worlds/many.ts";
import { contractOf, failureOf, open } from "../worlds/world.ts";

describe("a service that has none of the declared rules", () => {
  test.each([
    ["a list", contractOf()],
    ["no list", withoutList],
  ])(
    "ends the read of a set of 5,000 with one error, and at most two requests for each rule, under a contract with %s",
    async (_case, contract) => {
      const world = await open({ contract });
      world.service.put(undefined, rule(9999));
      const { message } = await failureOf((await world.host("merchantRuleSet")).read("set-1", stateOf(5000)));
      expect(message).toContain("none of the 5000 rules");
      expect(world.service.requests.length).toBeLessThanOrEqual(10_050);
    },
  );

  test("ends 5,000 reads of resources at once with at most two requests for each", async () => {
    const world = await open();
    world.service.put(undefined, rule(9999));
    const host = await world.host();
    const reads = await Promise.all(
      Array.from({ length: 5000 }, (_, k) =>
        failureOf(host.read(`id-${k}`, { definition: rule(k), ruleId: `id-${k}` })),
      ),
    );
    for (const { message } of reads) expect(message).toContain("none of the 5000 rules");
    expect(world.service.requests.length).toBeLessThanOrEqual(10_050);
  });
});
