import { describe, expect, test } from "vitest";
import { many, rule } from "../../support/rules.ts";
import { contractOf, withoutList } from "../../support/stack/contracts.ts";
import { openWorld } from "../../support/stack/hooks.ts";
import { failureOf } from "../../support/stack/hosts.ts";
import { stateOf } from "../../support/stack/many.ts";
import { placed } from "../../support/stack/owners.ts";

const linesOf = (message: string): string[] => message.split("\n");

describe("a token that is refused", () => {
  const wrong = { MERCHANT_RULES_TOKEN: "wrong-token" };

  test.each([
    ["a list", contractOf()],
    ["no list", withoutList],
  ])("ends a set of 500 rules after few requests, under a contract with %s", async (_case, contract) => {
    const world = await openWorld({ contract });
    const host = await world.host("merchantRuleSet", wrong);
    const { message } = await failureOf(host.create({ rules: many(500) }));
    expect(message).toContain("UNAUTHENTICATED");
    expect(linesOf(message).length).toBeLessThan(30);
    expect(world.service.requests.length).toBeLessThanOrEqual(20);
  });

  test("ends a refresh and a destroy of 500 rules after few requests", async () => {
    const world = await openWorld({ contract: withoutList });
    const host = await world.host("merchantRuleSet", wrong);
    for (const run of [() => host.read("set-1", stateOf(500)), () => host.delete("set-1", stateOf(500))])
      expect((await failureOf(run())).message).toMatch(/UNAUTHENTICATED|NOT_TRIED/);
    expect(world.service.requests.length).toBeLessThanOrEqual(40);
  });

  test("ends 500 resources of one rule after few requests, and each says why", async () => {
    const world = await openWorld({ contract: withoutList });
    const host = await world.host("merchantRule", wrong);
    const failures = await Promise.all(
      Array.from({ length: 500 }, (_, k) => failureOf(host.create({ definition: rule(k) }))),
    );
    expect(world.service.requests.length).toBeLessThanOrEqual(20);
    for (const { message } of failures) expect(message).toMatch(/answered 401/);
  });
});

describe("a service that never answers", () => {
  const limits = { attemptTimeoutMs: 200 };
  const silence = { kind: "silence", times: "always" } as const;

  test.each([
    ["created", contractOf({ limits })],
    ["created without a list", { ...withoutList, limits }],
  ])(
    "ends a set of 1,000 rules that are %s after a few requests, and counts in one line what was not tried",
    async (_case, contract) => {
      const world = await openWorld({ contract });
      world.service.faults.set(silence);
      const host = await world.host("merchantRuleSet");
      const failure = await failureOf(host.create({ rules: many(1000) }));
      expect(world.service.faults.injected.length).toBeLessThan(50);
      expect(failure.message).toMatch(/TIMED_OUT|CONNECTION_FAILED|RULE_OUTCOME_UNKNOWN/);
      expect(linesOf(failure.message).length).toBeLessThan(30);
    },
  );

  test("in the middle of a set of 400 rules counts what was not tried, and the state has what was made", async () => {
    const world = await openWorld({ contract: { ...withoutList, limits: { attemptTimeoutMs: 6000 } } });
    // A hundred creates, and the look at the first.
    world.service.faults.set({ ...silence, request: 102 });
    const host = await world.host("merchantRuleSet");
    const failure = await failureOf(host.create({ rules: many(400) }));
    expect(world.service.faults.injected.length).toBeLessThan(50);
    const untried = linesOf(failure.message).filter((line) => line.includes("not tried"));
    expect(untried).toEqual([expect.stringMatching(/^ {2}2\d\d more were not tried: /)]);
    expect(Object.keys(Object(failure.partial?.properties.ruleIds))).toHaveLength(100);
    expect(linesOf(failure.message).length).toBeLessThan(30);
  });

  test.each(["read", "delete"] as const)("ends the %s of a set of 1,000 rules after a few requests", async (hook) => {
    const world = await openWorld({ contract: { ...withoutList, limits } });
    world.service.faults.set(silence);
    const host = await world.host("merchantRuleSet");
    const { message } = await failureOf(host[hook]("set-1", stateOf(1000)));
    expect(world.service.faults.injected.length).toBeLessThan(50);
    expect(linesOf(message).length).toBeLessThan(30);
  });
});

describe("a service at another place that has none of the known rules", () => {
  const elsewhere = { address: "https://rules.example" };

  test.each([
    ["a list", contractOf()],
    ["no list", withoutList],
  ])(
    "ends the read of a set of 500 with one error, and at most two requests for each rule, under a contract with %s",
    async (_case, contract) => {
      const world = await openWorld({ contract });
      world.service.put(undefined, rule(9999));
      const { message } = await failureOf(
        (await world.host("merchantRuleSet")).read("set-1", placed(stateOf(500), elsewhere)),
      );
      expect(message).toContain("no known rule is seen there");
      expect(world.service.requests.length).toBeLessThanOrEqual(1_050);
    },
  );

  test("ends 500 reads of resources at once with at most two requests for each", async () => {
    const world = await openWorld();
    world.service.put(undefined, rule(9999));
    const host = await world.host();
    const reads = await Promise.all(
      Array.from({ length: 500 }, (_, k) =>
        failureOf(host.read(`id-${k}`, placed({ definition: rule(k), ruleId: `id-${k}` }, elsewhere))),
      ),
    );
    for (const { message } of reads) expect(message).toContain("no known rule is seen there");
    expect(world.service.requests.length).toBeLessThanOrEqual(1_050);
  });
});
