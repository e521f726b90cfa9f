import { AssertionError } from "node:assert";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Config, secret } from "@pulumi/pulumi";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startWorld, type World, type WorldOptions } from "../../../local/testing/index.ts";
import { listMerchantRules, MerchantRule, MerchantRuleSet } from "../../../provider/index.ts";
import { root } from "../../docs/page.ts";
import { newFolder } from "../../support/folder.ts";

async function open(options: WorldOptions): Promise<World> {
  const world = await startWorld(options);
  onTestFinished(() => world.close());
  return world;
}

/** One rule and a set of two. `priority` is that of the rule and of the set's second. */
function rulesWith(priority: () => number) {
  return () => {
    const one = new MerchantRule("one", { definition: { name: "one", priority: priority() } });
    const rules = { a: { name: "a", priority: 1 }, b: { name: "b", priority: priority() } };
    return { one: one.ruleId, all: new MerchantRuleSet("all", { rules }).ruleIds };
  };
}

describe("a world with a function as its program", () => {
  test("decides payments by what is at the service, as the contract's semantics say", async () => {
    const rule = (
      name: string,
      priority: number,
      type: string,
      conditions: { field: string; operator: string; value: string | number }[],
    ) => ({
      definition: { name, priority, isActive: true, conditions, actions: [{ type }] },
    });
    const world = await open({
      program: () => {
        new MerchantRule("large", rule("large", 2, "decline", [{ field: "amount", operator: "gt", value: 500 }]));
        new MerchantRule("abroad", rule("abroad", 1, "review", [{ field: "country", operator: "ne", value: "DE" }]));
      },
    });
    expect(world.decide({ amount: 501 })).toMatchObject({ outcome: "accept", by: [], isUnknown: false });
    await world.up();
    expect(world.decide({ amount: 501, country: "FR" })).toMatchObject({
      outcome: "decline",
      outcomes: ["decline"],
      by: ["large"],
    });
    expect(world.decide({ amount: 500, country: "FR" })).toMatchObject({ outcome: "review", by: ["abroad"] });
    const { text, ...unknown } = world.decide({ amount: 500 });
    expect(unknown).toEqual({ outcome: undefined, outcomes: ["accept", "review"], isUnknown: true, by: ["abroad"] });
    expect(text).toContain("the payment has no country");
    world.edit({ name: "large" }, { isActive: false });
    expect(world.decide({ amount: 501, country: "DE" })).toMatchObject({ outcome: "accept", by: [] });
    const other = await open({ program: () => ({}), contract: "seed" });
    expect(() => other.decide({})).toThrow(/does not say what its rules mean/);
  });

  test("plans, applies and repeats without changes; the plan is by rule, inside a set, too", async () => {
    let priority = 10;
    const world = await open({ program: rulesWith(() => priority) });
    const first = await world.preview();
    expect(first.rules).toEqual([
      { step: "create", key: "a", resource: "MerchantRuleSet all", paths: [] },
      { step: "create", key: "b", resource: "MerchantRuleSet all", paths: [] },
      { step: "create", key: "one", resource: "MerchantRule one", paths: [] },
    ]);
    expect(world.rules()).toEqual([]);
    const { outputs } = await world.up();
    expect(Object.keys(outputs).sort()).toEqual(["all", "one"]);
    expect(world.rules().map(({ rule }) => rule.name)).toEqual(expect.arrayContaining(["one", "a", "b"]));
    await world.expectNoChanges();
    priority = 20;
    const { rules, unchanged } = await world.preview();
    const paths = [{ path: "priority", before: 10, after: 20 }];
    expect(rules).toMatchObject([
      { step: "update", key: "b", paths },
      { step: "update", key: "one", paths },
    ]);
    expect(unchanged).toBe(1);
    const error = await world.expectNoChanges().catch((each: unknown) => each);
    expect(error).toBeInstanceOf(AssertionError);
    expect(error).toMatchObject({ message: expect.stringContaining("priority: 10 → 20"), expected: [] });
    const gone = await world.up({ program: () => {} });
    expect(gone.rules.map(({ step }) => step)).toEqual(["delete", "delete", "delete"]);
    expect(world.rules()).toEqual([]);
  });

  test("shows drift by hand, and up brings the rules back", async () => {
    const world = await open({ program: rulesWith(() => 10) });
    await world.up();
    await world.expectNoDrift();
    world.edit({ name: "a" }, { priority: 99 });
    world.remove({ name: "b" });
    const ruleId = world.add({ name: "by hand" });
    const { rules, unchanged } = await world.drift();
    expect(rules).toMatchObject([
      { step: "missing", key: "b" },
      { step: "changed", key: "a", paths: [{ path: "priority", before: 1, after: 99 }] },
      { step: "unmanaged", key: "by hand", ruleId },
    ]);
    expect(unchanged).toBe(1);
    await expect(world.expectNoDrift()).rejects.toThrow(/expected no drift, found:.*by hand/s);
    world.remove(ruleId);
    await world.up({ refresh: true });
    await world.expectNoDrift();
    expect(() => world.edit({ name: "nobody" }, {})).toThrow(
      /no rule at the service has \{ name: 'nobody' \}.*\(one\)/,
    );
    expect(() => world.remove({})).toThrow(/^3 rules at the service have/);
  });

  test("fails with a fault, says which, and recovers without it", async () => {
    const world = await open({ program: rulesWith(() => 10) });
    world.fault({ kind: "status", status: 403, operations: ["create"], times: "always" });
    await expect(world.up()).rejects.toThrow(/^up failed: .*403/s);
    expect(world.rules()).toEqual([]);
    world.clearFaults();
    await world.up();
    await world.expectNoChanges();
    expect(world.rules()).toHaveLength(3);
  });

  test("gets config and secrets; a secret is plain in outputs, and masked in the plan", async () => {
    const world = await open({
      config: { limit: 5, "other:list": ["x"] },
      secrets: { key: "hush" },
      program: () => {
        const config = new Config();
        const definition = { name: "one", limit: config.requireNumber("limit"), key: config.requireSecret("key") };
        new MerchantRule("one", { definition });
        return { list: new Config("other").requireObject("list"), key: definition.key, made: secret(1) };
      },
    });
    expect((await world.up()).outputs).toEqual({ list: ["x"], key: "hush", made: 1 });
    expect(world.rules()).toEqual([{ ruleId: "1", rule: { name: "one", limit: 5, key: "hush" } }]);
    const { rules, text } = await world.preview({ config: { limit: 6 } });
    expect(rules).toMatchObject([{ step: "update", paths: [{ path: "limit", before: 5, after: 6 }] }]);
    expect(text).not.toContain("hush");
    await world.expectNoChanges();
  });

  test("that fails gives its own words; nothing is deleted, and the next run goes on", async () => {
    const world = await open({ program: rulesWith(() => 10) });
    await world.up();
    const thrown = new TypeError("no such folder");
    const fail = async () => {
      throw thrown;
    };
    await expect(world.up({ program: fail })).rejects.toMatchObject({
      code: "PROGRAM_FAILED",
      message: "up failed: the program failed: no such folder",
      cause: thrown,
    });
    const twice = () => {
      rulesWith(() => 10)();
      rulesWith(() => 10)();
    };
    await expect(world.up({ program: twice })).rejects.toThrow(/there are two resources with the URN/);
    expect(world.rules()).toHaveLength(3);
    await world.expectNoChanges();
  });

  test("sees no environment by which it would reach a real service", async () => {
    vi.stubEnv("MERCHANT_RULES_BASE_URL", "https://rules.example.com");
    const world = await open({ program: () => {} });
    await expect(world.preview()).rejects.toThrow(
      /What to do: unset MERCHANT_RULES_BASE_URL for the tests, or give the program as a file/,
    );
    vi.unstubAllEnvs();
    await world.expectNoChanges();
    const led = { "merchant-rules:baseUrl": "https://rules.example.com" };
    await expect(world.preview({ config: led })).rejects.toThrow(/merchant-rules:baseUrl.*a service of its own/);
    await expect(open({ program: () => {}, env: { MERCHANT_RULES_OTHER__BASE_URL: "https://x" } })).rejects.toThrow(
      /a service of its own/,
    );
  });
});

