import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { FaultInput } from "../../../local/service/faults/index.ts";
import { recoverId } from "../../../provider/merchant/words.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { isJsonArray, isJsonObject } from "../../../sdk/json/index.ts";
import { many, rule } from "../../support/rules.ts";
import { contractOf, list, marking, unknownLag, withoutList } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { isList, lost, type Misbehaviour } from "../../support/stack/front.ts";
import { HookStack, openWorld, writesOf } from "../../support/stack/hooks.ts";
import { failureOf, ownedBy, ownerIdOf } from "../../support/stack/hosts.ts";
import { wordIn } from "../../support/stack/model-stack.ts";
import { openPlace, openStack, type Place } from "../../support/stack/place.ts";
import { variants } from "../../support/variants.ts";

const [a, b, c] = [rule(1), rule(2), rule(3)];
const both = { all: { rules: { a, b } } };
const idempotency = { header: "Idempotency-Key" };
const contracts: readonly (readonly [string, ContractInput])[] = [
  ["a list that does not lag", contractOf()],
  ["a list and idempotency", contractOf({ idempotency })],
];

/** Has a gateway answer creates; the service carries them out when the result is called, or after `laterMs`. */
function answerBefore({ front }: Place, status: number, laterMs?: number): () => Promise<void> {
  const { promise: isDue, resolve } = Promise.withResolvers<void>();
  const late: Promise<unknown>[] = [];
  front.behave(({ method }, pass) => {
    if (method !== "POST") return pass();
    late.push((laterMs === undefined ? isDue : sleep(laterMs)).then(() => pass()));
    return { status, body: {} };
  });
  return async () => {
    resolve();
    await Promise.all(late);
    front.behave();
  };
}

onBothEngines((engine) => {
  describe.each(contracts)("by a contract with %s", (_, contract) => {
    test.each(variants([504, 408, 503]))(
      "a create that is carried out after a gateway answered %i is made once",
      async (status) => {
        const { place, stack } = await openStack(engine, { contract, allowDuplicates: true });
        // Attempts with one key may last until the service has done what it was asked first.
        const settle = answerBefore(place, status, contract.idempotency === undefined ? undefined : 150);
        if (contract.idempotency === undefined) await stack.upFails(both, {}, /the rule may exist/);
        else {
          stack.declare(both);
          await stack.run("up");
        }
        await settle();
        const { code, output } = await stack.run("up");
        if (code !== 0) await stack.succeeds("up", { environment: wordIn({ text: output }, "RECOVER") });
        expect(place.names()).toEqual(["rule-1", "rule-2"]);
        await stack.isUnchanged();
      },
    );
  });
});

test("without a way to look it up a create is sent once, and the error says that the rule may exist", async () => {
  const { place, stack } = await openStack("local", { contract: withoutList });
  const settle = answerBefore(place, 503);
  const says = /the rule may exist.*look at the service whether the rule is there/s;
  await stack.upFails({ a: { definition: a } }, {}, says);
  await settle();
  expect(place.names()).toEqual(["rule-1"]);
});

test("creates whose answers are all lost wait for the list's lag side by side, not one after the other", async () => {
  const lagMs = 1000;
  const contract = contractOf({ operations: { list: { ...list, lagMs } }, limits: { concurrency: 4 } });
  const { place, stack } = await openStack("local", { contract });
  const loses = lost("POST");
  let creates = 0;
  let sentBeforeALook = 0;
  place.front.behave((request, pass) => {
    if (request.method === "POST") creates += 1;
    if (isList(request)) sentBeforeALook ||= creates;
    return loses(request, pass);
  });
  await stack.up({ all: { rules: many(40) } });
  expect(place.service.rules()).toHaveLength(40);
  // One after the other, 4 at once, four would be looked for before the fifth is sent.
  expect(sentBeforeALook).toBeGreaterThan(4);
}, 120_000);

onBothEngines((engine) => {
  test("a rule that this run's own create made, and that the service keeps in a form of its own, is not said to be made 'not by it', by another run", async () => {
    const { place, stack } = await openStack(engine);
    place.front.behave(async ({ method, body }, pass) => {
      if (method !== "POST") return pass();
      // The service rounds a number, and its gateway loses the answer.
      await pass({ body: { ...Object(body), priority: 10 } });
      return { status: 504, body: {} };
    });
    const { output } = await stack.upFails({ all: { rules: { a } } }, {}, /rule-1/);
    expect(output).not.toMatch(/not by it|another run of this stack may be under way/);
  });

  test("a gateway that sends a create twice by itself is not said to be another run of this stack", async () => {
    const { place, stack } = await openStack(engine, { contract: marking });
    place.front.behave(async ({ method }, pass) => {
      if (method === "POST") await pass();
      // The second one is answered 409, and that answer arrives.
      return pass();
    });
    const { output } = await stack.up(both);
    expect(place.service.rules()).toHaveLength(2);
    expect(output).not.toMatch(/not by it|another run of this stack may be under way/);
  });
});

