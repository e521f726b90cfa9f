import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { formats } from "../../report/formats/formats.ts";
import type { Report } from "../../report/index.ts";
import { presetFile } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";
import { othersMarkBy } from "../support/rules.ts";
import { openCommandStack } from "../support/stack/commands.ts";
import { contractOf } from "../support/stack/contracts.ts";
import { type EngineName, hasPulumi } from "../support/stack/project.ts";
import { command, setVariables } from "./command.ts";

const semantics = presetFile("illustrative").replace(".contract.", ".semantics.");
const contract = contractOf({ semantics, rule: { naturalKey: "/name", secret: ["/token"] } });

function rule(name: string, priority: number, type: string, conditions: readonly JsonObject[]): JsonObject {
  return { name, priority, isActive: true, conditions: [...conditions], actions: [{ type }] };
}

const over = (value: number) => ({ field: "amount", operator: "gt", value });
const is = (field: string, value: string | boolean) => ({ field, operator: "eq", value });

const testFile = `version: 1
payment: { amount: 100, country: DE, payer: { trusted: false } }
cases:
  - name: large payments are declined
    payment: { amount: 620 }
    expect: { outcome: decline, rule: night-limit }
  - name: trusted payers pass
    payment: { amount: 400, payer: { trusted: true } }
    expect: { outcome: accept, rule: trusted }
  - name: by amount
    columns: [amount, /country, expect.outcome, expect.rule]
    rows:
      - [500, DE, accept, null]
      - [501, FR, decline, night-limit]
`;

let folder: string;

beforeEach(() => {
  folder = newFolder();
  write("merchant-rules.contract.yaml", JSON.stringify({ ...contract, parameters: {} }));
  write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
  write("rules/night-limit.yaml", JSON.stringify(rule("night-limit", 10, "decline", [over(500), is("country", "DE")])));
  write("rules/night-limit-fr.yaml", JSON.stringify(rule("fr", 10, "decline", [over(500), is("country", "FR")])));
  write("rules/trusted.yaml", JSON.stringify(rule("trusted", 20, "accept", [is("payer.trusted", true)])));
  write("rules/off.yaml", JSON.stringify({ ...rule("off", 90, "decline", []), isActive: false }));
  write("rules/rules.test.yaml", testFile.replace("[501, FR, decline, night-limit]", "[501, FR, decline, fr]"));
  setVariables();
});

function write(name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const inFolder = () => ["--cwd", folder, "--folder", join(folder, "rules")];

describe("explain", () => {
  test("says what decides, and of every rule in the order in which it is asked whether it applies and why", async () => {
    const payment = write("payment.json", '{ "amount": 620.50, "country": "DE", "payer": { "trusted": false } }');
    const { code, stdout, stderr } = await command("explain", payment, ...inFolder());
    expect([code, stderr]).toEqual([0, ""]);
    // A long path is cut, and so is not seen to its end on every machine.
    expect(stdout).toContain(`Decision of ${payment} by ${folder.slice(0, 30)}`);
    expect(stdout).toMatch(/: decline, by night-limit\n/);
    const lines = stdout.split("\n").map((line) => line.trim().split(/ {2,}/));
    expect(lines.slice(2, 12)).toEqual([
      ["Rules, in the order in which they are asked"],
      ["Rule", "Answer", "Outcome", "Decision", "Condition", "Holds", "Because"],
      ["off", "does not apply", "decline", "in force", "no", "it is not enabled"],
      ["always", "yes"],
      ["trusted", "does not apply", "accept", "payer trusted is true", "no", "the payment has false"],
      ["night-limit", "applies", "decline", "decides", "amount > 500", "yes", "the payment has 620.5"],
      ["country is DE", "yes", 'the payment has "DE"'],
      ["fr", "does not apply", "decline", "amount > 500", "yes", "the payment has 620.5"],
      ["country is FR", "no", 'the payment has "DE"'],
      [""],
    ]);
    expect(stdout).toContain("Only the rules that the folder holds take part");
  });

  test("an unknown outcome names the rules on which it hangs, in every format", async () => {
    const payment = write("payment.json", '{ "amount": 620, "country": "DE" }');
    for (const format of formats) {
      const { code, stdout } = await command("explain", payment, ...inFolder(), "--format", format);
      expect([format, code]).toEqual([format, 0]);
      expect(stdout).toContain("the payment has no payer.trusted");
      if (format !== "json") continue;
      const report: Report = JSON.parse(stdout);
      expect(report.decision).toEqual({
        kind: "unknown",
        outcomes: ["accept", "decline"],
        by: expect.arrayContaining(["trusted", "night-limit"]),
      });
    }
  });

  test("what cannot be told is one sentence: no semantics, no payment, a bad instant", async () => {
    const payment = write("payment.json", '[{ "amount": 620 }]');
    const explain = async (...words: string[]) => await command("explain", ...words, ...inFolder());
    const bad = await explain(payment);
    expect([bad.code, bad.stdout]).toEqual([1, ""]);
    expect(bad.stderr).toContain(`${payment}:1:1: the payment: found [{"amount":620}]; allowed: object`);
    write("payment.json", "{}");
    expect(await explain(payment, "--at", "yesterday")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        "evaluate a payment failed: yesterday is no instant. What to do: write it by RFC 3339",
      ),
    });
    expect((await explain(payment, "--side", "before")).code).toBe(2);
    vi.stubEnv("MERCHANT_RULES_CONTRACT", "seed");
    expect(await explain(payment)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: explain a payment failed: the contract does not say what its rules mean\. What to do: .*merchant-rules help simulation/,
      ),
    });
  });
});

