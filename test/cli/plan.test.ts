import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { unknownValue } from "../../provider/host/wire.ts";
import { render } from "../../report/index.ts";
import { planOf } from "../../report/plan/plan-report.ts";
import { readPreview } from "../../report/plan/preview.ts";
import { type ContractInput, defineContract } from "../../sdk/contract/index.ts";
import { isJsonObject, type Json, type JsonObject } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";
import { anotherSecret } from "../support/stack/states.ts";
import { command } from "./command.ts";

const recorded = fileURLToPath(new URL("recorded", import.meta.url));
const folder = newFolder();

const stateOnly =
  "now is the stack's state, as the last run left it, not the service: edits by hand are not seen; plan --refresh sees them\n\n";

const recordedPlan = `${stateOnly}${[
  "warning: 2 of 9 rules are to be deleted, more than a tenth. See that this is meant before you run `pulumi up`",
  "",
  "  - delete  d  MerchantRuleSet all, id mwrr6o4lfmb5",
  '      name: "d"',
  "  - delete  s3  MerchantRuleSet group-1-of-2, id mwrr6o7kfmb5",
  '      name: "s3"',
  "  +- replace  c  MerchantRuleSet all, id mwrr6o3vfmb5, /type is immutable (rule.immutable)",
  '      type: "block" → "allow"',
  "  +- replace  one  MerchantRule one, id mwrr6o6cfmb5, /type is immutable (rule.immutable)",
  "      token: [secret] → [another secret]",
  '      type: "block" → "allow"',
  "  ~ update  a  MerchantRuleSet all, id mwrr6o2rfmb5",
  "      priority: 1 → 5",
  "      token: [secret] → [another secret]",
  "  ~ update  s1  MerchantRuleSet group-1-of-2, id mwrr6o6ffmb5",
  "      p: (absent) → 1",
  "  + create  new  MerchantRuleSet all",
  '      name: "new"',
  '      of: "(known after up)"',
  "  + create  newone  MerchantRule newone",
  '      name: "newone"',
  "      priority: 9",
  "  = rename  b  MerchantRuleSet all, key b2, before: b, id mwrr6o2tfmb5",
  "",
  "Plan for stack dev: 2 to delete, 2 to replace, 2 to update, 2 to create, 1 to rename, 2 unchanged",
  "",
].join("\n")}`;

