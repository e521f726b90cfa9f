import { describe, expect, test } from "vitest";
import { localCredentials } from "../../../local/service/index.ts";
import { hashOfIdentity } from "../../../provider/merchant/identity.ts";
import { linkIn } from "../../../provider/merchant/site.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import {
  asking,
  contractOf,
  identity,
  marking,
  merchants,
  otherToken,
  owner,
  twoMerchants,
} from "../../support/stack/contracts.ts";
import { openWorld, type World, writesOf } from "../../support/stack/hooks.ts";
import { connectionsIn, good, ModelStack, refused, wordIn } from "../../support/stack/model-stack.ts";
import { withoutBits } from "../../support/stack/owners.ts";
import { contractFileOf, marksOf } from "../../support/stack/service.ts";

/** Ids chosen by the client, and nothing else by which a rule is found. */
const chosen = contractOf({
  operations: { create: { identifyBy: { in: "body", name: "id" } } },
  rule: { naturalKey: null },
});
const markingWithoutKey = contractOf({ rule: { owner, naturalKey: null } });

/** Kinds of contract; the last says by what a rule is recognised from another connection, without a word of the user. */
const kinds: [string, ContractInput, boolean][] = [
  ["no marks", contractOf(), false],
  ["marks", marking, true],
  ["marks and no natural key", markingWithoutKey, true],
  ["an identity", asking, true],
  ["ids chosen by the client", chosen, false],
];

/** A second principal of the same merchant: a client, beside the token. */
const token = { path: "/api/v1/auth/token", fields: { client_id: "{clientId}", client_secret: "{clientSecret}" } };
const withClients = (contract: ContractInput): ContractInput => ({ ...contract, auth: { ...contract.auth, token } });
const { clientId, clientSecret } = localCredentials;

/** All rules of both merchants. */
function all({ service }: World) {
  return merchants.map(({ name }) => service.of(name).rules());
}

/** Takes the requests so far from the record; gives the writes among them. */
function takenWrites(world: World): string[] {
  const writes = writesOf(world);
  world.service.resetRequests();
  return writes;
}

describe("1. the connection of a rule gets another name, and leads to the same merchant", () => {
  const spelt = (url: string): string => url.replace("127.0.0.1", "localhost");
  const ways: [string, (url: string) => JsonObject][] = [
    ["by other credentials", (baseUrl) => ({ baseUrl, clientId, clientSecret })],
    ["by another spelling of the address", (url) => ({ baseUrl: spelt(url), token: "token-acme" })],
  ];
  describe.each(ways)("%s", (_way, settings) => {
    test.each(kinds)("with %s: nothing is written, made twice or deleted", async (_kind, contract, isProven) => {
      const world = await openWorld({ contract: withClients(contract), ...twoMerchants });
      const stack = new ModelStack(world);
      await good(stack.up({ limit: { definition: rule(1) } }));
      const before = all(world);
      takenWrites(world);
      const run = { config: connectionsIn({ second: settings(world.service.url) }) };
      const program = (definition: JsonObject) => ({ limit: { definition, connection: "second" } });
      if (isProven) await good(stack.up(program(rule(1)), run));
      else {
        const ended = await refused(stack.up(program(rule(1)), run));
        expect(ended.text).not.toContain("adopt");
        expect(all(world)).toEqual(before);
        await good(stack.up(program(rule(1)), { ...run, environment: wordIn(ended, "SAME") }));
      }
      expect(takenWrites(world)).toEqual([]);
      expect(all(world)).toEqual(before);
      // The word was for one run: the row has the place now.
      await good(stack.up(program(rule(1)), run));
      expect(world.service.requests).toEqual([]);
      await good(stack.up(program(rule(1, { priority: 9 })), run));
      expect(takenWrites(world)).toEqual(["update"]);
      await good(stack.destroy(run));
      expect(all(world)).toEqual([[], []]);
      expect(stack.engine.wholeState).toEqual([]);
    });
  });

  test("by the same credentials and address: it is the same place, and nothing is asked", async () => {
    const world = await openWorld({ ...twoMerchants });
    const stack = new ModelStack(world);
    await good(stack.up({ limit: { definition: rule(1) } }));
    const before = all(world);
    takenWrites(world);
    const config = connectionsIn({ second: { baseUrl: world.service.url, token: "token-acme" } });
    await good(stack.up({ limit: { definition: rule(1), connection: "second" } }, { config }));
    expect(takenWrites(world)).toEqual([]);
    expect(all(world)).toEqual(before);
    expect(stack.siteOf("limit")?.connection).toBe("second");
  });
});