describe("two worlds at once", () => {
  test("have rules, state and readings of their own, and leave nothing behind", async () => {
    // Other test files have worlds in the usual one.
    const temporary = newFolder();
    vi.stubEnv("TMPDIR", temporary);
    const before = { cwd: process.cwd(), environment: { ...process.env } };
    const program = (name: string) => async () => {
      new MerchantRule(name, { definition: { name } });
      return { seen: (await listMerchantRules<{ name: string }>()).map(({ rule }) => rule.name) };
    };
    const names = ["left", "right"];
    const worlds = await Promise.all(names.map((name) => startWorld({ program: program(name) })));
    expect(readdirSync(temporary)).toHaveLength(2);
    await Promise.all(worlds.map((world) => world.up()));
    const again = await Promise.all(worlds.map((world) => world.up()));
    expect(again.map(({ outputs }) => outputs)).toEqual([{ seen: ["left"] }, { seen: ["right"] }]);
    expect(worlds.map((world) => world.rules().map(({ rule }) => rule.name))).toEqual([["left"], ["right"]]);
    const [left, right] = worlds;
    const running = left?.up().catch((error: unknown) => error);
    await left?.close();
    await left?.close();
    expect(await running).toBeInstanceOf(Error);
    await expect(left?.preview()).rejects.toThrow(/the world is closed/);
    await expect(fetch(left?.service.url ?? "")).rejects.toThrow();
    await right?.expectNoChanges();
    await right?.[Symbol.asyncDispose]();
    expect(readdirSync(temporary)).toEqual([]);
    expect({ cwd: process.cwd(), environment: { ...process.env } }).toEqual(before);
  });
});