describe("merchant-rules plan", () => {
  test.each(["preview.json", "streamed-preview.jsonl"])(
    "says by rule what the real CLI printed as %s",
    async (file) => {
      const { code, stdout, stderr } = await command("plan", join(recorded, file), "--cwd", recorded);
      expect(stdout).toBe(recordedPlan);
      expect(stderr).toBe("");
      expect(code).toBe(0);
    },
  );

  test("says what policies refuse and what they warn of, from the events of the real CLI, and needs them to their end", async () => {
    const [summary = "", ...before] = readFileSync(join(recorded, "streamed-preview.jsonl"), "utf8")
      .trim()
      .split("\n")
      .reverse();
    const violated = (policyName: string, enforcementLevel: string, message: string): string =>
      JSON.stringify({
        policyEvent: {
          resourceUrn: "urn:pulumi:dev::shop::pulumi-nodejs:dynamic/merchant-rules:MerchantRuleSet::all",
          ...{
            message: `${message}\n`,
            color: "never",
            policyName,
            policyPackName: "merchant-rules-policies",
            enforcementLevel,
          },
        },
      });
    const lines = [
      ...before.reverse(),
      violated("allowed-values", "advisory", "Only allowed values.\na: /type: found refund"),
      violated("number-ranges", "mandatory", "<{%fg 1%}>Only numbers in range.<{%reset%}>\na: /priority: found 5000"),
    ];
    const file = join(newFolder(), "preview.jsonl");
    writeFileSync(file, [...lines, summary].join("\n"));
    const { code, stdout } = await command("plan", file, "--cwd", recorded, "--json");
    expect(code).toBe(1);
    const { violations, findings } = JSON.parse(stdout);
    const about = { pack: "merchant-rules-policies", resource: "MerchantRuleSet all", key: "a" };
    expect(violations).toEqual([
      {
        ...about,
        level: "advisory",
        policy: "allowed-values",
        path: "type",
        message: "Only allowed values.\na: /type: found refund",
      },
      {
        ...about,
        level: "mandatory",
        policy: "number-ranges",
        path: "priority",
        message: "Only numbers in range.\na: /priority: found 5000",
      },
    ]);
    expect(findings.length).toBeGreaterThan(0);
    expect((await command("plan", file, "--cwd", recorded)).stdout).toContain(
      "error: the mandatory policy number-ranges is violated by MerchantRuleSet all: Only numbers in range.\n  a: /priority: found 5000\n",
    );
    expect((await command("plan", file, "--cwd", recorded, "--policy-pack", "policies")).stderr).toContain(
      "leave out the file, or give the pack to the preview that made it",
    );
    writeFileSync(file, [...lines, summary].filter((line) => !line.includes('"mandatory"')).join("\n"));
    const advised = await command("plan", file, "--cwd", recorded);
    expect([advised.code, advised.stdout]).toEqual([
      0,
      expect.stringContaining("\nwarning: the advisory policy allowed-values is violated by MerchantRuleSet all: "),
    ]);
    writeFileSync(file, lines.filter((line) => !line.includes("summaryEvent")).join("\n"));
    expect((await command("plan", file, "--cwd", recorded)).stderr).toContain("it ends before its end");
  });

  test("says the same where rules are JSON texts, on either side or on both", async () => {
    const asText = (rule: Json): Json =>
      isJsonObject(rule) && !JSON.stringify(rule).includes("[secret]") ? JSON.stringify(rule) : rule;
    const withTexts = (properties: Json | undefined): Json => {
      const { definition, rules, ...others } = isJsonObject(properties) ? properties : {};
      const texts = Object.entries(isJsonObject(rules) ? rules : {}).map(([key, rule]) => [key, asText(rule)]);
      return {
        ...others,
        ...(definition === undefined ? {} : { definition: asText(definition) }),
        ...(isJsonObject(rules) ? { rules: Object.fromEntries(texts) } : {}),
      };
    };
    const asTexts = (sides: readonly string[]) =>
      JSON.parse(readFileSync(join(recorded, "preview.json"), "utf8"), (key, value: Json) =>
        sides.includes(key) && isJsonObject(value)
          ? { ...value, inputs: withTexts(value.inputs), outputs: withTexts(value.outputs) }
          : value,
      );
    for (const sides of [["oldState"], ["newState"], ["oldState", "newState"]]) {
      const file = written(asTexts(sides));
      expect(await command("plan", file, "--cwd", recorded), sides.join()).toMatchObject({
        stdout: recordedPlan,
        stderr: "",
      });
    }
  });

  test.each<[string, (text: string) => Buffer]>([
    ["UTF-8 with a byte order mark", (text) => Buffer.from(`\uFEFF${text}`)],
    ["UTF-16, as PowerShell's > writes it", (text) => Buffer.from(`\uFEFF${text}`, "utf16le")],
    ["UTF-16 the other way round", (text) => Buffer.from(`\uFEFF${text}`, "utf16le").swap16()],
  ])("reads a preview in %s", async (_form, write) => {
    const whole = readFileSync(join(recorded, "preview.json"), "utf8");
    const file = join(newFolder(), "preview.json");
    writeFileSync(file, write(whole));
    const [read, plain] = [
      await command("plan", file, "--cwd", recorded),
      await command("plan", join(recorded, "preview.json"), "--cwd", recorded),
    ];
    expect([read.code, read.stdout]).toEqual([0, plain.stdout]);
  });

  test("takes --json for --format json", async () => {
    const preview = join(recorded, "preview.json");
    const { stdout } = await command("plan", preview, "--cwd", recorded, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ version: 2, report: "plan", counts: { delete: 2 } });
    expect(await command("plan", preview, "--cwd", recorded, "--format", "json")).toMatchObject({ stdout });
  });

  test("refuses a step that is not known, or that lacks a side, rather than call its rules unchanged", async () => {
    const step = set("update", { a: { name: "a" } }, { a: { name: "b" } });
    for (const [odd, said] of [
      [{ ...step, op: "create-replacement" }, 'what a step "create-replacement" does is not known here'],
      [{ ...step, newState: null }, 'its step "update" has no newState in the preview'],
      [{ ...step, oldState: null }, 'its step "update" has no oldState in the preview'],
      [{ ...step, op: "delete", oldState: null }, 'its step "delete" has no oldState in the preview'],
    ] as const) {
      const { code, stdout, stderr } = await command("plan", written({ steps: [odd] }), "--cwd", recorded);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toContain(`error: plan MerchantRuleSet all failed: ${said}. What to do: give what`);
    }
  });

  test("exits with 7 where no changes were expected, and with 0 where there are none", async () => {
    const change = await command("plan", join(recorded, "preview.json"), "--cwd", recorded, "--expect-no-changes");
    expect(change.code).toBe(7);
    expect(change.stderr).toBe("error: no changes were expected, but there are some\n");
    const file = written({
      steps: [set("same", { a: { name: "a" } }, { a: { name: "a" } })],
      changeSummary: { same: 1 },
    });
    const none = await command("plan", file, "--cwd", recorded, "--expect-no-changes");
    expect(none).toEqual({
      code: 0,
      stdout: `${stateOnly}Plan for stack dev: nothing to do, 1 unchanged\n`,
      stderr: "",
    });
  });

  test("of a preview that failed shows why, and exits with 1", async () => {
    const { code, stdout, stderr } = await command("plan", join(recorded, "failed-preview.json"), "--cwd", recorded);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /\n\nerror: pulumi-nodejs:.* has the same natural key \(\/name\) as rules\.a; each rule is declared once\n/,
    );
    expect(stdout).toMatch(/\nPlan for stack dev: failed\n$/);
    expect(stderr).toContain("What to do: fix what it says, and run it again");
  });

  test("shows the words of a program that failed without its colours", () => {
    const message = "error: \u001b[90mReferenceError\u001b[39m: x is not defined";
    const { errors } = readPreview(JSON.stringify({ steps: [], diagnostics: [{ message, severity: "error" }] }), "p");
    expect(errors).toEqual([{ urn: "", message: "ReferenceError: x is not defined" }]);
  });

  test("passes on what the preview warns of, once and without its colours", async () => {
    const message = "\u001b[33mwarning: \u001b[0mlate rules: rule 7 is at the service and in no program";
    const steps = [set("same", { a: { name: "a" } }, { a: { name: "a" } })];
    const warned = { message, severity: "warning" };
    const said = "warning: late rules: rule 7 is at the service and in no program";
    const file = written({ steps, diagnostics: [warned, warned, { message: "hello", severity: "info" }] });
    const { code, stdout } = await command("plan", file, "--cwd", recorded);
    expect(stdout).toBe(`${stateOnly}${said}\n\nPlan for stack dev: nothing to do, 1 unchanged\n`);
    expect(code).toBe(0);
    const events = [
      {
        diagnosticEvent: {
          ...warned,
          message: "<{%fg 3%}>late rules<{%reset%}>: rule 7 is at the service and in no program",
        },
      },
      { diagnosticEvent: { message: "reading rules", severity: "warning", ephemeral: true } },
      { summaryEvent: { resourceChanges: {} } },
    ];
    expect(readPreview(events.map((event) => JSON.stringify(event)).join("\n"), "p").warnings).toEqual([
      "late rules: rule 7 is at the service and in no program",
    ]);
  });

  test("writes a comment to a file, which another run finds by its first line", async () => {
    const output = join(folder, "comment.md");
    const preview = join(recorded, "preview.json");
    const { code, stdout, stderr } = await command(
      "plan",
      preview,
      "--cwd",
      recorded,
      "--comment",
      "3000",
      "--output",
      output,
    );
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toContain(`(written to ${output})`);
    const comment = readFileSync(output, "utf8");
    expect(comment.length).toBeLessThanOrEqual(3000);
    expect(comment).toMatch(
      /^<!-- merchant-rules plan: stack%20dev of project%20shop -->\n### Plan for stack dev: 2 to delete/,
    );
    expect(comment).toContain("**Warning: 2 of 9 rules are to be deleted");
    expect(comment.indexOf("delete (2)")).toBeLessThan(comment.indexOf("create (2)"));
  });

  test.each([
    ["--comment", "10", 2, "at least 2000"],
    ["--format", "pdf", 2, "Allowed choices are text, json"],
  ])("refuses %s %s", async (flag, value, exitCode, said) => {
    const { code, stderr } = await command("plan", join(recorded, "preview.json"), flag, value);
    expect(code).toBe(exitCode);
    expect(stderr).toContain(said);
  });

  test("says that it is the contract which makes it replace a rule", () => {
    const before = { a: { name: "a", priority: 1 } };
    const step = set("update", before, { a: { name: "a", priority: 2 } });
    const without = { ...full, operations: { ...full.operations, update: null } };
    expect(findings([step], without)).toMatchObject([
      { change: "replace", reason: "there is no update operation (operations.update)" },
    ]);
  });

  test("refuses a comment that is no Markdown", async () => {
    const preview = join(recorded, "preview.json");
    const { code, stderr } = await command("plan", preview, "--format", "html", "--comment");
    expect([code, stderr]).toEqual([2, "error: --comment is Markdown: leave out --format\n"]);
  });

  test.each<[string, JsonObject]>([
    ["no steps", { changeSummary: { same: 4 } }],
    ["no steps and no counts", { config: { "shop:a": "b" }, duration: 1, changeSummary: null }],
  ])("takes the preview of an unchanged stack without --show-sames, which has %s", async (_what, preview) => {
    const { code, stdout } = await command("plan", written(preview), "--expect-no-changes");
    expect([code, stdout]).toEqual([0, expect.stringContaining("nothing to do, 0 unchanged")]);
    expect(stdout.includes("4 resources without changes are not in the preview")).toBe(preview.config === undefined);
  });

  test.each([
    ["nothing", ""],
    ["another document", '{"version":3}'],
    ["text", "Previewing update (dev)\n"],
    ["half of it", readFileSync(join(recorded, "preview.json"), "utf8").slice(0, 2_000)],
    [
      "events without their end",
      readFileSync(join(recorded, "streamed-preview.jsonl"), "utf8").split("\n").slice(0, 3).join("\n"),
    ],
    ["another form", '{"steps":[{"op":1}]}'],
    [
      "endless nesting",
      `{"steps":[{"op":"create","urn":"u","newState":{"type":"t","inputs":${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}}}]}`,
    ],
  ])("refuses %s, and says what to give it", async (_what, content) => {
    const file = join(folder, "odd.json");
    writeFileSync(file, content);
    const { code, stdout, stderr } = await command("plan", file);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`error: read ${file} failed: it does not hold what \`pulumi preview --json\` prints: `);
    expect(stderr).toContain("What to do: run `pulumi preview --json --show-sames > preview.json` to its end");
  });

  test.each<[string, string, JsonObject, string]>([
    ["create", "MerchantRuleSet", { newState: { inputs: { rules: 5 } } }, "the new inputs have a number at rules"],
    ["update", "MerchantRuleSet", { newState: { inputs: { rules: "x" } } }, "the new inputs have a string at rules"],
    ["same", "MerchantRuleSet", { oldState: { outputs: { rules: [] } } }, "the old outputs have an array at rules"],
    [
      "create",
      "MerchantRuleSet",
      { newState: { inputs: { rules: { "a b": true } } } },
      'the new inputs have a boolean at rules["a b"]',
    ],
    [
      "create",
      "MerchantRule",
      { newState: { inputs: { definition: 5 } } },
      "the new inputs have a number at definition",
    ],
  ])("refuses a %s of a %s with other rules than objects, as %j", async (op, kind, states, said) => {
    const type = `pulumi-nodejs:dynamic/merchant-rules:${kind}`;
    const urn = `urn:pulumi:dev::shop::${type}::all`;
    const typed = Object.entries(states).map(([side, state]) => [side, Object.assign({ type }, state)]);
    const { code, stdout, stderr } = await command(
      "plan",
      written({ steps: [{ op, urn, ...Object.fromEntries(typed) }] }),
    );
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`prints: in the step ${op} of ${kind} all, ${said}, where an object belongs`);
    expect(stderr).toContain("What to do: run `pulumi preview --json --show-sames > preview.json` to its end");
  });

  test("refuses a file that is not there, and a stack that is not", async () => {
    const missing = await command("plan", join(folder, "missing.json"));
    expect(missing.code).toBe(1);
    expect(missing.stderr).toMatch(/^error: read preview .*missing\.json failed: ENOENT.* What to do: name a file/);
    const nowhere = await command("plan", "--engine", "local", "--cwd", folder);
    expect(nowhere.code).toBe(1);
    expect(nowhere.stderr).toMatch(/^error: no Pulumi\.yaml was found in /);
  });
});