test("contract check reads the semantics that the contract names, too", async () => {
  write("meaning.yaml", "version: 1\napplies: { at: conditions }\n");
  const file = write("own.yaml", "version: 1\nsemantics: ./meaning.yaml\n");
  const { code, stderr } = await command("contract", "check", file);
  expect(code).toBe(1);
  expect(stderr).toContain(
    `${join(folder, "meaning.yaml")}:2:12: applies.at: found "conditions"; allowed: a JSON Pointer`,
  );
  expect((await command("contract", "check", "whop")).code).toBe(0);
});

describe("verify", () => {
  test("finds the tests beside the rules, which are no rules, and passes", async () => {
    const { code, stdout, stderr } = await command("verify", ...inFolder());
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/Test of .*rules: as expected, 4 passed\n$/);
  });

  test("a case that is not as expected exits with 1, at its line, with expected, found and why", async () => {
    const file = write("rules/rules.test.yaml", testFile);
    const { code, stdout, stderr } = await command("verify", file, ...inFolder(), "--json", "--annotations", "github");
    expect(code).toBe(1);
    expect(stderr).toContain(`::error file=`);
    const report: Report = JSON.parse(stdout);
    expect([report.rules, report.unchanged]).toEqual([4, 3]);
    expect(report.findings).toEqual([
      {
        change: "failed",
        name: 'by amount (501, "FR")',
        file,
        line: 14,
        paths: [{ path: "rule", before: "night-limit", after: "fr" }],
        details: [
          "decision: decline, by fr",
          "fr (decline) applies:",
          "  amount > 500: yes (the payment has 501)",
          '  country is FR: yes (the payment has "FR")',
          "night-limit (decline) does not apply:",
          '  country is DE: no (the payment has "FR")',
        ],
      },
    ]);
    for (const format of formats) {
      const shown = await command("verify", file, ...inFolder(), "--format", format);
      expect([format, shown.code]).toEqual([format, 1]);
      expect(shown.stdout.replaceAll(/&#39;|&quot;|&#\d+;/g, '"')).toContain("night-limit (decline) does not apply");
    }
  });

  test("--coverage names what no case made true, or false; --threshold fails below", async () => {
    const covered = await command("verify", ...inFolder(), "--coverage");
    expect(covered.code).toBe(0);
    expect(covered.stdout).toContain("Coverage: 100 % (16 of 16 answers of rules and conditions were seen)");
    const file = write("few.test.yaml", testFile.replace(/ {2}- name: trusted[\s\S]*/, ""));
    const few = await command("verify", file, ...inFolder(), "--threshold", "60");
    expect(few.code).toBe(1);
    expect(few.stdout).toMatch(/Not tried by any case\n {2}Rule +What +Answer\n/);
    expect(few.stdout).toMatch(/ {2}trusted +payer trusted is true +never true\n/);
    expect(few.stderr).toMatch(/^error: Coverage: 50 % .* below the threshold of 60 %\. What to do: add cases/);
    expect((await command("verify", file, ...inFolder(), "--threshold", "x")).code).toBe(2);
  });

  test.each([
    [
      "expect: { outcome: decline, rule: night-limit }",
      "expect: { outcome: refuse }",
      '6:15: cases.0.expect.outcome: found "refuse"; allowed: an outcome: accept, decline, review',
    ],
    [
      "[500, DE, accept, null]",
      "[500, DE, accept]",
      '13:9: cases.2.rows.0: found [500,"DE","accept"]; allowed: 4 cells, one for each column',
    ],
    [
      "columns: [amount, ",
      "columns: [amuont, ",
      '11:15: cases.2.columns.0: found "amuont"; allowed: a field of payment.fields',
    ],
    ["[501, FR, decline", "[501, FR, no", '14:19: cases.2.rows.1.2: found "no"; allowed: an outcome'],
    ["expect: { outcome: decline, rule: night-limit }", "expects: {}", "cases.0.expects: found an unknown field"],
    ["cases:", "cases: &a\n  - *a\n  -", "rules.test.yaml"],
  ])("a file of tests that cannot be used is refused with line and column: %s → %s", async (right, wrong, said) => {
    const file = write("rules.test.yaml", testFile.replace(right, wrong));
    const { code, stdout, stderr } = await command("verify", file, ...inFolder());
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(said);
    expect(stderr).toContain("(PAYMENTS_INVALID)");
  });

  test("a rule in which anything is not explained is named once", async () => {
    write("rules/odd.yaml", JSON.stringify({ ...rule("odd", 5, "decline", []), region: "EU" }));
    const { stdout } = await command("verify", ...inFolder());
    expect(
      stdout.match(/What rule odd means is unknown, .*: \/region is a field that the semantics do not explain/g),
    ).toHaveLength(1);
  });

  test("without a file of tests it says so", async () => {
    rmSync(join(folder, "rules/rules.test.yaml"));
    expect(await command("verify", ...inFolder())).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`there is no *.test.yaml in ${folder} or below it`),
    });
  });
});

