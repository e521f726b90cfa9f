import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import type { ExportedRule } from "../../cli/export/exported-rule.ts";
import { importOfSet } from "../../cli/export/import-file.ts";
import { setProgram } from "../../cli/export/program.ts";
import { secretsOf } from "../../cli/export/secrets.ts";
import { loadRules } from "../../provider/index.ts";
import { linkIn } from "../../provider/merchant/site.ts";
import { stateVersion } from "../../provider/state/state.ts";
import { type ContractInput, loadPreset } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";
import { marking, othersMarkBy, rule } from "../support/rules.ts";
import { serve } from "../support/stack/service.ts";
import { type Ran, run } from "./command.ts";

const preset = loadPreset("illustrative");
const { schema: _, ...freeRule } = preset.rule;

/** A service with rules made by hand, and an empty folder, or a project on the local engine. */
async function opened(rules: readonly JsonObject[], contract?: ContractInput, { isProject = true } = {}) {
  const served = await serve(contract);
  const folder = newFolder(isProject ? { "Pulumi.yaml": "name: existing\nruntime: nodejs\n" } : {});
  const backend = newFolder();
  const ids = rules.map((each) => served.service.put(undefined, each));
  served.service.resetRequests();
  const environment: Record<string, string> = {
    ...served.environment,
    PULUMI_BACKEND_URL: pathToFileURL(backend).href,
  };
  const merchantRules = (...argv: string[]): Promise<Ran> => run(argv, environment);
  const exports = (...argv: string[]): Promise<Ran> =>
    merchantRules("export", "--cwd", folder, "--out", folder, "--engine", "local", ...argv);
  const fileOf = (name: string): string => join(folder, name);
  return {
    service: served.service,
    folder,
    backend,
    environment,
    ids,
    exports,
    merchantRules,
    fileOf,
    read: (name: string) => readFileSync(fileOf(name), "utf8"),
    imported: () => JSON.parse(readFileSync(fileOf("import.json"), "utf8")),
  };
}

const plainFields = ({ service }: { service: { rules(): { rule: JsonObject }[] } }): JsonObject =>
  Object.fromEntries(service.rules().map(({ rule: each }) => [String(each.name), each]));

