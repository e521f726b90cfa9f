import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { StateResource } from "../../report/state/state-resource.ts";
import { type ContractInput, loadPreset, presetFile } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { marking, othersMarkBy, rule } from "../support/rules.ts";
import { markBy, sessionOf } from "../support/stack/hosts.ts";
import { serve } from "../support/stack/service.ts";
import { anotherSecret, applied, exportOf, withSecretsAt } from "../support/stack/states.ts";
import { driftFolder } from "./drift-command.ts";

const some = { all: { rules: { a: rule(1), b: rule(2), c: rule(3) } } };

/** A stack whose export lies in a folder, and the service that its rules are at. */
async function exported(declared: Record<string, JsonObject> = some, contract?: ContractInput) {
  const served = await serve(contract);
  const { service, environment } = served;
  const state = await applied(sessionOf(environment), declared);
  const place = driftFolder(environment);
  place.write("state.json", exportOf(state));
  const idOf = (name: string): string => service.rules().find((each) => each.rule.name === name)?.ruleId ?? "";
  const drift = (...flags: string[]) => place.drift("--state", `${place.folder}/state.json`, ...flags);
  service.resetRequests();
  return { ...place, service, environment, state, idOf, drift };
}

/** What a report says first of what it has read. */
const readAt = /^the live rules at 127\.0\.0\.1:\d+, read \d{4}-\d\d-\d\d \d\d:\d\d UTC$/;

describe("merchant-rules drift", () => {
  test("ends with 0 where all is in sync, and with 7 where it is not", async () => {
    const { service, idOf, drift } = await exported();
    expect(await drift("--format", "text")).toMatchObject({
      code: 0,
      text: expect.stringMatching(/\nDrift of stack prod: none, 3 unchanged\n$/),
    });
    expect(service.requests.map(({ operation }) => operation)).toEqual(["list"]);
    service.put(idOf("rule-2"), rule(2, { priority: 9 }));
    service.remove(idOf("rule-3"));
    service.put(undefined, { name: "by-hand" });
    const { code, report, errors } = await drift();
    expect(code).toBe(7);
    expect(report).toMatchObject({
      version: 2,
      report: "drift",
      subject: "stack prod",
      rules: 3,
      unchanged: 1,
      counts: { missing: 1, changed: 1, unmanaged: 1 },
      findings: [
        { change: "missing", name: "rule-3", key: "c", resource: "MerchantRuleSet all", paths: [] },
        { change: "changed", name: "rule-2", key: "b", paths: [{ path: "priority", before: 2, after: 9 }] },
        { change: "unmanaged", name: "by-hand", paths: [] },
      ],
      notes: [expect.stringMatching(readAt)],
    });
    expect(errors).toMatch(/^Drift of stack prod: 1 missing, 1 changed, 1 unmanaged, 1 unchanged \(.*report\)$/);
    for (const format of ["text", "markdown", "html", "junit"])
      expect((await drift("--format", format)).text).toContain("rule-2");
  });

  test("reads an export from standard input, and writes the report alone to standard output", async () => {
    const { service, idOf, folder, environment } = await exported();
    service.put(idOf("rule-1"), rule(1, { priority: 9 }));
    const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));
    const script = `const { main } = await import(${JSON.stringify(main)}); process.exitCode = await main(["drift", "--state", "-", "--format", "json"]);`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      cwd: folder,
      env: { ...process.env, ...environment },
    });
    child.stdin.end(readFileSync(`${folder}/state.json`));
    const ended = new Promise((done) => child.on("close", done));
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    expect({ code, stderr }).toEqual({ code: 7, stderr: "" });
    expect(JSON.parse(stdout).findings).toHaveLength(1);
  });

  test("is called wrongly with an unknown format, or with a state and a stack", async () => {
    const { drift, folder } = await exported();
    expect((await drift("--format", "pdf")).code).toBe(2);
    expect((await drift("--stack", "dev")).code).toBe(2);
    expect((await drift("--output", `${folder}/none/report`)).errors).toMatch(
      /write to .* failed: ENOENT.*What to do: name a file in a folder that exists and may be written to, with --output/,
    );
  });
});