describe("what a plan says of a rule", () => {
  test("that a preview with --refresh has twice: it is counted once, as the refresh found it", () => {
    const before = { a: { name: "a", priority: 91 }, b: { name: "b" } };
    const after = { a: { name: "a", priority: 1 }, b: { name: "b" } };
    const refreshed = set("refresh", { a: { name: "a", priority: 1 }, b: { name: "b" } }, before);
    const { report } = plan([refreshed, set("update", before, after)], full);
    expect(report).toMatchObject({
      rules: 2,
      unchanged: 1,
      findings: [{ name: "a", paths: [{ before: 91, after: 1 }] }],
    });
    expect(report.about[0]).toContain("as the preview's refresh saw it");
  });

  test("with an array that the engine masks as a whole: the exact paths that change, and that there are no values", () => {
    const rules = { a: { name: "a", actions: "[secret]", tags: "[secret]" } };
    const detailedDiff = {
      "rules.a.actions[0].type": { kind: "update" },
      "rules.a.actions[1].key": { kind: "update" },
    };
    const { findings: found } = plan([set("update", rules, rules, { detailedDiff })], full).report;
    expect(found).toMatchObject([
      {
        change: "update",
        paths: [
          { path: "actions[0].type", masked: true },
          { path: "actions[1].key", masked: true },
        ],
      },
    ]);
    const contract = { ...full, rule: { ...full.rule, secret: ["/actions/*/key"] } };
    const { report } = plan([set("update", rules, rules, { detailedDiff })], contract);
    expect(render(report, "text")).toContain(
      "      actions[0].type: (not shown) → (not shown)\n      actions[1].key: [secret] → [another secret]\n",
    );
    expect(report.notes).toContainEqual(
      expect.stringMatching(/masks an array as a whole.*\(not shown\) stands for its values/),
    );
  });

  test("with a secret of the contract in an array: what changes beside it has its values, and the rest is unchanged", () => {
    const rule = (name: string, type: string): JsonObject => ({
      name,
      actions: [{ type, key: "[secret]" }, { type: "x" }],
    });
    const before = { a: rule("a", "decline"), b: rule("b", "decline"), c: rule("c", "decline") };
    const masked = Object.fromEntries(Object.keys(before).map((name) => [name, { name, actions: "[secret]" }]));
    const after = { ...before, a: rule("a", "accept") };
    const detailedDiff = {
      "rules.a.actions[0].type": { kind: "update" },
      "rules.b.actions[0].key": { kind: "update" },
    };
    const outputs = { rules: masked, ruleIds: { a: "1", b: "2", c: "3" }, stateVersion: 3 };
    const step = set("update", before, after, { detailedDiff });
    const oldState = { ...Object(step.oldState), outputs };
    const { findings: found, unchanged, notes } = plan([{ ...step, oldState }], full).report;
    expect(unchanged).toBe(1);
    expect(found).toMatchObject([
      { name: "a", paths: [{ path: "actions[0].type", before: "decline", after: "accept" }] },
      { name: "b", paths: [{ path: "actions[0].key", ...anotherSecret }] },
    ]);
    expect(notes.filter((note) => note.includes("masks an array"))).toEqual([]);
    // What the last run could not write is still to be written: the inputs do not tell what is at the service.
    const unwritten = { ...outputs, rules: { ...masked, c: { name: "c", priority: 1, actions: "[secret]" } } };
    const later = { ...Object(step.oldState), outputs: unwritten };
    expect(plan([{ ...step, oldState: later }], full).report.findings.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });

  describe("that moves to another resource of the stack", () => {
    const old = (op: string) =>
      set(op, { a: { name: "a", priority: 1 } }, op === "delete" ? undefined : {}, { name: "old" });
    const arriving = (priority: number, inputs: JsonObject = {}): JsonObject =>
      set("create", undefined, { x: { name: "a", priority } }, { name: "new", inputs });
    const marked = { ...full, rule: { ...full.rule, owner: { at: "/managedBy" } } };
    const fixed = { ...full, rule: { ...full.rule, immutable: ["/priority"] } };
    const planned = (steps: readonly JsonObject[], contract: ContractInput) => {
      const { findings: found, warnings } = plan(steps, contract).report;
      return { changes: found.map(({ change }) => change), refusals: warnings.filter((each) => / refuse /.test(each)) };
    };
    const moves = (change: string) => ({ changes: [change], refusals: [] });

    test("stays one rule, where its mark says whose it is and all is as declared", () => {
      for (const op of ["update", "delete"]) {
        const steps = [old(op), arriving(1)];
        expect(planned(steps, marked)).toEqual(moves("rename"));
        expect(findings(steps, marked)).toMatchObject([
          {
            ...{ change: "rename", name: "a", key: "x", formerKey: "a", ruleId: "id-a" },
            ...{ resource: "MerchantRuleSet new", reason: "from MerchantRuleSet old" },
          },
        ]);
      }
    });

    test("stays one rule, where adopt names it, and is changed at once", () => {
      for (const op of ["update", "delete"])
        for (const contract of [full, marked]) {
          expect(planned([old(op), arriving(2, { adopt: { x: "id-a" } })], contract)).toEqual(moves("update"));
          expect(planned([old(op), arriving(1, { adopt: { x: "id-a" } })], contract)).toEqual(moves("rename"));
        }
      // Without marks nobody else claims it.
      expect(planned([old("delete"), arriving(2, { adopt: true })], full)).toEqual(moves("update"));
    });

    test.each<[string, ContractInput, number, JsonObject]>([
      ["nothing tells whose it is", full, 1, {}],
      ["it changes", marked, 2, {}],
      ["it changes, and adopt does not name it", marked, 2, { adopt: true }],
      ["it cannot be changed", fixed, 2, { adopt: { x: "id-a" } }],
    ])("is deleted and made anew, where %s: the run may refuse it, or will", (_where, contract, priority, inputs) => {
      const { changes, refusals } = planned([old("update"), arriving(priority, inputs)], contract);
      expect(changes).toEqual(["delete", "adopt" in inputs ? "adopt" : "create"]);
      const advice =
        contract === fixed ? "take it out of the program for one run" : "add adopt with its id, id-a, for this run";
      expect(refusals).toEqual([
        expect.stringMatching(
          `^a is declared by MerchantRuleSet new, key x,, and MerchantRuleSet old gives it up .* may refuse .* once more, .*; or ${advice}`,
        ),
      ]);
      expect(planned([old("delete"), arriving(priority, inputs)], contract).refusals).toEqual([
        expect.stringMatching(
          `^a is declared by MerchantRuleSet new, key x, and is still MerchantRuleSet old's, .* will refuse .*alias; else ${advice}`,
        ),
      ]);
    });

    test("is another rule, where the contract has no list to find it by", () => {
      const unlisted = { ...full, operations: { ...full.operations, list: null } };
      expect(planned([old("update"), arriving(1)], unlisted)).toEqual({ changes: ["delete", "create"], refusals: [] });
    });
  });

  test("that gets a natural key which another resource's rule has until the same run: one of the two may be refused", () => {
    const gives = set("update", { a: { name: "x" } }, { a: { name: "y" } }, { name: "old" });
    const gets = set("update", { b: { name: "z" } }, { b: { name: "z" }, c: { name: "x" } }, { name: "new" });
    for (const steps of [
      [gives, gets],
      [gets, gives],
    ]) {
      const { report } = plan(steps, full);
      expect(report.findings.map(({ change }) => change)).toEqual(["update", "create"]);
      expect(report.warnings).toEqual([
        "x is declared by MerchantRuleSet new, key c, and is the natural key of rule id-a of MerchantRuleSet old now, so that the run may refuse one of the two. Where that rule gets another one in this run, run `pulumi up` once more",
      ]);
    }
    expect(plan([gives, gets], { ...full, rule: { ...full.rule, naturalKey: null } }).report.warnings).toEqual([]);
  });

  test("that is taken over: by its id, or where one with its natural key exists", () => {
    const rules = { a: { name: "a" }, b: { name: "b" } };
    expect(findings([set("create", undefined, rules, { inputs: { adopt: { a: "r-1" } } })], full)).toMatchObject([
      { change: "create", name: "b" },
      { change: "adopt", name: "a", ruleId: "r-1" },
    ]);
    expect(findings([set("create", undefined, rules, { inputs: { adopt: true } })], full)[0]).toMatchObject({
      change: "adopt",
      reason: "where a rule with its natural key exists; else it is created",
    });
  });

  test("whose values are known only after up", () => {
    const before = { a: { name: "a", note: "x" }, b: { name: "b" } };
    const after = { a: { name: "a", note: { of: unknownValue } }, b: unknownValue, c: unknownValue };
    expect(findings([set("update", before, after)], full)).toEqual([
      expect.objectContaining({
        change: "update",
        name: "a",
        paths: [{ path: "note", before: "x", after: { of: "(known after up)" } }],
      }),
      expect.objectContaining({
        change: "update",
        name: "b",
        reason: "it depends on values that are known only after up",
      }),
      expect.objectContaining({ change: "create", name: "c" }),
    ]);
  });

  test("of a set whose rules as a whole are not known, or are one secret: that they cannot be named", () => {
    for (const [rules, why] of [
      [unknownValue, "it depends on values that are known only after up"],
      ["[secret]", "it is a secret as a whole, which a preview masks"],
    ]) {
      const { report, hasChanges } = plan([set("update", { a: { name: "a" } }, rules)], full);
      expect(hasChanges).toBe(true);
      expect(report.warnings).toEqual([`What happens to the 1 rules of MerchantRuleSet all cannot be told: ${why}`]);
      expect(report.findings).toMatchObject([{ change: "update", reason: `its rules cannot be named: ${why}` }]);
    }
  });

  test("of which nobody knows what the last run's write did: that the run looks at it, and no reason that is none", () => {
    const step = set("update", { a: { name: "a" }, b: "[secret]" }, { a: { name: "a" }, b: { name: "b" } });
    const { oldState } = step;
    const outputs = { ...Object(Object(oldState).outputs), sealed: ["b"], doubtful: { b: {} } };
    const { report } = plan([{ ...step, oldState: { ...Object(oldState), outputs } }], full);
    expect(report.unchanged).toBe(1);
    expect(report.findings).toMatchObject([
      {
        change: "update",
        name: "b",
        reason: expect.stringContaining("what the last run's write to it did is not known"),
      },
    ]);
  });

  test("with secrets: the engine tells whether they change, and where it does not, that is said", () => {
    const before = { a: { name: "a", token: "[secret]" }, b: { name: "b", token: "[secret]" } };
    const step = (detailedDiff: JsonObject | null, after: JsonObject = before) =>
      set("update", before, after, { detailedDiff });
    const told = plan([step({ 'rules["a"].token': { kind: "update" } })], full).report;
    expect(told.findings).toMatchObject([
      { change: "update", name: "a", paths: [{ path: "token", ...anotherSecret }] },
    ]);
    expect([told.unchanged, told.notes]).toEqual([1, []]);
    const untold = plan([step(null)], full).report;
    expect(untold.notes).toContain(
      "A preview masks secrets, so whether those of these rules change cannot be told: a, b",
    );
    const immutable = { ...full, rule: { ...full.rule, immutable: ["/token"] } };
    expect(findings([step({ "rules.a.token": { kind: "update" } })], immutable)).toMatchObject([
      { change: "replace", name: "a" },
    ]);
  });

  test("that the contract calls secret, where the preview does not mask it: nothing of it", () => {
    const contract = { ...full, rule: { ...full.rule, secret: ["/auth/token"] } };
    const before = { a: { name: "a", auth: { token: "visible-1" } }, b: { name: "b" } };
    const after = {
      a: { name: "a", auth: { token: "visible-2" } },
      b: { name: "b", auth: { user: "u", token: "visible-3" } },
    };
    const { report } = plan([set("update", before, after)], contract);
    expect(JSON.stringify(report)).not.toContain("visible-");
    expect(report.findings.map(({ paths }) => paths)).toEqual([
      [{ path: "auth.token", ...anotherSecret }],
      [{ path: "auth", after: { user: "u", token: "[secret]" } }],
    ]);
  });

  test("whose natural key the contract calls secret, or what is around it: it goes by its key", () => {
    for (const secret of ["/card", "/card/holder"]) {
      const contract = { ...full, rule: { naturalKey: "/card/holder", secret: [secret] } };
      const before = { a: { card: { holder: "visible-1" } }, b: { card: { holder: "visible-2" }, p: 1 } };
      const after = { b: { card: { holder: "visible-2" }, p: 2 }, c: { card: { holder: "visible-3" } } };
      const { report } = plan([set("update", before, after)], contract);
      expect(JSON.stringify(report)).not.toContain("visible-");
      expect(report.findings.map(({ change, name }) => [change, name])).toEqual([
        ["delete", "a"],
        ["update", "b"],
        ["create", "c"],
      ]);
    }
  });

  test("at another connection: it is replaced", () => {
    const step = set(
      "replace",
      { a: { name: "a" }, b: { name: "b" } },
      { a: { name: "a" } },
      { inputs: { connection: "eu" } },
    );
    expect(findings([step], full)).toMatchObject([
      { change: "delete", name: "b", resource: "MerchantRuleSet all" },
      { change: "replace", name: "a", connection: "eu", reason: "its connection changes from default to eu" },
    ]);
  });

  test("where no contract is found: what is known without one, and that it may be otherwise", () => {
    const { report } = planOf(previewOf([set("update", { a: { t: 1 } }, { a: { t: 2 } })]), () => undefined);
    expect(report.findings).toMatchObject([
      { change: "update", name: "a", paths: [{ path: "t", before: 1, after: 2 }] },
    ]);
    expect(report.warnings).toContainEqual(expect.stringContaining("No contract was found here"));
  });
});

describe("what a plan says beside rules", () => {
  test("many deletions stand out, a few do not", () => {
    const rules = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`r${n}`, { name: `r${n}` }]));
    const { r0: _, r1: __, ...two } = rules;
    expect(plan([set("update", rules, two)], full).report.warnings).toEqual([]);
    const { r2: ___, ...three } = two;
    expect(plan([set("update", rules, three)], full).report.warnings).toEqual([
      "3 of 20 rules are to be deleted, more than a tenth. See that this is meant before you run `pulumi up`",
    ]);
    const [one] = plan([set("update", { a: { name: "a" }, b: { name: "b" } }, { a: { name: "a" } })], full).report
      .warnings;
    expect(one).toMatch(/^1 of 2 rules is to be deleted, /);
  });

  test("deletions are held against rules alone, where other resources without changes are not shown", () => {
    const removal = set("update", { a: { name: "a" }, b: { name: "b" } }, { b: { name: "b" } });
    const preview = readPreview(JSON.stringify({ steps: [removal], changeSummary: { same: 40, update: 1 } }), "p.json");
    expect(planOf(preview, () => defineContract(full)).report.warnings).toEqual([
      "1 of 2 rules that the preview shows is to be deleted, more than a tenth. See that this is meant before you run `pulumi up`",
    ]);
  });

  test("steps on the stack's Owner, which is no rule and no other resource", () => {
    const same = set("same", { a: { name: "a" } }, { a: { name: "a" } });
    const inputs = (names: string): JsonObject => ({ id: "0".repeat(32), inputs: { names } });
    for (const [op, notes] of [
      ["create", []],
      ["same", []],
      ["update", ["Owner owner changes (names), and none of its rules by that"]],
      ["replace", ["Owner owner is replaced: the stack's rules get a new owner id"]],
    ] as const) {
      const step = memory("Owner", "owner", op, [inputs("shop/old"), inputs("shop/dev")]);
      expect(plan([{ ...step, ...(op === "update" ? { diffReasons: ["names"] } : {}) }, same], full)).toMatchObject({
        hasChanges: false,
        report: { rules: 1, unchanged: 1, findings: [], notes, warnings: [] },
      });
    }
  });

  test("steps on the connection, which is no rule and no other resource", () => {
    const same = set("same", { a: { name: "a" } }, { a: { name: "a" } });
    const made = plan([connection("create"), set("create", undefined, { a: { name: "a" } })], full);
    expect(made.report).toMatchObject({ rules: 0, unchanged: 0, notes: [], warnings: [] });
    expect(made.report.findings).toMatchObject([{ change: "create", name: "a" }]);
    for (const [op, notes] of [
      ["create", []],
      ["same", []],
      ["delete", []],
      ["update", ["Connection default changes (address), and none of its rules by that"]],
      ["replace", ["Connection default is replaced: it remembers where it leads now"]],
    ] as const) {
      const { report, hasChanges } = plan([connection(op), same], full);
      expect(hasChanges).toBe(false);
      expect(report).toMatchObject({ rules: 1, unchanged: 1, findings: [], notes, warnings: [] });
    }
  });

  test("steps on other resources, inputs of a set that are no rules, and rules that are only forgotten", () => {
    const other = { op: "create", urn: "urn:pulumi:dev::shop::aws:s3:Bucket::b", newState: { type: "aws:s3:Bucket" } };
    const quiet = set("update", { a: { name: "a" } }, { a: { name: "a" } }, { diffReasons: ["onUnmanaged"] });
    const forgotten = set("delete", { x: { name: "x" } }, undefined, { name: "kept", retainOnDelete: true });
    const { report, hasChanges } = plan([other, quiet, forgotten], full);
    expect(hasChanges).toBe(true);
    expect(report.findings).toEqual([]);
    expect(report.notes).toEqual([
      "MerchantRuleSet kept leaves the stack, and its 1 rules stay at the service (retainOnDelete)",
      "MerchantRuleSet all changes (onUnmanaged), but none of its rules does",
      "The run has steps on other resources than merchant rules, which are not in this plan: 1 create",
    ]);
  });
});

