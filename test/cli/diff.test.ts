import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { LocalService } from "../../local/service/index.ts";
import { type ContractInput, defineContract } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";
import { othersMarkBy } from "../support/rules.ts";
import { startService } from "../support/stack/service.ts";
import { command } from "./command.ts";

const contract = {
  version: 1,
  operations: {
    delete: { identifyBy: { in: "query", name: "ruleId" } },
    list: {
      path: "/api/v1/merchants/rules",
      items: "/rules",
      pagination: { type: "cursor", limit: "limit", cursor: "cursor", next: "/next" },
    },
  },
  rule: {
    naturalKey: "/name",
    unordered: ["/tags"],
    forms: [
      { at: "/name", is: "lower" },
      { at: "/amount", is: "decimal" },
      { at: "/token", is: "trimmed" },
    ],
    secret: ["/token"],
    owner: { at: "/managedBy" },
    foreign: [{ at: "/origin", is: ["service"] }],
    gone: [{ at: "/status", is: ["deleted"] }],
  },
  auth: { present: null },
  limits: { pageSize: 10 },
} satisfies ContractInput;

let sandbox: LocalService;
let production: LocalService;
let folder: string;

beforeAll(async () => {
  [sandbox, production] = await Promise.all([
    startService({ contract: defineContract(contract) }),
    // It answers values as they were sent.
    startService({ contract: defineContract({ ...contract, rule: { ...contract.rule, forms: [] } }) }),
  ]);
  const same = Array.from({ length: 25 }, (_, n) => ({ name: `same-${n}`, tags: ["x", "y"], amount: 10, token: "t" }));
  fill(sandbox, [
    ...same.map((rule) => ({ ...rule, managedBy: othersMarkBy("shop/sandbox/all") })),
    { name: "only-here", priority: 1 },
    { name: "changed", priority: 1, token: "hidden-1", gone: 1 },
    { name: "own", origin: "service" },
    { name: "dead", status: "deleted" },
    { priority: 7 },
    { name: "same-0" },
  ]);
  fill(production, [
    { name: "Changed", priority: 2, token: "hidden-2" },
    { name: "only-there" },
    ...same.map((_, n) => ({
      name: `Same-${n}`,
      tags: ["y", "x"],
      amount: "10.0",
      token: " t",
      managedBy: othersMarkBy("shop/production/all"),
    })),
  ]);
});

beforeEach(() => {
  folder = newFolder();
  write("merchant-rules.contract.yaml", JSON.stringify(contract));
  vi.stubEnv("MERCHANT_RULES_CONTRACT", undefined);
  vi.stubEnv("PULUMI_CONFIG_PASSPHRASE", "x");
});

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

function fill(service: LocalService, rules: readonly JsonObject[]): void {
  for (const rule of rules) service.put(undefined, rule);
}

function asConnections(): void {
  vi.stubEnv("MERCHANT_RULES_SANDBOX__BASE_URL", sandbox.url);
  vi.stubEnv("MERCHANT_RULES_PRODUCTION__BASE_URL", production.url);
}

const diff = (...words: readonly string[]) =>
  command("diff", "--from", "sandbox", "--to", "production", "--cwd", folder, "--engine", "local", ...words);