test.each(kinds)(
  "2. a destroy after the connection got another name leaves no rule in force, with %s",
  async (_kind, contract, isProven) => {
    const world = await openWorld({ contract, ...twoMerchants });
    const stack = new ModelStack(world);
    await good(stack.up({ all: { rules: { a: rule(1), b: rule(2) } } }));
    const baseUrl = world.service.url.replace("127.0.0.1", "localhost");
    const run = { config: connectionsIn({ second: { baseUrl, token: "token-acme" } }) };
    const program = { all: { rules: { a: rule(1), b: rule(2) }, connection: "second" } };
    const first = isProven ? await good(stack.up(program, run)) : await refused(stack.up(program, run));
    if (!isProven) await good(stack.up(program, { ...run, environment: wordIn(first, "SAME") }));
    // The place is as known, now without the first connection's settings.
    const { text } = await good(stack.destroy({ ...run, environment: { MERCHANT_RULES_TOKEN: "" } }));
    expect(all(world)).toEqual([[], []]);
    expect(text).not.toContain("mark");
  },
);

describe("3. a resource gets another name by an alias, and a new one the old name", () => {
  const decline = rule(1, { name: "decline" });
  const review = rule(2, { name: "review" });
  const contracts: [string, ContractInput][] = [
    ["ids chosen by the client", chosen],
    ["marks and no natural key", markingWithoutKey],
  ];
  const renamed = async (contract: ContractInput) => {
    const world = await openWorld({ contract, ...twoMerchants });
    const stack = new ModelStack(world);
    await good(stack.up({ limit: { definition: decline } }));
    stack.engine.alias("limit", "block");
    const isDecline = ({ rule }: { rule: JsonObject }): boolean => rule.name === "decline";
    const declines = () => world.service.rules().filter(isDecline);
    return { world, stack, declines, before: declines() };
  };

  describe.each(contracts)("with %s", (_kind, contract) => {
    test.each([
      ["after", { block: { definition: decline }, limit: { definition: review } }],
      ["before", { limit: { definition: review }, block: { definition: decline } }],
    ])("the new one makes a rule of its own, declared %s the old one", async (_order, program) => {
      const { world, stack, declines, before } = await renamed(contract);
      await good(stack.up(program));
      expect(declines()).toEqual(before);
      expect(world.names()).toEqual(["decline", "review"]);
      takenWrites(world);
      await good(stack.up(program));
      expect(world.service.requests).toEqual([]);
      await good(stack.up({ ...program, block: { definition: { ...decline, priority: 50 } } }));
      expect(takenWrites(world)).toEqual(["update"]);
      expect(world.named("review").rule.priority).toBe(review.priority);
      await good(stack.refresh());
      await good(stack.destroy());
      expect(all(world)).toEqual([[], []]);
    });

    test("the new one that is made before the old one was heard is refused, and another name helps", async () => {
      const { world, stack, declines, before } = await renamed(contract);
      takenWrites(world);
      const order = { isReversed: false, second: "after the first" } as const;
      await refused(stack.up({ limit: { definition: review }, block: { definition: decline } }, { order }), /adopt/);
      expect(takenWrites(world)).toEqual([]);
      expect(declines()).toEqual(before);
      await good(stack.up({ cap: { definition: review }, block: { definition: decline } }, { order }));
      expect(declines()).toEqual(before);
      expect(world.names()).toEqual(["decline", "review"]);
    });
  });
});