const full = {
  version: 1,
  operations: {
    delete: { identifyBy: { in: "query", name: "ruleId" } },
    list: { path: "/rules", items: "/rules" },
    update: { path: "/rules/{ruleId}" },
  },
  rule: { naturalKey: "/name" },
} satisfies ContractInput;

function plan(steps: readonly JsonObject[], contract: ContractInput) {
  return planOf(previewOf(steps), () => defineContract(contract));
}

function findings(steps: readonly JsonObject[], contract: ContractInput) {
  return plan(steps, contract).report.findings;
}

function previewOf(steps: readonly JsonObject[]) {
  return readPreview(JSON.stringify({ steps }), "preview.json");
}

function written(preview: JsonObject): string {
  const file = join(folder, "preview.json");
  writeFileSync(file, JSON.stringify(preview));
  return file;
}

/** A step on the connection, as the CLI prints it. */
function connection(op: string): JsonObject {
  const state = (address: string): JsonObject => ({ id: "default", inputs: { address } });
  return {
    ...memory("Connection", "default", op, [state("https://one.example.com"), state("https://two.example.com")]),
    ...(op === "update" ? { diffReasons: ["address"] } : {}),
  };
}

/** A step on what a stack remembers beside its rules. */
function memory(
  kind: string,
  name: string,
  op: string,
  [before, after]: readonly [JsonObject, JsonObject],
): JsonObject {
  const type = `pulumi-nodejs:dynamic/merchant-rules:${kind}`;
  return {
    op,
    urn: `urn:pulumi:dev::shop::${type}::${name}`,
    ...(op === "create" ? {} : { oldState: { type, ...before } }),
    ...(op === "delete" ? {} : { newState: { type, ...after } }),
  };
}

/** A step on a MerchantRuleSet, as the CLI prints it. */
function set(
  op: string,
  before: JsonObject | undefined,
  after: JsonObject | string | undefined,
  {
    name = "all",
    inputs = {},
    retainOnDelete = false,
    ...step
  }: { name?: string; inputs?: JsonObject; retainOnDelete?: boolean } & JsonObject = {},
): JsonObject {
  const type = "pulumi-nodejs:dynamic/merchant-rules:MerchantRuleSet";
  const own = { type, id: "set-1", retainOnDelete };
  const ruleIds = Object.fromEntries(Object.keys(before ?? {}).map((key) => [key, `id-${key}`]));
  return {
    op,
    urn: `urn:pulumi:dev::shop::${type}::${name}`,
    ...(before === undefined
      ? {}
      : { oldState: { ...own, inputs: { rules: before }, outputs: { rules: before, ruleIds, stateVersion: 3 } } }),
    ...(after === undefined ? {} : { newState: { ...own, inputs: { rules: after, ...inputs } } }),
    ...step,
  };
}