describe("unmanaged rules", () => {
  const byHand = (service: { put: (id: undefined, rule: JsonObject) => string }): string[] =>
    ["legacy-1", "legacy/2", "kept"].map((name) => service.put(undefined, { name }));

  test("are not looked for with --ignore-unmanaged, and the report says so", async () => {
    const { service, drift } = await exported();
    byHand(service);
    const { code, report } = await drift("--ignore-unmanaged");
    expect(code).toBe(0);
    expect(report?.notes).toEqual([
      expect.stringMatching(readAt),
      "unmanaged rules were not looked for (--ignore-unmanaged)",
    ]);
  });

  test("that the ignore file names are counted, with the line that names them", async () => {
    const { service, write, drift } = await exported();
    const [, , kept] = byHand(service);
    write(".merchant-rules-ignore", `# made by the dashboard\r\n\nlegacy*\nid:${kept}\n`);
    const { code, report } = await drift();
    expect({ code, findings: report?.findings }).toEqual({ code: 0, findings: [] });
    expect(report?.notes).toEqual([
      expect.stringMatching(readAt),
      '2 unmanaged rules are ignored, by "legacy*" (.merchant-rules-ignore:3)',
      `1 unmanaged rule is ignored, by "id:${kept}" (.merchant-rules-ignore:4)`,
    ]);
    const own = write("other", "legacy-?\n");
    expect((await drift("--ignore-file", own)).report?.findings.map(({ name }) => name)).toEqual(["kept", "legacy/2"]);
  });

  test("alone are ignored: a rule of the stack that is gone or changed is drift, whatever the file says", async () => {
    const { service, write, idOf, drift } = await exported();
    write(".merchant-rules-ignore", `*\nid:*\n`);
    service.remove(idOf("rule-1"));
    service.put(undefined, rule(1));
    service.put(idOf("rule-2"), rule(2, { priority: 9 }));
    const { code, report } = await drift();
    expect(code).toBe(7);
    expect(report?.counts).toEqual({ missing: 1, changed: 1 });
  });

  test.each([
    ["id:", "names no rule"],
    ["path:/priority", "names a path, and no change of a managed rule can be ignored"],
    ["!kept", "takes a rule back with !, which is not supported"],
  ])("cannot be ignored by the line %s: it is refused with its place", async (line, why) => {
    const { service, write, drift } = await exported();
    write(".merchant-rules-ignore", `kept\n${line}\n`);
    const { code, errors } = await drift();
    expect(code).toBe(1);
    expect(errors).toContain(`.merchant-rules-ignore:2: ${line} ${why}. What to do: write the name`);
    expect(service.requests).toEqual([]);
  });

  test("cannot be told without a list: the report says what to set", async () => {
    const { report, code } = await (
      await exported(some, { version: 1, rule: { id: ["/id"], naturalKey: "/name" } })
    ).drift();
    expect(code).toBe(0);
    expect(report?.notes).toEqual([
      expect.stringMatching(readAt),
      "unmanaged rules cannot be told over connection default: its contract has no list. What to do: set operations.list in the contract, or pass --ignore-unmanaged",
    ]);
  });

  test("and changed ones are named with who changed them and when, where the contract says which fields hold it", async () => {
    const preset = loadPreset("illustrative");
    const contract = { ...preset, rule: { ...preset.rule, changedBy: "/meta/by", changedAt: "/updatedAt" } };
    const { service, idOf, drift } = await exported(some, contract);
    expect((await drift()).code).toBe(0);
    service.put(idOf("rule-2"), rule(2, { priority: 9 }));
    service.put(undefined, { name: "by-hand" });
    const { report } = await drift();
    const change = { changedBy: "local", changedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) };
    expect(report?.findings).toMatchObject([
      { change: "changed", name: "rule-2", paths: [{ path: "priority" }], ...change },
      { change: "unmanaged", name: "by-hand", rule: { after: { name: "by-hand" } }, ...change },
    ]);
    expect(report?.findings[1]?.rule?.after).toEqual({ name: "by-hand" });
    expect((await drift("--format", "text")).text).toMatch(/rule-2 .*by local.* at \d{4}-/);
  });

  test("are another's where another stack has marked them, with the names in the mark; what the stack itself left is not", async () => {
    const { service, drift } = await exported(some, marking);
    const own = service.rules()[0]?.rule.metadata ?? null;
    service.put("theirs", rule(9, { metadata: { managedBy: othersMarkBy("shop/test/limits", "nine") } }));
    service.put(
      "nameless",
      rule(10, { metadata: { managedBy: `${"e".repeat(32)}.${"e".repeat(16)}.${"e".repeat(16)}` } }),
    );
    service.put("left", rule(11, { metadata: own }));
    const { report } = await drift();
    expect(report?.counts).toEqual({ unmanaged: 1, anothers: 2 });
    const [left, nameless, theirs] = report?.findings ?? [];
    expect(left).toMatchObject({ change: "unmanaged", name: "rule-11", owner: expect.stringMatching(/\/all$/) });
    expect(nameless).toMatchObject({ change: "anothers", name: "rule-10" });
    expect(nameless).not.toHaveProperty("owner");
    expect(theirs).toMatchObject({ change: "anothers", name: "rule-9", owner: "shop/test/limits" });
    const text = (await drift("--format", "text")).text;
    expect(text).toContain(
      "  another's: the mark at the service names another stack\n  @ another's  rule-10  id nameless\n",
    );
    expect(text).toContain("  @ another's  rule-9  id theirs, owner shop/test/limits\n");
    expect(text).toMatch(/^Drift of .*: 1 unmanaged, 2 another's, 3 unchanged$/m);
    for (const format of ["markdown", "html", "junit"])
      expect((await drift("--format", format)).text).toMatch(/another(?:'|&#39;|&apos;)s/);
  });
});

test("a rule with the stack's own mark that no resource in the state has is said to be left over", async () => {
  const { service, drift } = await exported(some, marking);
  service.put("left", rule(11, { metadata: { managedBy: markBy("shop/prod/all", "old") } }));
  const { code, report } = await drift();
  const reason = expect.stringMatching(/^left over: its mark is this stack's, and no resource in the state has it/);
  expect([code, report?.findings]).toEqual([
    7,
    [expect.objectContaining({ change: "unmanaged", name: "rule-11", owner: "shop/prod/all", reason })],
  ]);
  expect((await drift("--format", "text")).text).toMatch(/\? unmanaged {2}rule-11 .*left over/);
});

describe("what cannot be compared is said with what to do", () => {
  test.each([
    [
      "is not JSON",
      "no json",
      /the state in .*state\.json cannot be read: it is not JSON.*What to do: give what `pulumi stack export` prints/,
    ],
    ["is no export", '{"rules": []}', /cannot be read: .*What to do/s],
    ["is of another version", '{"version": 9, "deployment": {}}', /version 9 of the state format/],
  ])("a state that %s", async (_what, content, reason) => {
    const { write, drift } = await exported();
    write("state.json", content);
    const { code, errors } = await drift();
    expect(code).toBe(1);
    expect(errors).toMatch(reason);
  });

  test("a state that is not there", async () => {
    const { drift } = driftFolder();
    expect(await drift("--state", "none.json")).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/read state none\.json failed: ENOENT.*What to do: name a file/),
    });
  });

  test("a service that does not answer, within seconds", async () => {
    const { service, drift } = await exported();
    await service.close();
    const start = performance.now();
    const { code, errors } = await drift();
    expect(code).toBe(1);
    expect(errors).toMatch(/list rules failed: .*CONNECTION_FAILED/s);
    expect(errors).toContain("What to do: ");
    // Five attempts wait 3 s at most between them.
    expect(performance.now() - start).toBeLessThan(30_000);
  });

  test("credentials that the service refuses", async () => {
    const { drift } = await exported();
    const { code, errors } = await drift();
    expect(code, errors).toBe(0);
    process.env.MERCHANT_RULES_TOKEN = "another";
    expect(await drift()).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/401.*What to do: check the token/s),
    });
  });

  test("credentials that are encrypted in the state, and nowhere else", async () => {
    const { state, environment } = await exported();
    const { drift, write } = driftFolder({ ...environment, MERCHANT_RULES_TOKEN: "" });
    const config = withSecretsAt({ "merchant-rules:token": "local-token" }, ["merchant-rules:token"]);
    expect(await drift("--state", write("shown.json", exportOf(state, { config })))).toMatchObject({ code: 0 });
    const encrypted = write("state.json", exportOf(state, { config, showSecrets: false }));
    const { code, errors } = await drift("--state", encrypted);
    expect(code).toBe(1);
    expect(errors).toMatch(/connection "default" lacks .* merchant-rules:token/);
    expect(errors).toContain(
      "What to do: merchant-rules:token in the state is a secret that nothing here can decrypt: set PULUMI_CONFIG_PASSPHRASE",
    );
    process.env.MERCHANT_RULES_TOKEN = "local-token";
    expect(await drift("--state", encrypted)).toMatchObject({ code: 0 });
  });

  test("a contract that the state names and the folder does not have", async () => {
    const { state, environment } = await exported();
    const { MERCHANT_RULES_CONTRACT: _, ...others } = environment;
    const own = driftFolder(others);
    const path = own.write(
      "state.json",
      exportOf(state, { config: { "merchant-rules:contract": "own.contract.yaml" } }),
    );
    const { code, errors } = await own.drift("--state", path);
    expect(code).toBe(1);
    expect(errors).toMatch(/read contract .*own\.contract\.yaml failed: .*What to do: .*--cwd/);
    const project = driftFolder(others);
    project.write("own.contract.yaml", readFileSync(presetFile("illustrative"), "utf8"));
    expect(await own.drift("--state", path, "--cwd", project.folder)).toMatchObject({ code: 0 });
  });

  test("but not a contract's schema of definitions, which nothing is checked by here", async () => {
    const { drift, write } = await exported();
    const preset = loadPreset("illustrative");
    const broken = { ...preset, rule: { ...preset.rule, schema: { type: "no type" } } };
    process.env.MERCHANT_RULES_CONTRACT = write("contract.json", JSON.stringify(broken));
    expect(await drift()).toMatchObject({ code: 0 });
  });

  test("a stack without rules: what is at the service is unmanaged; without a list, or settings, there is nothing to say", async () => {
    const { service, environment } = await exported({});
    service.put(undefined, { name: "by-hand" });
    const { drift, write } = driftFolder(environment);
    const empty = write("state.json", exportOf([]));
    const { code, report } = await drift("--state", empty);
    expect(code).toBe(7);
    expect(report).toMatchObject({
      rules: 0,
      counts: { unmanaged: 1 },
      notes: [expect.stringMatching(readAt), "the stack declares no merchant rules"],
    });
    expect((await drift("--state", empty, "--ignore-unmanaged")).code).toBe(0);
    process.env.MERCHANT_RULES_CONTRACT = "seed";
    expect((await drift("--state", empty)).errors).toMatch(/declares no merchant rules, .*What to do: name the stack/);
    process.env.MERCHANT_RULES_BASE_URL = "";
    expect((await drift("--state", empty)).errors).toMatch(/look for unmanaged rules .* lacks .*baseUrl/);
  });

  test("a stack that is not there is named with those that are", async () => {
    const { drift, write, folder } = driftFolder({ PULUMI_CONFIG_PASSPHRASE: "x" });
    write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
    const { code, errors } = await drift("--engine", "local", "--stack", "nope", "--backend", `file://${folder}`);
    expect(code).toBe(1);
    expect(errors).toMatch(/there is no stack nope of project shop .*What to do: name one of its stacks with --stack/);
  });
});