describe("4. one rule of five is at the other merchant as it is at ours, and its token is in the environment", () => {
  const declared = [1, 2, 3, 4, 5].map((k) => rule(k));
  const forms: [string, (rules: readonly JsonObject[]) => Record<string, JsonObject>][] = [
    ["a set", (rules) => ({ all: { rules: Object.fromEntries(rules.map((each, k) => [`r${k}`, { ...each }])) } })],
    ["single rules", (rules) => Object.fromEntries(rules.map((definition, k) => [`r${k}`, { definition }]))],
  ];

  /** Five rules of ours; the other merchant has the same ids, and the first so many rules are equal. */
  async function twins(contract: ContractInput, program: Record<string, JsonObject>, equal = 1) {
    const world = await openWorld({ contract, ...twoMerchants });
    const stack = new ModelStack(world);
    await good(stack.up(program));
    const theirs = world.service.of("globex");
    for (const [k, { ruleId, rule: ours }] of world.service.rules().entries()) {
      const { metadata: _, ...plain } = ours;
      const isTwin = declared.findIndex((each) => each.name === plain.name) < equal;
      theirs.put(ruleId, isTwin ? plain : rule(k + 100, { name: `theirs-${k}` }));
    }
    takenWrites(world);
    return { world, stack, before: all(world) };
  }

  describe.each(forms)("by %s", (form, written) => {
    test.each(kinds)("an up writes nothing, with %s", async (_kind, contract) => {
      const { world, stack, before } = await twins(contract, written(declared));
      const changed = written([
        rule(1),
        rule(2, { priority: 52 }),
        rule(3, { priority: 53 }),
        rule(4),
        rule(5),
        rule(6),
      ]);
      await refused(stack.up(changed, { environment: otherToken }));
      expect(takenWrites(world)).toEqual([]);
      expect(all(world)).toEqual(before);
      await good(stack.up(changed));
      expect(takenWrites(world).toSorted()).toEqual(["create", "update", "update"]);
    });

    test.each(kinds)("a destroy deletes none that differs, with %s", async (_kind, contract) => {
      const { world, stack, before } = await twins(contract, written(declared));
      await refused(stack.destroy({ environment: otherToken }));
      const [ours = [], theirs = []] = all(world);
      expect(ours).toEqual(before[0]);
      const kept = before[1]?.filter(({ rule }) => String(rule.name).startsWith("theirs")) ?? [];
      expect(theirs).toEqual(expect.arrayContaining(kept));
      // A rule that is equal under the same id is taken for ours, where it is the only one that is known.
      if (form === "a set") expect(theirs).toEqual(before[1]);
    });

    test.each(kinds)("a refresh forgets none, and the next up makes no double, with %s", async (_kind, contract) => {
      const { world, stack, before } = await twins(contract, written(declared));
      const ids = stack.ids();
      await refused(stack.refresh({ environment: otherToken }));
      expect(stack.ids()).toEqual(ids);
      await good(stack.up(written(declared)));
      expect(takenWrites(world)).toEqual([]);
      expect(all(world)).toEqual(before);
    });

    test("where three of five are equal, the two that differ are neither changed nor forgotten", async () => {
      const { world, stack, before } = await twins(contractOf(), written(declared), 3);
      const changed = written([rule(1), rule(2), rule(3), rule(4, { priority: 54 }), rule(5, { priority: 55 })]);
      await refused(stack.up(changed, { environment: otherToken }));
      expect(takenWrites(world)).toEqual([]);
      const ids = stack.ids();
      await refused(stack.refresh({ environment: otherToken }));
      expect(stack.ids()).toEqual(ids);
      expect(all(world)).toEqual(before);
    });

    test("where all are copies with marks, the identity tells", async () => {
      const contract = contractOf({ auth: { identity }, rule: { owner } });
      const world = await openWorld({ contract, ...twoMerchants });
      const stack = new ModelStack(world);
      await good(stack.up(written(declared)));
      for (const { ruleId, rule } of world.service.rules()) world.service.of("globex").put(ruleId, rule);
      const before = all(world);
      takenWrites(world);
      const run = { environment: otherToken };
      const ids = stack.ids();
      await refused(stack.up(written(declared.map((each) => ({ ...each, priority: 90 }))), run), /merchant/);
      await refused(stack.refresh(run));
      await refused(stack.destroy(run));
      expect(takenWrites(world)).toEqual([]);
      expect(all(world)).toEqual(before);
      expect(stack.ids()).toEqual(ids);
    });
  });
});

