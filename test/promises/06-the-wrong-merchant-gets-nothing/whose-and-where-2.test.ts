import * as pulumi from "@pulumi/pulumi";
import { describe, expect, test } from "vitest";
import { localCredentials } from "../../../local/service/index.ts";
import { MerchantRule, Provider } from "../../../provider/index.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, marking, otherToken, owner, twoMerchants, update } from "../../support/stack/contracts.ts";
import { startFront } from "../../support/stack/front.ts";
import { openWorld, type World, writesOf } from "../../support/stack/hooks.ts";
import { hooksHere, sessionOf } from "../../support/stack/hosts.ts";
import { connectionsIn, good, ModelStack, refused, wordIn } from "../../support/stack/model-stack.ts";
import { withoutBits } from "../../support/stack/owners.ts";

/** Takes the requests so far from the record; gives the writes among them. */
function takenWrites(world: World): string[] {
  const writes = writesOf(world);
  world.service.resetRequests();
  return writes;
}

describe("9. what is unmanaged or left over", () => {
  const set = { rules: { a: rule(1), b: rule(2) }, onUnmanaged: "warn" };

  test.each([
    ["no marks", contractOf()],
    ["marks", marking],
  ])("a double that stands before ours in the list is named, and ours are not, with %s", async (_kind, contract) => {
    const world = await openWorld({ contract, allowDuplicates: true });
    const stack = new ModelStack(world);
    await good(stack.up({ all: set }));
    const { ruleId, rule: live } = world.named("rule-1");
    world.service.remove(ruleId);
    const double = world.service.put(undefined, rule(1, { priority: 70 }));
    world.service.put(ruleId, live);
    const { said } = await good(stack.refresh());
    expect(said).toContain(double);
    expect(said).not.toContain(ruleId);
    expect(said).not.toContain(world.idOf("rule-2"));
  });

  test.each([false, true])(
    "no rule of the same stack is, whichever is read first (reversed: %s)",
    async (isReversed) => {
      const world = await openWorld({ contract: marking });
      const stack = new ModelStack(world);
      const program = { all: set, single: { definition: rule(3) } };
      const ended = [await good(stack.up(program))];
      const order = { isReversed, second: "beside the first" } as const;
      ended.push(await good(stack.refresh({ order })), await good(stack.up(program, { order })));
      for (const { said } of ended) expect(said).not.toContain(world.idOf("rule-3"));
      const strange = world.service.put(undefined, rule(9));
      expect((await good(stack.refresh({ order }))).said).toContain(strange);
    },
  );

  test("without marks no rule is that was heard before the set", async () => {
    const world = await openWorld();
    const stack = new ModelStack(world);
    const program = { single: { definition: rule(3) }, all: set };
    const order = { isReversed: false, second: "after the first" } as const;
    expect((await good(stack.up(program, { order }))).said).not.toContain(world.idOf("rule-3"));
    expect((await good(stack.refresh())).said).not.toContain(world.idOf("rule-3"));
  });

  test("a connection that is used no more names no rule that another connection's resource has", async () => {
    const world = await openWorld({ contract: marking });
    const stack = new ModelStack(world);
    await good(stack.up({ a: { definition: rule(1) }, b: { definition: rule(2) } }));
    const baseUrl = world.service.url.replace("127.0.0.1", "localhost");
    const config = connectionsIn({ second: { baseUrl, token: localCredentials.token } });
    const on = (definition: JsonObject) => ({ definition, connection: "second" });
    stack.engine.forget("b");
    const { said } = await good(stack.up({ a: on(rule(1)) }, { config }));
    expect(said).not.toContain(world.idOf("rule-1"));
    expect(said).toContain(world.idOf("rule-2"));
    expect(said.split("\n").filter((line) => line.includes(world.idOf("rule-2")) && /delete/i.test(line))).toEqual([]);
  });
});