test("secrets are in no format, readable or not, and how many were not compared is said", async () => {
  const definition = rule(1, { hook: { url: "https://a.test", key: "hush-before" } });
  const { service, state, write, drift } = await exported({ one: { definition }, two: { definition: rule(2) } });
  const marked = state.map(
    (each): StateResource => ({
      ...each,
      inputs: withSecretsAt(each.inputs, ["definition", "hook", "key"]),
      outputs: withSecretsAt(each.outputs, ["definition", "hook", "key"]),
    }),
  );
  const [one] = state;
  service.put(one?.id, { ...definition, hook: { url: "https://b.test", key: "hush-after" } });
  for (const showSecrets of [true, false]) {
    write("state.json", exportOf(marked, { showSecrets }));
    for (const format of ["text", "markdown", "html", "junit"]) {
      const { code, text: page } = await drift("--format", format);
      expect(code).toBe(7);
      expect(page).toContain("b.test");
      expect(page).not.toContain("hush");
    }
    const { report } = await drift();
    expect(JSON.stringify(report)).not.toContain("hush");
    const paths = report?.findings[0]?.paths;
    const url = { path: "hook.url", before: "https://a.test", after: "https://b.test" };
    expect(paths).toEqual(showSecrets ? [url, { path: "hook.key", ...anotherSecret }] : [url]);
    expect(report?.notes).toEqual([
      expect.stringMatching(readAt),
      ...(showSecrets ? [] : [expect.stringMatching(/^1 secret value was not compared.*--show-secrets/)]),
    ]);
  }
});