describe("5. the id of a rule that somebody deleted is given to a colleague's rule with another name", () => {
  const contracts: [string, ContractInput][] = [
    ["no marks", contractOf()],
    ["marks", marking],
    ["marks and no natural key", markingWithoutKey],
    ["an identity", asking],
  ];
  const colleagues = rule(7, { name: "colleague" });

  async function givenAgain(contract: ContractInput) {
    const world = await openWorld({ contract, ...twoMerchants });
    const stack = new ModelStack(world);
    await good(stack.up({ a: { definition: rule(1) } }));
    world.service.remove("1");
    world.service.put("1", colleagues);
    takenWrites(world);
    const expectTheirs = () => {
      expect(world.service.rules()).toContainEqual({ ruleId: "1", rule: colleagues });
      expect(takenWrites(world)).toEqual([]);
    };
    return { world, stack, expectTheirs };
  }
  const changed = { a: { definition: rule(1, { priority: 50 }) } };

  describe.each(contracts)("with %s", (_kind, contract) => {
    test("an update refuses to touch it, and writes it when the program says adopt", async () => {
      const { world, stack, expectTheirs } = await givenAgain(contract);
      await refused(stack.up(changed), /adopt: "1"/);
      expectTheirs();
      await good(stack.up({ a: { definition: rule(1, { priority: 50 }), adopt: "1" } }));
      expect(world.named("rule-1")).toMatchObject({ ruleId: "1", rule: { priority: 50 } });
      expect(world.service.rules()).toHaveLength(1);
    });

    test("the rule is made anew when its row is removed", async () => {
      const { world, stack, expectTheirs } = await givenAgain(contract);
      await refused(stack.up(changed));
      expectTheirs();
      stack.engine.forget("a");
      await good(stack.up(changed));
      expect(world.names()).toEqual(["colleague", "rule-1"]);
    });

    test("a refresh keeps the row and says so, and the next up refuses", async () => {
      const { stack, expectTheirs } = await givenAgain(contract);
      const { said } = await good(stack.refresh());
      expect(said).toContain("rule 1");
      expect(stack.ids()).toEqual({ a: "1" });
      await refused(stack.up({ a: { definition: rule(1) } }), /adopt: "1"/);
      expectTheirs();
    });

    test("a destroy lets it go, and says so", async () => {
      const { stack, expectTheirs } = await givenAgain(contract);
      const { said } = await good(stack.destroy());
      expect(said).toContain("rule 1");
      expect(stack.engine.wholeState).toEqual([]);
      expectTheirs();
    });
  });
});

describe("6. a rule gets an explicit provider of another merchant", () => {
  const sandbox = { providers: { sandbox: { token: "token-globex" } }, providerOf: { a: "sandbox" } };
  const program = { a: { definition: rule(1) } };

  test.each(kinds.filter(([kind]) => kind !== "an identity"))(
    "it is refused before it is said where the rule is to be; moved makes it there, and names what stays, with %s",
    async (_kind, contract) => {
      const world = await openWorld({ contract, ...twoMerchants });
      const stack = new ModelStack(world);
      await good(stack.up(program));
      const ours = world.service.rules();
      takenWrites(world);
      const ended = await refused(stack.up(program, sandbox));
      expect(takenWrites(world)).toEqual([]);
      const word = wordIn(ended, "MOVED");
      const moved = await good(stack.up(program, { ...sandbox, environment: word }));
      expect(takenWrites(world)).toEqual(["create"]);
      expect(moved.text).toContain(`rule ${ours[0]?.ruleId}`);
      expect(world.service.rules()).toEqual(ours);
      expect(world.service.of("globex").rules()).toHaveLength(1);
      await good(stack.up(program, sandbox));
      expect(world.service.requests).toEqual([]);
      await good(stack.destroy(sandbox));
      expect(all(world)).toEqual([ours, []]);
    },
  );

  test("an identity tells: it is made there, and deleted here", async () => {
    const world = await openWorld({ contract: asking, ...twoMerchants });
    const stack = new ModelStack(world);
    await good(stack.up(program));
    takenWrites(world);
    await good(stack.up(program, sandbox));
    expect(takenWrites(world)).toEqual(["create", "delete"]);
    expect(all(world).map((rules) => rules.length)).toEqual([0, 1]);
    await good(stack.up(program, sandbox));
    expect(world.service.requests).toEqual([]);
  });
});