describe("a world with a file as its program", () => {
  test("runs TypeScript and JavaScript without a Pulumi.yaml, and folders with one, whose own stacks it does not touch", async () => {
    // Below the repository, so that the program finds its packages.
    const folder = mkdtempSync(join(root, "test/local/testing/.programs-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    write("package.json", '{ "type": "module" }');
    const body = 'import { MerchantRule } from "pulumi-merchant-rules";\nexport const where';
    const rule = 'new MerchantRule("one", { definition: { name: "one" } });';
    const typed = write("typed.ts", `${body}: string | undefined = process.env.MERCHANT_RULES_BASE_URL;\n${rule}`);
    const world = await open({ program: typed, contract: { version: 1 } });
    vi.stubEnv("MERCHANT_RULES_BASE_URL", "https://rules.example.com");
    expect((await world.up()).outputs).toEqual({});
    expect(world.rules()).toEqual([{ ruleId: "1", rule: { name: "one" } }]);
    const broken = write("broken.js", "console.log('so far');\nthrow new Error('boom');");
    const failure = await world.preview({ program: broken }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: expect.stringMatching(/^preview failed: .*boom/s) });
    write("Pulumi.yaml", "name: shop\nruntime: { name: nodejs, options: { typescript: false } }\nmain: typed.ts\n");
    write("Pulumi.test.yaml", "config:\n  merchant-rules:baseUrl: https://rules.example.com\n");
    const files = readdirSync(folder).sort();
    await world.expectNoChanges({ program: folder });
    expect(readdirSync(folder).sort()).toEqual(files);
  });

  test("says what is wrong with a program that there is not", async () => {
    await expect(open({ program: "no-such-folder" })).rejects.toThrow(
      /no-such-folder.*there is no such file or folder.*What to do: give the folder of a Pulumi.yaml/s,
    );
    await expect(open({ program: tmpdir() })).rejects.toThrow(/there is no Pulumi.yaml in it/);
    expect(existsSync("no-such-folder")).toBe(false);
  });
});

test("each further connection has rules of its own", async () => {
  const world = await open({
    connections: ["sandbox"],
    program: () => {
      new MerchantRule("one", { definition: { name: "one" } });
      new MerchantRule("two", { definition: { name: "two", priority: 2 }, connection: "sandbox" });
    },
  });
  await world.up();
  expect(world.rules().map(({ rule }) => rule)).toEqual([{ name: "one" }]);
  expect(world.rules("sandbox").map(({ rule }) => rule)).toEqual([{ name: "two", priority: 2 }]);
  world.edit({ name: "two" }, (rule) => ({ ...rule, priority: 1 }), "sandbox");
  expect((await world.drift()).rules).toMatchObject([{ step: "changed", key: "two", connection: "sandbox" }]);
});

test("a contract that presents client id and secret has them, for one connection", async () => {
  const program = (): void => void new MerchantRule("one", { definition: { name: "one" } });
  const world = await open({ contract: "wiremock", program });
  await world.up();
  await world.expectNoChanges();
  expect(world.rules().map(({ rule }) => rule.name)).toEqual(["one"]);
  await expect(open({ contract: "wiremock", connections: ["sandbox"], program })).rejects.toThrow(
    /presents client id and secret.*What to do: leave the option connections out/,
  );
});
