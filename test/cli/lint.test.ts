import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { formats } from "../../report/formats/formats.ts";
import type { Report } from "../../report/index.ts";
import { presetFile } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";
import { contractOf } from "../support/stack/contracts.ts";
import { command, setVariables } from "./command.ts";

const semantics = presetFile("illustrative").replace(".contract.", ".semantics.");
const contract = contractOf({ semantics, rule: { naturalKey: "/name" } });

let folder: string;

beforeEach(() => {
  folder = newFolder({
    "merchant-rules.contract.yaml": JSON.stringify({ ...contract, parameters: {} }),
    "Pulumi.yaml": "name: shop\nruntime: nodejs\n",
  });
  setVariables();
});

function write(name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function rule(name: string, priority: number, type: string, ...conditions: readonly JsonObject[]): void {
  const made = { name, priority, isActive: true, conditions, actions: [{ type }] };
  write(`rules/${name}.yaml`, JSON.stringify(made, null, 2));
}

const amount = (operator: string, value: number) => ({ field: "amount", operator, value });
const lint = async (...words: string[]) =>
  await command("lint", "--cwd", folder, "--folder", join(folder, "rules"), ...words);

function shadowed(): void {
  rule("large", 30, "decline", amount("gt", 1000));
  rule("small", 20, "accept", amount("lte", 1000));
  rule("middle", 10, "review", amount("gte", 500), { field: "country", operator: "eq", value: "DE" });
}

test("a finding has its rule, the rules concerned, their files and a payment that shows it", async () => {
  shadowed();
  const { code, stdout, stderr } = await lint("--json");
  expect([code, stderr]).toEqual([0, ""]);
  const report: Report = JSON.parse(stdout);
  const fileOf = (name: string): string => join(folder, "rules", `${name}.yaml`);
  expect(report).toMatchObject({ report: "lint", rules: 3, unchanged: 2, counts: { shadowed: 1 } });
  expect(report.findings[0]).toMatchObject({
    change: "shadowed",
    name: "middle",
    file: fileOf("middle"),
    line: 1,
    reason: "whatever it applies to is decided before, by large (decline) and small (accept)",
    others: [
      { name: "large", file: fileOf("large"), line: 1 },
      { name: "small", file: fileOf("small"), line: 1 },
    ],
    shownBy: { payment: { amount: 500, country: "DE" } },
  });
});

test("every format names the finding; --strict makes it an exit code", async () => {
  shadowed();
  for (const format of formats) {
    const { code, stdout } = await lint("--format", format, "--strict");
    expect([format, code]).toEqual([format, 7]);
    expect(stdout).toContain("middle");
    expect(stdout).toContain("large (decline) and small (accept)");
  }
  expect((await lint()).code).toBe(0);
});

test("the last day of the calendar is late enough for rules that end soon", async () => {
  shadowed();
  const { code, stdout } = await lint("--ends-within", "99999", "--at", "9999-12-31T00:00:00Z");
  expect([code, stdout]).toEqual([0, expect.stringContaining("Lint of")]);
});

test("a line of the ignore file silences a kind of finding of a rule until a day, and notes say so", async () => {
  shadowed();
  rule("rest", 1, "accept");
  const lines = ["legacy-*", "# meant", "lint:shadowed mid* until 2026-06-30", "lint:shadowed rest until 2026-05-31"];
  const file = write(".merchant-rules-ignore", `${lines.join("\n")}\n`);
  const on = async (day: string) => await lint("--strict", "--at", `${day}T12:00:00Z`);
  const last = await on("2026-06-30");
  expect(last.stdout).toContain(`note: 1 finding is ignored, by "lint:shadowed mid* until 2026-06-30" (`);
  expect(last.stdout).toContain('note: "lint:shadowed rest until 2026-05-31" (');
  expect(last.stdout).toContain("Lint of");
  expect([last.code, last.stdout.includes("shadowed  middle")]).toEqual([7, false]);
  expect((await on("2026-07-01")).stdout).toContain("shadowed  middle");
  write(".merchant-rules-ignore", "lint:shadowed middle until 2027-02-31\n");
  expect((await lint()).stderr).toContain("does not end with the last day on which it holds");
  write(".merchant-rules-ignore", "lint:shaded middle until 2026-06-30\n");
  const { code, stderr } = await lint();
  expect([code, stderr]).toEqual([1, expect.stringContaining("does not name a kind of finding: never-matches,")]);
  expect(stderr).toContain("lint:catch-all default until 2027-03-31");
  rmSync(file);
});

test("a rule that cannot be read is named with the reason; to --strict it cannot be told, as where none can be read", async () => {
  shadowed();
  rule("odd", 40, "decline", { field: "amount", operator: "near", value: 5 });
  const why = "What rule odd means is unknown, and so may be what hangs on it: /conditions/0/operator";
  const plain = await lint();
  expect([plain.code, plain.stdout]).toEqual([0, expect.stringContaining(`warning: ${why}`)]);
  expect(plain.stdout).toContain("shadowed  middle");
  const { code, stdout, stderr } = await lint("--strict", "--annotations", "github");
  expect([code, stdout]).toEqual([1, expect.stringContaining(`error: ${why}`)]);
  expect(stdout).toContain("rules: cannot be told; seen until then: 1 shadowed, 3 other rules");
  expect(stderr).toMatch(/::error file=.*odd.yaml,line=1.*What rule odd means is unknown/);
  for (const name of ["large", "small", "middle"]) rmSync(join(folder, "rules", `${name}.yaml`));
  for (const words of [[], ["--strict"]]) {
    const none = await lint(...words);
    expect([none.code, none.stdout]).toEqual([1, expect.stringContaining("rules: cannot be told")]);
  }
});

test("a wrong call is one sentence", async () => {
  shadowed();
  expect((await lint("--ends-within", "soon")).code).toBe(2);
  const { code, stderr } = await lint("--at", "tomorrow");
  expect([code, stderr]).toEqual([1, expect.stringContaining("write it by RFC 3339, such as 2026-01-31T12:00:00Z")]);
});