describe("merchant-rules diff", () => {
  test("compares two connections by natural key, without ids, owners, foreign and dead rules, in one pass each", async () => {
    asConnections();
    const [before, there] = [sandbox.requests.length, production.requests.length];
    const { code, stdout, stderr } = await diff();
    expect(stderr).toBe("");
    const withoutIds = stdout
      .replaceAll(/id \S+?(?=,|\n)/g, "id X")
      .replace(/only in sandbox {2}(?!same|only)\S+/, "only in sandbox  X")
      .replaceAll(/at 127\.0\.0\.1:\d+, read .* UTC/g, "at X, read T");
    expect(withoutIds.split("\n").toSorted()).toEqual(
      [
        "  < only in sandbox  X  it has no natural key (/name)",
        "  < only in sandbox  only-here  id X",
        "  < only in sandbox  same-0  id X, another rule there has the same natural key",
        "  > only in production  only-there  id X",
        "  ~ changed  changed",
        "      gone: 1 → (absent)",
        "      priority: 7",
        '      name: "only-here"',
        "      priority: 1",
        '      name: "same-0"',
        '      name: "only-there"',
        "      priority: 1 → 2",
        "      token: [secret] → [another secret]",
        "",
        "",
        "",
        "note: 1 rules are the service's own (rule.foreign), and are left out",
        "note: production at X, read T",
        "note: sandbox at X, read T",
        "Difference of sandbox and production: 3 only in sandbox, 1 only in production, 1 changed, 25 the same",
      ].toSorted(),
    );
    expect(code).toBe(7);
    for (const requests of [sandbox.requests.slice(before), production.requests.slice(there)]) {
      const operations = requests.map(({ operation }) => operation).filter((operation) => operation !== "list");
      // One shows whether the list has whole rules.
      expect(operations).toEqual(["get"]);
      expect(requests.length).toBeLessThanOrEqual(5);
    }
  });

  test("compares two stacks of a project", async () => {
    write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
    write("Pulumi.sandbox.yaml", `config:\n  merchant-rules:baseUrl: ${sandbox.url}\n`);
    write("Pulumi.production.yaml", `config:\n  merchant-rules:baseUrl: ${production.url}\n`);
    const { code, stdout } = await diff("--format", "json");
    expect(code).toBe(7);
    const report = JSON.parse(stdout);
    expect(report.sides).toEqual({ before: "sandbox", after: "production" });
    expect(report.counts).toEqual({ "only-in-from": 3, "only-in-to": 1, changed: 1 });
    expect(stdout).not.toContain("hidden-");
    asConnections();
    const ambiguous = await diff();
    expect(ambiguous.code).toBe(1);
    expect(ambiguous.stderr).toContain("sandbox is a stack of this project, and a connection as well");
    expect(ambiguous.stderr).toContain("What to do: write stack:sandbox or connection:sandbox");
    const words = ["--cwd", folder, "--engine", "local", "--stack", "production"];
    const said = await command("diff", "--from", "stack:sandbox", "--to", "connection:production", ...words);
    expect([said.code, said.stderr]).toEqual([7, ""]);
  });

  test("shows a rule with another natural key as one finding: by the marks, or where nothing else differs", async () => {
    const [one, other] = await Promise.all([1, 2].map(() => startService({ contract: defineContract(contract) })));
    if (one === undefined || other === undefined) throw new Error("there is no service");
    const by = (stack: string, key: string) => ({ managedBy: othersMarkBy(`shop/${stack}/all`, key) });
    fill(one, [
      { name: "large", priority: 1, ...by("sandbox", "large") },
      { name: "by-hand", tags: ["x", "y"], priority: 2 },
      { name: "twin-1", kind: "same" },
      { name: "bare" },
      { name: "own", priority: 3, ...by("sandbox", "own") },
    ]);
    fill(other, [
      { name: "huge", priority: 5, ...by("production", "large") },
      { name: "typed", tags: ["y", "x"], priority: 2 },
      { name: "twin-2", kind: "same" },
      { name: "twin-3", kind: "same" },
      { name: "naked" },
      { name: "another", priority: 3, ...by("production", "another") },
    ]);
    vi.stubEnv("MERCHANT_RULES_SANDBOX__BASE_URL", one.url);
    vi.stubEnv("MERCHANT_RULES_PRODUCTION__BASE_URL", other.url);
    const { code, stdout } = await diff();
    await Promise.all([one.close(), other.close()]);
    expect(code).toBe(7);
    expect(stdout).toContain("3 only in sandbox, 4 only in production, 2 changed, 0 the same");
    expect(stdout).toMatch(
      /renamed and changed {2}huge {2}name before: large[\s\S]*name: "large" → "huge"\n {6}priority: 1 → 5\n/,
    );
    expect(stdout).toMatch(/renamed and changed {2}typed {2}name before: by-hand\n {6}name: "by-hand" → "typed"\n/);
  });

  test("exits with 0 where the rules are the same", async () => {
    const twin = await startService({ contract: defineContract(contract) });
    fill(twin, [{ name: "only-there" }, { name: "changed", priority: 2, token: "hidden-2" }]);
    const other = await startService({ contract: defineContract(contract) });
    fill(other, [{ name: "changed", token: "hidden-2", priority: 2 }, { name: "only-there" }]);
    vi.stubEnv("MERCHANT_RULES_SANDBOX__BASE_URL", twin.url);
    vi.stubEnv("MERCHANT_RULES_PRODUCTION__BASE_URL", other.url);
    const same = await diff();
    await Promise.all([twin.close(), other.close()]);
    expect(same).toMatchObject({ code: 0, stderr: "" });
    expect(same.stdout).toMatch(/\nDifference of sandbox and production: none, 2 the same\n$/);
  });

  test("calls rules by their ids where the natural key lies inside what a contract calls secret", async () => {
    const secretive = { ...contract, rule: { ...contract.rule, naturalKey: "/card/holder", secret: ["/card"] } };
    const [one, other] = await Promise.all([1, 2].map(() => startService({ contract: defineContract(secretive) })));
    if (one === undefined || other === undefined) throw new Error("there is no service");
    fill(one, [{ card: { holder: "hidden-1" } }, { card: { holder: "hidden-2" }, priority: 1 }]);
    fill(other, [{ card: { holder: "hidden-2" }, priority: 2 }, { card: { holder: "hidden-3" } }]);
    vi.stubEnv("MERCHANT_RULES_SANDBOX__BASE_URL", one.url);
    vi.stubEnv("MERCHANT_RULES_PRODUCTION__BASE_URL", other.url);
    // The whole parent is secret to both; then the key itself is, and only one side says so.
    for (const secret of [["/card"], ["/card/holder"]]) {
      write("secret.yaml", JSON.stringify({ ...secretive, rule: { ...secretive.rule, secret } }));
      write("open.yaml", JSON.stringify({ ...secretive, rule: { ...secretive.rule, secret: [] } }));
      for (const [sandboxHas, productionHas] of [
        ["secret.yaml", "secret.yaml"],
        ["open.yaml", "secret.yaml"],
      ]) {
        vi.stubEnv("MERCHANT_RULES_SANDBOX__CONTRACT", sandboxHas);
        vi.stubEnv("MERCHANT_RULES_PRODUCTION__CONTRACT", productionHas);
        const { code, stdout, stderr } = await diff();
        expect([code, stderr]).toEqual([7, ""]);
        expect(stdout).not.toContain("hidden-");
        expect(stdout).toContain("1 only in sandbox, 1 only in production, 1 changed, 0 the same");
        expect(stdout).toContain("priority: 1 → 2");
      }
    }
    await Promise.all([one.close(), other.close()]);
  });

  test("refuses an environment that is neither stack nor connection", async () => {
    const { code, stderr } = await diff();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: find environment sandbox failed: there is no stack file Pulumi\.sandbox\.yaml/);
    expect(stderr).toContain("MERCHANT_RULES_SANDBOX__BASE_URL");
  });

  test("names the stacks that there are, where one is misspelt and none is chosen", async () => {
    write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
    write("Pulumi.sandbox.yaml", `config:\n  merchant-rules:baseUrl: ${sandbox.url}\n`);
    write("Pulumi.live.yaml", `config:\n  merchant-rules:baseUrl: ${production.url}\n`);
    const { code, stderr } = await diff("--engine", "local");
    expect(code).toBe(1);
    expect(stderr).toContain(
      "error: find environment production failed: there is no stack file Pulumi.production.yaml in the project's folder, and no stack is chosen that could have a connection production. What to do: name a stack that has such a file (stacks with a file: live, sandbox); or, with --stack, the stack whose connection it is",
    );
    const chosen = await diff("--engine", "local", "--stack", "sandbox");
    expect(chosen.stderr).toContain("stack sandbox has no connection production. What to do: ");
    expect(chosen.stderr).toContain("(stacks with a file: live, sandbox)");
  });

  test("refuses two names of one place", async () => {
    vi.stubEnv("MERCHANT_RULES_SANDBOX__BASE_URL", sandbox.url);
    vi.stubEnv("MERCHANT_RULES_PRODUCTION__BASE_URL", sandbox.url);
    const { code, stderr } = await diff();
    expect(code).toBe(1);
    expect(stderr).toContain(`both are the same place, ${sandbox.url}. What to do: `);
  });

  test.each([
    ["operations.list", { ...contract, operations: { ...contract.operations, list: null } }],
    ["rule.naturalKey", { ...contract, rule: { ...contract.rule, naturalKey: null } }],
  ])("refuses a contract without %s", async (lacks, poor) => {
    asConnections();
    write("merchant-rules.contract.yaml", JSON.stringify(poor));
    const { code, stderr } = await diff();
    expect(code).toBe(1);
    expect(stderr).toContain(`the contract of sandbox has no ${lacks}. What to do: set ${lacks} in the contract`);
  });

  test("says which service cannot be reached", async () => {
    asConnections();
    vi.stubEnv("MERCHANT_RULES_PRODUCTION__BASE_URL", "http://127.0.0.1:9");
    const { code, stdout, stderr } = await diff();
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/list rules on connection "production" failed/);
  });
});