describe("10. two names that share their environment variables", () => {
  test("of connections are refused before any request", async () => {
    const world = await openWorld();
    const config = connectionsIn({ "shop-a": { baseUrl: world.service.url }, shopA: { baseUrl: world.service.url } });
    const program = {
      a: { definition: rule(1), connection: "shop-a" },
      b: { definition: rule(2), connection: "shopA" },
    };
    await refused(new ModelStack(world).up(program, { config }), /shop-a/, /shopA/, /variables/);
    expect(world.service.requests).toEqual([]);
  });

  test("of explicit providers are refused by the program", async () => {
    await pulumi.runtime.setMocks({
      newResource: ({ name, inputs }) => ({ id: `id of ${name}`, state: inputs }),
      call: ({ inputs }) => inputs,
    });
    const definition = rule(1);
    const use = (name: string): MerchantRule =>
      new MerchantRule(`under-${name}`, { definition }, { provider: new Provider(name, {}) });
    use("shop-a");
    expect(() => use("shopA")).toThrow(/shop-a.*shopA|shopA.*shop-a/s);
  });

  test("of a connection and an explicit provider are refused by the program", async () => {
    await pulumi.runtime.setMocks({
      newResource: ({ name, inputs }) => ({ id: `id of ${name}`, state: inputs }),
      call: ({ inputs }) => inputs,
    });
    const definition = rule(1);
    new MerchantRule("by-connection", { definition, connection: "shop-b" });
    expect(() => new MerchantRule("by-provider", { definition }, { provider: new Provider("shopB", {}) })).toThrow(
      /shop-b.*shopB|shopB.*shop-b/s,
    );
  });
});

describe("11. a stack of one rule, without marks, that somebody edited by hand", () => {
  const program = { a: { definition: rule(1) } };

  test("is refreshed, and the next up puts it back", async () => {
    const world = await openWorld();
    const stack = new ModelStack(world);
    await good(stack.up(program));
    world.edit("rule-1", { priority: 77 });
    await good(stack.refresh());
    expect(stack.outputsOf("a").definition).toMatchObject({ priority: 77 });
    takenWrites(world);
    await good(stack.up(program));
    expect(takenWrites(world)).toEqual(["update"]);
    expect(world.named("rule-1").rule).toEqual(rule(1));
  });

  test("with other credentials of the same merchant is not told from another's, until the user says same", async () => {
    const token = { path: "/api/v1/auth/token", fields: { client_id: "{clientId}", client_secret: "{clientSecret}" } };
    const world = await openWorld({ contract: contractOf({ auth: { token } }) });
    const stack = new ModelStack(world);
    await good(stack.up(program));
    world.edit("rule-1", { priority: 77 });
    const { clientId, clientSecret } = localCredentials;
    const others = {
      MERCHANT_RULES_TOKEN: "",
      MERCHANT_RULES_CLIENT_ID: clientId,
      MERCHANT_RULES_CLIENT_SECRET: clientSecret,
    };
    const ended = await refused(stack.refresh({ environment: others }));
    expect(stack.outputsOf("a").definition).toEqual(rule(1));
    await good(stack.refresh({ environment: { ...others, ...wordIn(ended, "SAME") } }));
    expect(stack.outputsOf("a").definition).toMatchObject({ priority: 77 });
    await good(stack.refresh({ environment: others }));
    await good(stack.up(program, { environment: others }));
    expect(world.named("rule-1").rule).toEqual(rule(1));
  });
});