describe("merchant-rules export", () => {
  test("writes a file a rule, a program with one set, the schema beside, and what pulumi import takes", async () => {
    const stack = await opened([rule(1), rule(2)]);
    const { code, stdout } = await stack.exports();
    expect(code, stdout).toBe(0);
    expect(stack.service.requests.map(({ method, operation }) => `${method} ${operation}`)).toEqual([
      "GET list",
      "GET get",
    ]);
    expect(readdirSync(stack.folder).sort()).toEqual([
      "Pulumi.yaml",
      "import.json",
      "rule.schema.json",
      "rules",
      "rules.ts",
    ]);
    expect(loadRules(stack.fileOf("rules"))).toEqual(plainFields(stack));
    expect(stack.read("rules/rule-1.yaml")).toMatch(
      /^# yaml-language-server: \$schema=\.\.\/rule\.schema\.json\nname: rule-1\n/,
    );
    expect(JSON.parse(stack.read("rule.schema.json"))).toEqual(preset.rule.schema);
    expect(stack.read("rules.ts")).toContain('new MerchantRuleSet("rules", {\n  rules: loadRules("rules"),\n});');
    const codeOf = (hooks: string): string => `exports.handler=()=>require("pulumi-merchant-rules/provider").${hooks}`;
    const [{ id: ownerId }, { outputs: connection }] = stack.imported().resources;
    expect(ownerId).toMatch(/^[0-9a-f]{32}$/);
    const { link } = connection;
    const at = `default ${linkIn(link)?.site.key} - ${stack.service.url}`;
    expect(link).toBe(`${ownerId} existing/dev ${at}`);
    const ownerInputs = { names: "existing/dev", __provider: codeOf("owner") };
    const connectionInputs = {
      connection: "default",
      owner: ownerId,
      ownerNames: "existing/dev",
      names: "existing/dev",
      address: stack.service.url,
      __provider: codeOf("connection"),
    };
    const setInputs = {
      __provider: codeOf("merchantRuleSet"),
      __owner: { "existing/dev/rules": null },
      __connection: link,
      rules: plainFields(stack),
    };
    const ruleIds = { "rule-1": stack.ids[0], "rule-2": stack.ids[1] };
    expect(stack.imported()).toEqual({
      resources: [
        {
          type: "pulumi-nodejs:dynamic/merchant-rules:Owner",
          name: "owner",
          id: ownerId,
          inputs: ownerInputs,
          outputs: { ...ownerInputs, stateVersion },
        },
        {
          type: "pulumi-nodejs:dynamic/merchant-rules:Connection",
          name: "default",
          id: "default",
          inputs: connectionInputs,
          outputs: { ...connectionInputs, link, stateVersion },
        },
        {
          type: "pulumi-nodejs:dynamic/merchant-rules:MerchantRuleSet",
          name: "rules",
          id: expect.stringMatching(/^set-[0-9a-f-]{36}$/),
          inputs: setInputs,
          outputs: { ...setInputs, ruleIds, at, stateVersion },
        },
      ],
    });
    expect(stdout).toContain("Not in the definitions, because the service sets them: /id, /createdAt, /updatedAt");
    const commands = stdout.split("\n").filter((line) => line.startsWith("  npx"));
    expect(commands).toEqual([
      "  npx --no-install merchant-rules local import --file import.json --yes --stack dev",
      "  npx --no-install merchant-rules local preview --expect-no-changes --stack dev",
      "  npx --no-install merchant-rules local refresh --preview-only --expect-no-changes --stack dev",
    ]);
  });

  test("uses what Pulumi.yaml configures, where the local engine has no stack yet", async () => {
    const stack = await opened([rule(1)]);
    const { MERCHANT_RULES_CONTRACT: _contract, ...environment } = stack.environment;
    const config = "config:\n  merchant-rules:contract: { value: illustrative }\n";
    writeFileSync(stack.fileOf("Pulumi.yaml"), `name: existing\nruntime: nodejs\n${config}`);
    const argv = ["export", "--cwd", stack.folder, "--out", stack.folder, "--engine", "local"];
    expect((await run(argv, environment)).code).toBe(0);
    expect(readdirSync(stack.fileOf("rules"))).toEqual(["rule-1.yaml"]);
  });

  test("names the first stack of a project, which does not exist yet", async () => {
    const stack = await opened([rule(1)]);
    const environment = { ...stack.environment, MERCHANT_RULES_CONTRACT: "illustrative" };
    const argv = ["export", "--cwd", stack.folder, "--out", stack.folder, "--engine", "local", "--stack", "first"];
    const { code, stdout, stderr } = await run(argv, environment);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("local import --file import.json --yes --stack first");
  });

  test("refuses a field that no program can declare, by the name that --exclude takes, and a folder that takes no files", async () => {
    const stack = await opened([rule(1), JSON.parse('{ "name": "a|b", "more": { "__proto__": 1 } }')]);
    const { code, stderr } = await stack.exports();
    expect(code).toBe(1);
    expect(stderr).toContain(`a|b (${stack.ids[1]}): more.__proto__ cannot be declared`);
    expect((await stack.exports("--exclude", "a|b")).code).toBe(0);
    const file = stack.fileOf("rules.ts");
    const below = await stack.exports("--exclude", "a|b", "--out", `${file}/below`);
    expect(below.code).toBe(1);
    expect(below.stderr).toMatch(
      /write .* failed: E[A-Z]+.*What to do: give a folder that can be written to with --out/,
    );
  });

  test("writes over no program and no import file of an export of other rules, not even with --force", async () => {
    const stack = await opened([rule(1), rule(2)]);
    const lost =
      /is of an export of other rules, too, and would lose 1 rule; nothing was written\. What to do: export all/;
    for (const form of ["files", "program"]) {
      expect((await stack.exports("--as", form, "--force")).code).toBe(0);
      const before = [stack.read("rules.ts"), stack.read("import.json")];
      const part = ["--as", form, "--include", "rule-2", "--force"];
      expect(await stack.exports(...part)).toMatchObject({ code: 1, stderr: expect.stringMatching(lost) });
      // A program alone, as it is written outside of a project.
      rmSync(stack.fileOf("import.json"));
      const alone = await stack.exports(...part);
      expect(alone.code === 1 || stack.read("rules.ts") === before[0]).toBe(true);
      writeFileSync(stack.fileOf("import.json"), before[1] ?? "");
      expect([stack.read("rules.ts"), stack.read("import.json")]).toEqual(before);
      expect((await stack.exports(...part, "--out", stack.fileOf(`only-${form}`))).code).toBe(0);
      expect((await stack.exports(...part, "--out", stack.fileOf(`only-${form}`))).code).toBe(0);
    }
  });

  test("writes the same again, and only with --force over what is there", async () => {
    const stack = await opened([rule(1), rule(2)]);
    await stack.exports();
    const files = (): string[] => ["rules/rule-1.yaml", "rules.ts", "import.json"].map(stack.read);
    const before = files();
    const keysOf = (): string[] => {
      const [{ id }, { outputs }] = stack.imported().resources;
      return [id, linkIn(outputs.link)?.site.key ?? ""];
    };
    const [ownerId = "", key = ""] = keysOf();
    writeFileSync(stack.fileOf("rules/mine.yaml"), "name: mine");
    rmSync(stack.fileOf("rules/rule-2.yaml"));
    const { code, stderr } = await stack.exports();
    expect(code).toBe(1);
    expect(stderr).toContain(`these files exist already, so nothing was written: ${stack.fileOf("rules/rule-1.yaml")}`);
    expect(stderr).toContain(stack.fileOf("rules/mine.yaml"));
    expect(existsSync(stack.fileOf("rules/rule-2.yaml"))).toBe(false);
    const forced = await stack.exports("--force");
    expect(forced.code).toBe(0);
    expect(forced.stdout).toContain("Not of this export, but loadRules reads them too:\n  rules/mine.yaml");
    // Whose the rules are is made up at random as long as no state has it.
    const [another = "", anotherKey = ""] = keysOf();
    expect(another).not.toBe(ownerId);
    expect(files()).toEqual(before.map((text) => text.replaceAll(ownerId, another).replaceAll(key, anotherKey)));
  });

  test("writes one program with a resource a rule", async () => {
    const stack = await opened([rule(1), { name: "eu/1", odd: { __proto__x: [1, { a: null }] } }]);
    const { code, stdout } = await stack.exports("--as", "program");
    expect(code, stdout).toBe(0);
    expect(stdout).toContain(`Names that are not the rules' own:\n  "eu/1" (${stack.ids[1]}) is eu-1:`);
    expect(readdirSync(stack.folder).sort()).toEqual(["Pulumi.yaml", "import.json", "rules.ts"]);
    const program = stack.read("rules.ts");
    expect(program).toContain(
      'new MerchantRule("eu-1", {\n  definition: {\n    name: "eu/1",\n    odd: { __proto__x: [1, { a: null }] },\n  },\n});',
    );
    expect(stack.imported().resources).toMatchObject([
      { name: "owner" },
      { name: "default" },
      { name: "eu-1", id: stack.ids[1], outputs: { ruleId: stack.ids[1], __owner: { "existing/dev/eu-1": null } } },
      { name: "rule-1", id: stack.ids[0], inputs: { definition: rule(1) } },
    ]);
  });

  test("takes the rules whose names globs include, and not those that they exclude", async () => {
    const stack = await opened(["eu/a", "eu/b", "us/a", "#x"].map((name) => ({ name })));
    const { code, stdout } = await stack.exports("--include", "eu*", "#x", "--exclude", "*b");
    expect(code).toBe(0);
    expect(stdout).toContain("Exported 2 of 4 rules");
    expect(stdout).toContain("Passed over: 1 rule: left out by --exclude\nPassed over: 1 rule: not in --include");
    expect(readdirSync(stack.fileOf("rules")).sort()).toEqual(["eu-a.yaml", "x.yaml"]);
  });

  test("knows ids by the same patterns as an ignore file, in which all but * and ? is itself", async () => {
    const stack = await opened(["[a]", "a", "{a,b}", "c"].map((name) => ({ name })));
    const { code, stdout } = await stack.exports("--include", "[a]", "{a,?}", `id:${stack.ids[3]}`);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("Exported 3 of 4 rules") });
    expect(stack.imported().resources[2]).toMatchObject({ outputs: { rules: { c: { name: "c" } } } });
  });

  test("leaves out the dead, the service's own, what has anybody's mark, and what a write would take a text from", async () => {
    const contract: ContractInput = {
      ...marking,
      rule: {
        ...marking.rule,
        gone: [{ at: "/status", is: ["deleted"] }],
        foreign: [{ at: "/kind", is: ["system"] }],
      },
    };
    const stack = await opened(
      [
        rule(1, { metadata: { managedBy: "", team: "risk" } }),
        rule(2, { status: "deleted" }),
        rule(3, { kind: "system" }),
        rule(4, { metadata: { managedBy: othersMarkBy("other/prod/rules", "rule-4") } }),
        rule(5, { status: "live" }),
        rule(6, { metadata: { managedBy: othersMarkBy("existing/dev/old", "rule-6") } }),
        rule(7, { metadata: { managedBy: "ask Ann" } }),
      ],
      contract,
    );
    const { code, stdout } = await stack.exports();
    expect(code, stdout).toBe(0);
    expect(loadRules(stack.fileOf("rules"))).toEqual({
      "rule-1": rule(1, { metadata: { team: "risk" } }),
      "rule-5": rule(5, { status: "live" }),
    });
    expect(stdout).toContain("Exported 2 of 6 rules");
    expect(stdout).toContain('1 rule: managed by "other/prod/rules", as the mark says');
    expect(stdout).toContain('1 rule: managed by "existing/dev/old", as the mark says');
    expect(stdout).toContain("1 rule: /metadata/managedBy holds somebody's own text");
    expect(stdout).toContain("1 rule: the service's own (rule.foreign in the contract)");
    // None was there, and that is what the state says.
    expect(stack.imported().resources[2].outputs).not.toHaveProperty("marks");
  });

  test("counts natural keys as one that the service stores as one", async () => {
    const forms = [
      { at: "/name", is: "lower" as const },
      { at: "/priority", is: "decimal" as const },
    ];
    const stack = await opened([rule(1), rule(2, { name: "Rule-2" }), rule(3, { name: "RULE-1" })], {
      ...preset,
      rule: { ...freeRule, forms },
    });
    const refused = await stack.exports();
    expect(refused.stderr).toMatch(/two rules with one natural key .*\n +"rule-1": /);
    const { code, stdout } = await stack.exports("--exclude", `id:${stack.ids[2]}`);
    expect(code, stdout).toBe(0);
    expect(loadRules(stack.fileOf("rules"))).toMatchObject({ "rule-1": { priority: "1.00" }, "rule-2": {} });
  });

  test("gives a program that adopts the rules where there is no project for an import.json", async () => {
    const stack = await opened([rule(1)], undefined, { isProject: false });
    const { code, stdout } = await stack.exports();
    expect(code, stdout).toBe(0);
    expect(existsSync(stack.fileOf("import.json"))).toBe(false);
    expect(stdout).toContain("There is no import.json, because no project is here: give --stack");
    expect(stack.read("rules.ts")).toContain('rules: loadRules("rules"),\n  adopt: true,');
  });

  test("declares more than 1,000 rules as texts, and the import has the very texts of the program", async () => {
    const stack = await opened(Array.from({ length: 1001 }, (_, k) => rule(k)));
    const { code, stdout } = await stack.exports();
    expect(code, stdout).toBe(0);
    expect(stack.read("rules.ts")).toContain('rules: loadRules("rules", { as: "texts" }),');
    const texts = loadRules(join(stack.folder, "rules"), { as: "texts" });
    expect(Object.keys(texts)).toHaveLength(1001);
    expect(stack.imported().resources[2]).toMatchObject({ inputs: { rules: texts }, outputs: { rules: texts } });
  });

  test("reads over a named connection, and declares it", async () => {
    const stack = await opened([rule(1)]);
    const { MERCHANT_RULES_BASE_URL: url = "", MERCHANT_RULES_TOKEN: token = "" } = stack.environment;
    const environment = {
      ...stack.environment,
      MERCHANT_RULES_SANDBOX__BASE_URL: url,
      MERCHANT_RULES_SANDBOX__TOKEN: token,
    };
    const argv = [
      "export",
      "--cwd",
      stack.folder,
      "--out",
      stack.folder,
      "--engine",
      "local",
      "--connection",
      "sandbox",
    ];
    expect((await run(argv, environment)).code).toBe(0);
    expect(stack.read("rules.ts")).toContain('connection: "sandbox"');
    const of = { inputs: { connection: "sandbox" }, outputs: { connection: "sandbox" } };
    expect(stack.imported().resources).toMatchObject([
      { name: "owner" },
      { ...of, name: "sandbox", id: "sandbox" },
      { ...of, name: "rules" },
    ]);
  });
});