function sides(engine: EngineName): void {
  test("after is what is live with the run's changes: other stacks' and unmanaged rules, and edits by hand, stay in force", async () => {
    const { project, service, succeeds } = await openCommandStack(engine, {
      contract: contractOf({ semantics, rule: { owner: { at: "/metadata/managedBy" }, secret: ["/token"] } }),
    });
    const rules = {
      a: rule("a", 10, "decline", [over(100)]),
      b: rule("b", 20, "review", [over(1000)]),
      d: rule("d", 50, "accept", [is("payer.trusted", true)]),
    };
    project.declare({ all: { rules } });
    await succeeds("up");
    service.put(undefined, rule("by-hand", 30, "decline", [is("country", "XX")]));
    service.put(undefined, {
      ...rule("theirs", 35, "review", [is("country", "YY")]),
      metadata: { managedBy: othersMarkBy("other/prod/all") },
    });
    const live = service.rules().find((each) => each.rule.name === "a");
    service.put(live?.ruleId ?? "", { ...live?.rule, conditions: [over(50)] });
    project.declare({
      all: {
        rules: {
          a: rules.a,
          b: rule("b", 20, "decline", [over(1000)]),
          c: rule("c", 40, "decline", [is("currency", "USD")]),
        },
      },
    });
    const at = ["--cwd", project.folder, "--stack", project.stack, "--engine", engine];
    const known = { payer: { trusted: false }, country: "DE", currency: "EUR" };
    const decisions: Record<string, string[]> = {};
    for (const [name, changes] of Object.entries({
      trusted: { amount: 1500, payer: { trusted: true } },
      edited: { amount: 60 },
      made: { amount: 1, currency: "USD" },
      byHand: { amount: 1, country: "XX" },
      theirs: { amount: 1, country: "YY" },
      none: { amount: 1 },
    })) {
      writeFileSync(join(project.folder, "payment.json"), JSON.stringify({ ...known, ...changes }));
      decisions[name] = [];
      for (const side of ["before", "after"]) {
        const words = ["explain", join(project.folder, "payment.json"), ...at, "--side", side, "--json"];
        const { stdout, stderr } = await project.merchantRules(...words);
        expect(stderr).toBe("");
        const { decision }: Report = JSON.parse(stdout);
        decisions[name].push([decision?.outcomes?.join("/"), ...(decision?.by ?? [])].join(" "));
      }
    }
    expect(decisions).toEqual({
      trusted: ["accept d", "decline b"],
      edited: ["decline a", "decline a"],
      made: ["accept", "decline c"],
      byHand: ["decline by-hand", "decline by-hand"],
      theirs: ["review theirs", "review theirs"],
      none: ["accept", "accept"],
    });
    const program = await project.merchantRules(
      "explain",
      join(project.folder, "payment.json"),
      ...at,
      "--side",
      "program",
    );
    expect(program.stdout).toMatch(/Only the rules that the program declares take part/);
    expect(program.stdout).not.toContain("by-hand");
    const state = await project.merchantRules(
      "explain",
      join(project.folder, "payment.json"),
      ...at,
      "--side",
      "state",
    );
    expect(state.stdout).toMatch(/ {2}d +does not apply/);
  }, 300_000);
}

describe("with the local engine", () => sides("local"));
describe.skipIf(!hasPulumi)("with Pulumi's CLI", () => sides("pulumi"));