describe("12. a parameter of the contract that is a secret", () => {
  const secret = "ZqParameterOfIt-7f3a91";
  const byHeader = contractOf({
    parameters: { shop: {} },
    operations: { create: { headers: { "X-Shop": "{shop}" } } },
  });
  const byPath = contractOf({
    parameters: { shop: {} },
    operations: { create: { path: "/api/v1/{shop}/rules" } },
  });

  /** A service behind a front that repeats the parameter in what it says of a change. */
  async function echoing(contract: ContractInput) {
    const world = await openWorld({ contract, parameters: { shop: secret } });
    const front = await startFront(world.service.url);
    front.behave(({ method }, pass) =>
      method === "PUT"
        ? { status: 422, body: { error: { code: `E-${secret}`, message: `shop ${secret} may not do that` } } }
        : pass(),
    );
    return { world, front };
  }
  const program = (priority: number) => ({ a: { definition: rule(1, { priority }) } });

  test("is in no state and in no message where a header carries it", async () => {
    const { world, front } = await echoing(byHeader);
    const environment = { MERCHANT_RULES_PARAM_SHOP: secret };
    const stack = new ModelStack(world, { environment });
    const made = await good(stack.up(program(1)));
    const behind = { environment: { ...environment, MERCHANT_RULES_BASE_URL: front.url } };
    const ended = await refused(stack.up(program(2), behind), /SAME=|422/);
    const words = /SAME=/.test(ended.text) ? wordIn(ended, "SAME") : {};
    const again = await refused(stack.up(program(2), { environment: { ...behind.environment, ...words } }), /422/);
    const everything = JSON.stringify([stack.engine.wholeState, made, ended, again]);
    expect(everything).not.toContain(secret);
  });

  test("is in no state and in no message where the explicit provider's program calls it a secret", async () => {
    const { world, front } = await echoing(byPath);
    const inputs = { token: localCredentials.token, parameters: JSON.stringify({ shop: secret }) };
    const providers = { sandbox: { ...inputs, secretParameters: JSON.stringify(["shop"]), baseUrl: front.url } };
    const stack = new ModelStack(world, { providers, providerOf: { a: "sandbox" } });
    const made = await good(stack.up(program(1)));
    const ended = await refused(stack.up(program(2)), /422/);
    expect(JSON.stringify([stack.engine.wholeState, made, ended])).not.toContain(secret);
  });

  test("still tells one place from another", async () => {
    const world = await openWorld({ contract: byPath });
    const providers = (shop: string) => ({
      sandbox: {
        token: localCredentials.token,
        parameters: JSON.stringify({ shop }),
        secretParameters: JSON.stringify(["shop"]),
      },
    });
    const stack = new ModelStack(world, { providerOf: { a: "sandbox" } });
    await good(stack.up(program(1), { providers: providers("one") }));
    world.edit("rule-1", { priority: 5 });
    takenWrites(world);
    await refused(stack.up(program(2), { providers: providers("another") }), /MERCHANT_RULES_SAME=/);
    expect(takenWrites(world)).toEqual([]);
    await good(stack.up(program(2), { providers: providers("one") }));
    expect(takenWrites(world)).toEqual(["update"]);
  });
});

describe("13. a rule with a mark that goes to another stack by `pulumi state move`", () => {
  async function moved() {
    const world = await openWorld({ contract: marking });
    const from = new ModelStack(world);
    await good(from.up({ a: { definition: rule(1) }, stays: { definition: rule(2) } }));
    const to = new ModelStack(world, { names: "shop/other" });
    await good(to.up({ own: { definition: rule(3) } }));
    from.engine.moveTo(to.engine, "a");
    takenWrites(world);
    return { world, from, to };
  }
  const program = (priority: number) => ({ a: { definition: rule(1, { priority }) }, own: { definition: rule(3) } });
  const former = { environment: { MERCHANT_RULES_FORMER_NAMES: "shop/test" } };

  test("is refused until the user names the other stack, and is that stack's from then on", async () => {
    const { world, from, to } = await moved();
    await refused(to.up(program(1)), /MERCHANT_RULES_FORMER_NAMES=shop\/test/);
    expect(takenWrites(world)).toEqual([]);
    await good(to.up(program(1), former));
    expect(takenWrites(world)).toEqual([]);
    await good(to.up(program(1)));
    expect(world.service.requests).toEqual([]);
    await good(to.up(program(50)));
    expect(takenWrites(world)).toEqual(["update"]);
    expect(world.markOf("rule-1")).toMatch(new RegExp(`^${to.ownerId}\\.[0-9a-f]{16}\\.[0-9a-f]{16} shop/other/a$`));
    await good(from.up({ stays: { definition: rule(2) } }));
    await good(from.destroy());
    expect(world.names()).toEqual(["rule-1", "rule-3"]);
    await good(to.destroy());
    expect(world.names()).toEqual([]);
  });

  test("is changed and destroyed alike: both know it by the mark of its row", async () => {
    const { world, to } = await moved();
    await good(to.up(program(50), former));
    expect(takenWrites(world)).toEqual(["update"]);
    const another = await moved();
    await good(another.to.destroy());
    expect(another.world.names()).toEqual(["rule-2"]);
  });
});