test("one create of which the answer was lost and the service kept another form does not make every later create read the whole list", async () => {
  const { place, stack } = await openStack("local", { contract: contractOf({ limits: { concurrency: 1 } }) });
  let [creates, lists] = [0, 0];
  place.front.behave(async (request, pass) => {
    if (isList(request)) lists += 1;
    if (request.method !== "POST") return pass();
    creates += 1;
    if (creates > 1) return pass();
    await pass({ body: { ...Object(request.body), priority: 10 } });
    return { status: 504, body: {} };
  });
  await stack.upFails({ all: { rules: many(60) } }, {}, /1 of 60 rules failed/);
  expect(lists).toBeLessThan(10);
});

/** The list shows active rules alone, unless it is asked for all. */
const activeAlone: Misbehaviour = async ({ method, path }, pass) => {
  const answer = await pass({ path: path.replace("?all=true", "") });
  if (method !== "GET" || !path.endsWith("/rules") || !isJsonObject(answer.body)) return answer;
  const { rules } = answer.body;
  const active = isJsonArray(rules) ? rules.filter((each) => isJsonObject(each) && each.isActive === true) : [];
  return { ...answer, body: { rules: active } };
};

test("a list that leaves a known rule out is said, with what to correct, and is not after that", async () => {
  const place = await openPlace();
  place.front.behave(activeAlone);
  const stack = await place.stack("local");
  // What the run wrote is seen by a GET; of others nobody can tell.
  const rules = { a: rule(1), b: rule(2, { isActive: false }) };
  await stack.upFails(
    { all: { rules } },
    {},
    /the list does not show by now what this run has written.*operations\.list/s,
  );
  await stack.up({ all: { rules } });
  const says = /the list does not show rule \S+, which a read finds.*operations\.list/s;
  expect((await stack.succeeds("refresh")).output).toMatch(says);
  const corrected = contractOf({ operations: { list: { ...list, query: { all: "true" } } } });
  writeFileSync(place.contractFile, JSON.stringify(corrected));
  expect((await stack.succeeds("refresh")).output).not.toMatch(says);
  await stack.isUnchanged();
});