describe("7. a copied state under another name", () => {
  const program = { a: { definition: rule(1) }, b: { definition: rule(2) } };
  const changed = { ...program, a: { definition: rule(1, { priority: 50 }) } };
  const former = { MERCHANT_RULES_FORMER_NAMES: "shop/test" };

  test.each(kinds)("passes neither up nor up of targets, with %s", async (_kind, contract) => {
    const world = await openWorld({ contract, ...twoMerchants });
    const stack = new ModelStack(world);
    await good(stack.up(program));
    const before = all(world);
    takenWrites(world);
    const copy = stack.copied({ names: "shop/copy" });
    await refused(copy.up(changed), /MERCHANT_RULES_FORMER_NAMES=shop\/test/);
    await refused(copy.up(changed, { targets: ["a"] }), /MERCHANT_RULES_FORMER_NAMES=shop\/test/);
    await refused(copy.up({ ...changed, c: { definition: rule(3) } }, { targets: ["c"] }), /FORMER_NAMES/);
    expect(world.service.requests).toEqual([]);
    expect(all(world)).toEqual(before);
  });

  test.each(kinds)("goes on when the stack was renamed, and says so for one run, with %s", async (_kind, contract) => {
    const world = await openWorld({ contract, ...twoMerchants });
    const stack = new ModelStack(world);
    await good(stack.up(program));
    takenWrites(world);
    const renamed = stack.copied({ names: "shop/renamed" });
    await good(renamed.up(program, { environment: former }));
    expect(takenWrites(world)).toEqual([]);
    await good(renamed.up(program));
    expect(world.service.requests).toEqual([]);
    await good(renamed.up(changed));
    expect(takenWrites(world)).toEqual(["update"]);
    await refused(stack.up(program, { names: "shop/other" }), /FORMER_NAMES/);
    await good(renamed.destroy());
    expect(all(world)).toEqual([[], []]);
  });
});

describe("8. a contract learns", () => {
  const program = { a: { definition: rule(1) }, b: { definition: rule(2) } };
  const changed = { ...program, a: { definition: rule(1, { priority: 50 }) } };

  /** A stack whose first run knew nothing but natural keys; then runs speak the whole contract. */
  async function learning(contract: ContractInput) {
    const world = await openWorld({ contract, spoken: contractOf(), ...twoMerchants });
    const stack = new ModelStack(world);
    await good(stack.up(program));
    takenWrites(world);
    return { world, stack, learnt: { MERCHANT_RULES_CONTRACT: contractFileOf(contract) } };
  }

  test("marks: nothing is refused, and each change writes one", async () => {
    const { world, stack, learnt } = await learning(marking);
    await good(stack.up(program, { environment: learnt }));
    expect(takenWrites(world)).toEqual([]);
    await good(stack.up(changed, { environment: learnt }));
    expect(takenWrites(world)).toEqual(["update"]);
    expect(String(marksOf(world)[0])).toMatch(
      new RegExp(`^${stack.ownerId}\\.[0-9a-f]{16}\\.[0-9a-f]{16} shop/test/a$`),
    );
    expect(marksOf(world)[1]).toBeUndefined();
    expect(withoutBits(marksOf(world)[0])).not.toBe(marksOf(world)[0]);
    await good(stack.refresh({ environment: learnt }));
    await good(stack.up(changed, { environment: learnt }));
    expect(takenWrites(world)).toEqual([]);
    await good(stack.destroy({ environment: learnt }));
    expect(all(world)).toEqual([[], []]);
  });

  test("an identity: the connection remembers it in the next run, and rules with their next change", async () => {
    const { world, stack, learnt } = await learning(asking);
    expect(linkIn(stack.linkOf())?.site.identity).toBeNull();
    await good(stack.up(program, { environment: learnt }));
    expect(takenWrites(world)).toEqual([]);
    const acme = hashOfIdentity("acme");
    expect(linkIn(stack.linkOf())?.site.identity).toBe(acme);
    await good(stack.up(changed, { environment: learnt }));
    expect(stack.siteOf("a")?.identity).toBe(acme);
    await good(stack.refresh({ environment: learnt }));
    expect(stack.siteOf("b")?.identity).toBe(acme);
    takenWrites(world);
    for (const { ruleId, rule } of world.service.rules()) world.service.of("globex").put(ruleId, rule);
    const before = all(world);
    const wrong = { environment: { ...learnt, ...otherToken } };
    await refused(stack.up({ ...program, c: { definition: rule(3) } }, wrong));
    await refused(stack.refresh(wrong));
    await refused(stack.destroy(wrong));
    expect(takenWrites(world)).toEqual([]);
    expect(all(world)).toEqual(before);
  });
});