describe("14. a rule that its resource takes again after `pulumi state delete`", () => {
  const program = (priority: number, changes: JsonObject = {}) => ({
    a: { definition: rule(1, { priority, ...changes }) },
  });
  const declaring = { operations: { update: { ...update, body: "declared" } } } as const;

  /** It has a field that nobody declares, and its resource has it again. */
  async function takenAgain(contract: ContractInput) {
    const world = await openWorld({ contract });
    const stack = new ModelStack(world);
    await good(stack.up(program(1)));
    const ruleId = world.idOf("rule-1");
    world.edit("rule-1", { note: "by hand" });
    stack.engine.forget("a");
    takenWrites(world);
    await good(stack.up(program(1)));
    expect(takenWrites(world)).toEqual([]);
    expect(stack.ids()).toEqual({ a: ruleId });
    return { world, stack, ruleId };
  }

  describe.each([
    ["marks", null],
    ["marks and no natural key", { naturalKey: null }],
  ] as const)("with %s", (_kind, key) => {
    const of = (changes: object = {}) => contractOf({ rule: { owner, ...key }, ...changes });

    test("keeps the fields that nobody declares, where an update sends the whole live rule", async () => {
      const { world, stack, ruleId } = await takenAgain(of());
      await good(stack.up(program(50)));
      expect(takenWrites(world)).toEqual(["update"]);
      expect(world.named("rule-1")).toMatchObject({ ruleId, rule: { priority: 50, note: "by hand" } });
    });

    test("is not changed where the update would take them away, until they are declared", async () => {
      const { world, stack, ruleId } = await takenAgain(of(declaring));
      await refused(stack.up(program(50)), /note/, /declare these fields/);
      expect(takenWrites(world)).toEqual([]);
      await good(stack.up(program(50, { note: "by hand" })));
      expect(world.named("rule-1")).toMatchObject({ ruleId, rule: { priority: 50, note: "by hand" } });
    });
  });
});

describe("15. a text that a person wrote into the field of the marks", () => {
  const text = "ask Mona before you change this";
  const program = (priority: number) => ({ a: { definition: rule(1, { priority }) } });

  test("stays with a change of the rule, and the run says so", async () => {
    const world = await openWorld({ contract: marking });
    const stack = new ModelStack(world);
    await good(stack.up(program(1)));
    world.edit("rule-1", { metadata: { managedBy: text } });
    const { said } = await good(stack.up(program(50)));
    expect(world.named("rule-1").rule).toMatchObject({ priority: 50, metadata: { managedBy: text } });
    expect(said).toContain(`rule ${world.idOf("rule-1")}`);
    await good(stack.up(program(51)));
    expect(world.markOf("rule-1")).toBe(text);
    await good(stack.destroy());
    expect(world.names()).toEqual([]);
  });

  test("stays with a take-over and the change after it", async () => {
    const world = await openWorld({ contract: marking });
    const ruleId = world.service.put(undefined, rule(1, { metadata: { managedBy: text } }));
    const stack = new ModelStack(world);
    await good(stack.up({ a: { ...program(1).a, adopt: ruleId } }));
    expect(stack.ids()).toEqual({ a: ruleId });
    const { failures } = await stack.up(program(50));
    // It is sent back, or the change is refused by its name.
    if (failures.length > 0) expect(failures.join()).toContain("metadata.managedBy");
    expect(world.named("rule-1")).toMatchObject({ ruleId, rule: { metadata: { managedBy: text } } });
  });
});