test("a create whose answer was lost is not to be sent again blindly where the list leaves out what the run has made", async () => {
  // One after the other, so that the first is made when the second is lost.
  const place = await openPlace({ contract: contractOf({ limits: { concurrency: 1 } }), allowDuplicates: true });
  let isLost = false;
  place.front.behave(async (request, pass) => {
    const answer = await activeAlone(request, pass);
    if (isLost || request.method !== "POST" || place.service.rules().length < 2) return answer;
    isLost = true;
    throw new Error("the connection is lost");
  });
  const stack = await place.stack("local");
  const rules = { a: rule(1, { isActive: false }), b: rule(2, { isActive: false }) };
  const says = [/may exist/, /nor rule \S+, which this run has written/];
  const { output } = await stack.upFails({ all: { rules } }, {}, ...says);
  expect(output).toMatch(/look at the service whether the rule is there.*an operations\.list that shows all rules/s);
  const [key = "", ...more] = [...output.matchAll(/adopt: \{ "(\w+)":/g)].map(([, named]) => named ?? "");
  expect(more).toEqual([]);
  place.front.behave(activeAlone);
  await stack.up({ all: { rules, adopt: { [key]: place.idOf(key === "a" ? "rule-1" : "rule-2") } } });
  expect(place.service.rules().map((each) => each.rule.name)).toEqual(["rule-1", "rule-2"]);
  await stack.isUnchanged();
});

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
    const world = await openWorld({ contract: contractOf({ idempotency }), allowDuplicates: true });
    world.service.faults.set({ kind: "status", status: 503, operations: ["create"], times: 2 });
    await (await world.host()).create({ definition: rule(1) });
    expect(world.service.rules()).toHaveLength(1);
    expect(world.asked()).toEqual(["list", "create", "create", "create", "list"]);
  });

  test("and was carried out all the same is not sent again", async () => {
    const world = await openWorld({ allowDuplicates: true });
    world.service.faults.set({ kind: "status", status: 503, at: "after", operations: ["create"] });
    await (await world.host()).create({ definition: rule(1) });
    expect(world.service.rules()).toHaveLength(1);
    expect(writesOf(world)).toEqual(["create"]);
  });

  test("always, is sent as often as limits.maxAttempts says, and the error says that the rule may exist", async () => {
    const world = await openWorld({ contract: contractOf({ idempotency }) });
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
    [
      "no list",
      contractOf({ operations: { list: null } }),
      "after",
      /\. With operations\.list and its lagMs in the contract/,
    ],
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

test.each([
  [301, contractOf()],
  [302, contractOf()],
  [303, contractOf()],
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
  const stack = new HookStack(world, "merchantRuleSet");
  for (let run = 1; run <= 3; run += 1) expect(await stack.up({ s: { rules: many(10) } })).toEqual([]);
  expect(world.service.rules()).toHaveLength(10);
});

describe("three creates that lose their answers while the list lags behind", () => {
  const declared = { a, b, c };
  const names = ["rule-1", "rule-2", "rule-3"];
  const closed: FaultInput = { kind: "close", at: "after", operations: ["create"], times: 3 };
  const told = contractOf({ operations: { list: { ...list, lagMs: 600 } } });

  test("are found by the same run, where the contract says how far it lags", async () => {
    const world = await openWorld({ contract: told, allowDuplicates: true });
    world.service.faults.set([{ kind: "stale-list", lagMs: 400 }, closed]);
    const { outs } = await (await world.host("merchantRuleSet")).create({ rules: declared });
    expect(Object.keys(Object(outs.ruleIds)).sort()).toEqual(["a", "b", "c"]);
    expect(world.names()).toEqual(names);
    expect(writesOf(world)).toEqual(["create", "create", "create"]);
  });

  test("of resources of one rule are found by the same run, too", async () => {
    const world = await openWorld({ contract: told, allowDuplicates: true });
    world.service.faults.set([{ kind: "stale-list", lagMs: 400 }, closed]);
    const host = await world.host();
    await Promise.all(Object.values(declared).map((definition) => host.create({ definition })));
    expect(world.names()).toEqual(names);
  });

  test.each([
    ["recover, once the list shows them", "recover"],
    ["adopt, at once", "adopt"],
    ["adopt, once the list shows them", "adopt later"],
  ])(
    "are said to be unknown where the contract does not say so, and the advice ends with those rules: %s",
    async (_case, way) => {
      // One request at a time, so that it is the first three rules whose creates lose their answers.
      const world = await openWorld({ contract: { ...unknownLag, limits: { concurrency: 1 } }, allowDuplicates: true });
      // As it was when the fault was set, until it is cleared.
      world.service.faults.set([{ kind: "stale-list" }, closed]);
      const failure = await failureOf(
        (await world.host("merchantRuleSet")).create({ rules: { ...declared, d: rule(4) } }),
      );
      expect(failure.message).toMatch(/RULE_OUTCOME_UNKNOWN/);
      expect(failure.message).toContain("the rule may exist; the list does not show it");
      expect(failure.message).toContain("operations.list.lagMs");
      expect(failure.message).toContain("look at the service whether the rule is there");
      expect(failure.message).toContain('add adopt: { "a": "<its ruleId>" }');
      expect(writesOf(world)).toHaveLength(4);
      if (way !== "adopt") world.service.faults.clear();
      const ids = Object.fromEntries(world.service.rules().map(({ ruleId, rule: { name } }) => [name, ruleId]));
      const adopt = { a: ids["rule-1"] ?? "", b: ids["rule-2"] ?? "", c: ids["rule-3"] ?? "" };
      const host = await world.host(
        "merchantRuleSet",
        way === "recover" ? { MERCHANT_RULES_RECOVER: recoverId(ownerIdOf("")) } : {},
      );
      const { id, properties } = failure.partial ?? { id: "", properties: {} };
      const inputs = { rules: { ...declared, d: rule(4) }, ...(way.startsWith("adopt") ? { adopt } : {}) };
      await (id === "" ? host.create(inputs) : host.update(id, properties, inputs)).catch(() => undefined);
      expect(world.names()).toEqual([...names, "rule-4"]);
    },
  );

  test("that were not carried out are made by running again, as advised", async () => {
    const world = await openWorld({ contract: unknownLag, allowDuplicates: true });
    world.service.faults.set([{ kind: "stale-list" }, { ...closed, at: "before" }]);
    const { message } = await failureOf((await world.host("merchantRuleSet")).create({ rules: declared }));
    expect(message).toContain("if it is not, run again");
    world.service.faults.clear();
    await (await world.host("merchantRuleSet")).create({ rules: declared });
    expect(world.names()).toEqual(names);
  });

  test("are found by their marks by the next run, without a word from the user", async () => {
    const contract = contractOf({
      operations: { list: { ...list, lagMs: null } },
      rule: { owner: { at: "/managedBy" } },
    });
    const world = await openWorld({ contract, allowDuplicates: true });
    world.service.faults.set([{ kind: "stale-list" }, closed]);
    const inputs = { rules: declared, ...ownedBy("shop/test/limits") };
    const { message } = await failureOf((await world.host("merchantRuleSet")).create(inputs));
    expect(message).toContain("run again");
    world.service.faults.clear();
    await (await world.host("merchantRuleSet")).create(inputs);
    expect(world.names()).toEqual(names);
  });
});