describe("secrets in an export", () => {
  test("leave their rules objects, where the others are texts", () => {
    const rules = Array.from({ length: 1001 }, (_, k): ExportedRule => {
      const definition = rule(k, k === 5 ? { pin: "hush" } : {});
      return { key: `r${k}`, ruleId: `${k}`, definition, secrets: k === 5 ? [["pin"]] : [] };
    });
    const secrets = secretsOf(rules, ({ definition }) => definition.pin ?? null);
    const program = setProgram({ rules, secrets, connection: undefined }, "rules", undefined);
    expect(program).toContain("loadRules, MerchantRuleSet, ruleTexts }");
    expect(program).toContain("rules: ruleTexts(definitions),");
    const site = { connection: "default", address: "https://a.test", key: null, identity: null };
    const into = {
      project: "p",
      stack: "s",
      connection: undefined,
      link: { ownerId: "0".repeat(32), names: "p/s", site },
      site,
      isOwnerNew: false,
      made: undefined,
    };
    const { text } = importOfSet(rules, { ...into, encrypt: () => "(encrypted)" });
    expect(text).not.toContain("hush");
    const [{ inputs, outputs }] = JSON.parse(text).resources;
    for (const { rules: imported } of [inputs, outputs]) {
      expect(imported.r5).toMatchObject({ name: "rule-5", pin: { ciphertext: "(encrypted)" } });
      expect(JSON.parse(imported.r6)).toEqual(rule(6));
    }
  });

  const contract: ContractInput = { ...preset, rule: { ...freeRule, secret: ["/webhook/token"] } };
  const withToken = (k: number, token: string): JsonObject => rule(k, { webhook: { token, url: "https://x" } });
  const everything = (folder: string): string =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
      .join("\n");

  test("are in no file and no output: they come from config, and such rules are adopted", async () => {
    const stack = await opened([withToken(1, "hidden-1"), rule(2)], contract);
    for (const form of ["files", "program"]) {
      const { code, stdout } = await stack.exports("--as", form, "--force");
      expect(code, stdout).toBe(0);
      expect(stdout + everything(stack.folder)).not.toContain("hidden-1");
      expect(stdout).toContain("pulumi config set --secret rule-1-webhook-token --stack dev");
      expect(stdout).toContain("would show secrets (rule.secret)");
    }
    expect(stack.imported().resources.map(({ name }: { name: string }) => name)).toEqual([
      "owner",
      "default",
      "rule-2",
    ]);
    expect(stack.read("rules.ts")).toMatch(/token: config\.requireSecret\("rule-1-webhook-token"\).*adopt: "/s);
    expect(loadRules(stack.fileOf("rules"))["rule-1"]?.webhook).toEqual({ url: "https://x" });
  });

  test("are no names either: rules whose natural key is one are called by their ids", async () => {
    const secretNames: ContractInput = { ...preset, rule: { ...freeRule, secret: ["/name"] } };
    const stack = await opened([rule(1), rule(1, { name: "hidden" }), rule(2, { name: "hidden" })], secretNames);
    const refused = await stack.exports();
    expect(refused.stderr).toContain(`  one: ${stack.ids.slice(1).join(", ")}`);
    const { code, stdout } = await stack.exports("--exclude", String(stack.ids[2]));
    expect(code, stdout).toBe(0);
    expect(readdirSync(stack.fileOf("rules"))).toEqual(stack.ids.slice(0, 2).map((id) => `${id}.yaml`));
    expect(refused.stderr + stdout + everything(stack.folder)).not.toContain("hidden");
  });

  test.each(["****", "\u2022\u2022\u2022\u2022", "****1234", "XXXX-XXXX-12"])(
    "that are masked (%s) are refused, by rule and path",
    async (mask) => {
      const stack = await opened([withToken(1, "hidden-1"), withToken(2, mask)], contract);
      const { code, stderr } = await stack.exports();
      expect(code).toBe(1);
      expect(stderr).toContain(
        `rule-2 (${stack.ids[1]}): webhook.token is masked: the service does not show this secret`,
      );
      expect(stderr).toContain("What to do: leave these rules out with --exclude");
      expect(stderr).not.toContain("rule-1");
      expect(readdirSync(stack.folder)).toEqual(["Pulumi.yaml"]);
      expect((await stack.exports("--exclude", "rule-2")).code).toBe(0);
    },
  );
});

describe("an export that cannot be", () => {
  const nothingWritten = (folder: string): void => expect(readdirSync(folder)).toEqual(["Pulumi.yaml"]);

  test.each<[string, readonly JsonObject[], ContractInput | undefined, readonly string[], string, number]>([
    ["there is no list in the contract", [rule(1)], { version: 1 }, [], "put operations.list into the contract", 1],
    ["the service has no rules", [], undefined, [], "the service has no rules", 1],
    ["no rule has such a name", [rule(1)], undefined, ["--include", "x*"], "none of the 1 rules", 1],
    [
      "two rules have one natural key",
      [rule(1), rule(1)],
      undefined,
      [],
      "a set cannot hold two rules with one natural key",
      1,
    ],
    [
      "an integer was rounded",
      [rule(1, { n: 2 ** 60 })],
      undefined,
      [],
      "n holds a number whose last digits a program loses",
      1,
    ],
    ["a rule has no natural key", [rule(1, { name: null })], undefined, [], "it has no value at /name, the natural", 1],
    ["there is no such connection", [rule(1)], undefined, ["--connection", "nope"], 'connection "nope" lacks', 1],
    ["a pattern names no rule", [rule(1)], undefined, ["--include", "id:"], "It names no rule", 2],
    ["there is no such form", [rule(1)], undefined, ["--as", "json"], "Allowed choices are files, program", 2],
    ["there is no such option", [rule(1)], undefined, ["--forse"], "Did you mean --force", 2],
  ])("says what to do where %s, and writes nothing", async (_what, rules, contract, argv, message, exitCode) => {
    const stack = await opened(rules, contract);
    const { code, stderr } = await stack.exports(...argv);
    expect(stderr).toContain(message);
    expect(code).toBe(exitCode);
    nothingWritten(stack.folder);
  });

  test("says which stacks there are where there is no such one", async () => {
    const stack = await opened([rule(1)]);
    const stacks = join(stack.backend, ".pulumi/stacks/existing");
    mkdirSync(stacks, { recursive: true });
    writeFileSync(join(stack.backend, ".pulumi/meta.yaml"), "version: 1\n");
    writeFileSync(join(stacks, "prod.json"), "{}");
    const { code, stderr } = await stack.exports("--stack", "nope");
    expect(stderr).toContain("name one of its stacks with --stack (there are: prod)");
    expect(code).toBe(1);
  });

  test("says where the service cannot be reached", async () => {
    const stack = await opened([rule(1)], { ...preset, limits: { ...preset.limits, maxAttempts: 1 } });
    await stack.service.close();
    const { code, stderr } = await stack.exports();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: list rules failed: .*What to do: .*CONNECTION_FAILED/);
    nothingWritten(stack.folder);
  });

  test("says that a folder cannot be written to", async () => {
    const stack = await opened([rule(1)]);
    const { code, stderr } = await stack.exports("--out", join(stack.folder, "Pulumi.yaml"));
    expect(code).toBe(1);
    expect(stderr).toContain("give a folder that can be written to with --out");
    nothingWritten(stack.folder);
  });

  test("has a help with its exit codes and an example", async () => {
    const { code, stdout } = await run(["export", "--help"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /Exit codes: 0 done, 1 failed, or nothing to export, 2 called wrongly\nExample: npx --no-install merchant-rules export /,
    );
  });
});