describe("16. words of the program and of the user", () => {
  test("adopt with another id on a resource that has a state is not passed over", async () => {
    const world = await openWorld({ ruleIds: "sequential", allowDuplicates: true });
    const stack = new ModelStack(world);
    await good(stack.up({ a: { definition: rule(1) } }));
    const other = world.service.put(undefined, rule(1, { priority: 70 }));
    const before = world.service.rules();
    takenWrites(world);
    const { failures, text } = await stack.up({ a: { definition: rule(1), adopt: other } });
    if (failures.length > 0) {
      expect(text).toContain(other);
      expect(takenWrites(world)).toEqual([]);
      expect(world.service.rules()).toEqual(before);
      expect(stack.ids()).toEqual({ a: "1" });
      return;
    }
    expect(stack.ids()).toEqual({ a: other });
    expect(world.service.rules()).toContainEqual({ ruleId: other, rule: rule(1) });
  });

  test("each variable that a refusal names does what it says, whatever the connection is called", async () => {
    const world = await openWorld({ ...twoMerchants });
    const config = (token: string) => connectionsIn({ "shop-a": { baseUrl: world.service.url, token } });
    const program = { a: { definition: rule(1), connection: "shop-a" } };
    const stack = new ModelStack(world);
    await good(stack.up(program, { config: config("token-acme") }));
    const changed = { a: { definition: rule(1, { priority: 50 }), connection: "shop-a" } };
    const ended = await refused(stack.up(changed, { config: config("token-globex") }));
    const named = [...ended.text.matchAll(/\bMERCHANT_RULES_\w+/g)].map(([name]) => name);
    expect(named.filter((name) => !wordsOfTheStack.has(name))).toEqual([]);
    const run = { config: config("token-globex"), environment: wordIn(ended, "MOVED") };
    await good(stack.up(changed, run));
    expect(world.service.of("globex").rules()).toHaveLength(1);
    expect(world.service.of("acme").rules()).toHaveLength(1);
  });

  test("a word that is forgotten in the environment does not fit the next case", async () => {
    const world = await openWorld({ ...twoMerchants });
    const stack = new ModelStack(world);
    const program = (priority: number) => ({ a: { definition: rule(1, { priority }) } });
    await good(stack.up(program(1)));
    const ended = await refused(stack.up(program(2), { environment: otherToken }));
    const word = wordIn(ended, "MOVED");
    await good(stack.up(program(2), { environment: { ...otherToken, ...word } }));
    const rules = () => ["acme", "globex"].map((name) => world.service.of(name).rules());
    world.service.of("acme").put("1", rule(1, { priority: 9 }));
    const before = rules();
    // Back at the first merchant with the word still there.
    await refused(stack.up(program(3), { environment: word }), /MERCHANT_RULES_MOVED=/);
    expect(rules()).toEqual(before);
    await refused(stack.destroy({ environment: word }));
    expect(rules()).toEqual(before);
  });

  test("recover is said with the id of its case, and takes the rules of a killed first run", async () => {
    const world = await openWorld({ contract: marking });
    const lost = new ModelStack(world);
    await good(lost.up({ a: { definition: rule(1) } }));
    const before = world.service.rules();
    takenWrites(world);
    // The state, with its Owner, is lost.
    const stack = new ModelStack(world);
    const ended = await refused(stack.up({ a: { definition: rule(1) } }));
    expect(world.service.rules()).toEqual(before);
    await good(stack.up({ a: { definition: rule(1) } }, { environment: wordIn(ended, "RECOVER") }));
    expect(stack.ids()).toEqual({ a: before[0]?.ruleId });
    // Another owner id never stays in the mark: it is our own at once.
    expect(world.markOf("rule-1").startsWith(stack.ownerId)).toBe(true);
    expect(world.service.rules()).toHaveLength(1);
    expect(withoutBits(world.markOf("rule-1"))).toMatch(/ shop\/test\/a$/);
  });

  test("the engine's own hooks know the Owner and the Connection by the names that programs give", async () => {
    const world = await openWorld();
    const host = hooksHere("owner", sessionOf(world.environment));
    const { id, outs } = await host.create((await host.check({ names: "shop/test" })).inputs);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(outs).toMatchObject({ names: "shop/test", stateVersion: 3 });
    expect(await host.diff(id, outs, { names: "shop/test" })).toMatchObject({ replaces: [] });
  });
});

/** Variables of words for one run: they are the stack's, and have no connection's name. */
const wordsOfTheStack = new Set(["SAME", "MOVED", "RECOVER", "FORMER_NAMES"].map((word) => `MERCHANT_RULES_${word}`));
