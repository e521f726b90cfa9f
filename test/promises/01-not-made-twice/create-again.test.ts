import { describe, expect, test } from "vitest";
import { many, rule } from "../../support/rules.ts";
import { contractOf, list } from "../../support/stack/contracts.ts";
import { openWorld, writesOf } from "../../support/stack/hooks.ts";
import { failureOf, ownedBy } from "../../support/stack/hosts.ts";

const unknownLag = contractOf({ operations: { list: { ...list, lagMs: null } } });
const withoutList = contractOf({ operations: { list: null } });

describe("a create that is answered 503", () => {
  test.each([
    ["known", contractOf(), /the next run looks first/],
    ["not known", unknownLag, /look at the service whether the rule is there/],
  ])(
    "is looked up and sent again by the next run alone, where the lag of the list is %s",
    async (_case, contract, says) => {
      const world = await openWorld({ contract, allowDuplicates: true });
      world.service.faults.set({ kind: "status", status: 503, operations: ["create"] });
      const { message } = await failureOf((await world.host()).create({ definition: rule(1) }));
      expect(message).toMatch(says);
      expect(world.asked()).toEqual(["list", "create", "list"]);
      const { id } = await (await world.host()).create({ definition: rule(1) });
      expect(world.service.rules()).toMatchObject([{ ruleId: id }]);
    },
  );

  test("for several rules of a set is sent again for those alone", async () => {
    const world = await openWorld({ allowDuplicates: true });
    world.service.faults.set({ kind: "status", status: 503, operations: ["create"], request: 2, times: 3 });
    const rules = many(6);
    const { partial } = await failureOf((await world.host("merchantRuleSet")).create({ rules }));
    await (await world.host("merchantRuleSet")).update(partial?.id ?? "", partial?.properties ?? {}, { rules });
    expect(world.names()).toEqual(Object.values(rules).map(({ name }) => name));
    expect(writesOf(world)).toHaveLength(9);
  });

  test("is sent again with its own key alone, where the contract has idempotency", async () => {
    const contract = contractOf({ idempotency: { header: "Idempotency-Key" } });
    const world = await openWorld({ contract, allowDuplicates: true });
    world.service.faults.set({ kind: "status", status: 503, operations: ["create"], times: 2 });
    await (await world.host()).create({ definition: rule(1) });
    expect(world.service.rules()).toHaveLength(1);
    expect(world.asked()).toEqual(["list", "create", "create", "create"]);
  });

  test("and was carried out all the same is not sent again", async () => {
    const world = await openWorld({ allowDuplicates: true });
    world.service.faults.set({ kind: "status", status: 503, at: "after", operations: ["create"] });
    await (await world.host()).create({ definition: rule(1) });
    expect(world.service.rules()).toHaveLength(1);
    expect(writesOf(world)).toEqual(["create"]);
  });

  test("always, is sent as often as limits.maxAttempts says, and the error says that the rule may exist", async () => {
    const world = await openWorld({ contract: contractOf({ idempotency: { header: "Idempotency-Key" } }) });
    world.service.faults.set({ kind: "status", status: 503, operations: ["create"], times: "always" });
    const { message } = await failureOf((await world.host()).create({ definition: rule(1) }));
    expect(message).toContain("the rule may exist");
    expect(world.service.rules()).toEqual([]);
    expect(writesOf(world)).toHaveLength(5);
  });
});

describe("the message that a rule may exist", () => {
  test.each([
    [
      "a list whose lag is known",
      contractOf({ limits: { maxAttempts: 2 } }),
      "before",
      /: run again: the next run looks first /,
    ],
    ["a list whose lag is not known", unknownLag, "before", /\. With operations\.list\.lagMs in the contract/],
    ["no list", withoutList, "after", /\. With operations\.list and its lagMs in the contract/],
    ["no natural key", contractOf({ rule: { naturalKey: null } }), "after", /\. With rule\.naturalKey in the contract/],
    [
      "a mark",
      contractOf({ operations: { list: { ...list, lagMs: null } }, rule: { owner: { at: "/by" } } }),
      "before",
      /\. With operations\.list\.lagMs in the contract/,
    ],
  ] as const)(
    "says what the contract lacks, and nothing twice, under one with %s",
    async (_case, contract, at, advice) => {
      const world = await openWorld({ contract });
      world.service.faults.set({ kind: "close", at, operations: ["create"], times: "always" });
      const { message } = await failureOf(
        (await world.host()).create({ definition: rule(1), ...ownedBy("shop/test/a") }),
      );
      expect(message).toContain("RULE_OUTCOME_UNKNOWN");
      expect(message).toContain("the rule may exist");
      expect(message).toMatch(advice);
      const parts = message
        .split(/[.;:,]\s|\s\(|\)\s?|\n/)
        .map((part) => part.trim().toLowerCase())
        .filter((part) => part.split(" ").length >= 3);
      expect(parts.filter((part, at) => parts.indexOf(part) !== at)).toEqual([]);
      const words = message.toLowerCase().match(/[a-z0-9_./]+/g) ?? [];
      const fives = words.slice(0, -4).map((_, k) => words.slice(k, k + 5).join(" "));
      expect(fives.filter((five, k) => fives.indexOf(five) !== k)).toEqual([]);
    },
  );
});
