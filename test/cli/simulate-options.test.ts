import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { ruleType } from "../../provider/host/types.ts";
import type { Report } from "../../report/model/report.ts";
import { presetFile } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { newFolder } from "../support/folder.ts";
import { contractOf } from "../support/stack/contracts.ts";
import { resource } from "../support/stack/hosts.ts";
import { type Served, serve } from "../support/stack/service.ts";
import { type Ran, run } from "./command.ts";

const folder = newFolder();
const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const semantics = readFileSync(presetFile("illustrative").replace(".contract.", ".semantics."), "utf8").replace(
  "force:\n",
  "force:\n  from: { at: /startsAt, counts: true }\n  clock: now\n",
);

function over(name: string, amount: number, more: JsonObject = {}): JsonObject {
  const conditions = [{ field: "amount", operator: "gt", value: amount }];
  return { name, priority: amount, isActive: true, conditions, actions: [{ type: "decline" }], ...more };
}

/** A preview of a program that makes one rule a connection. */
function previewOf(rules: readonly { readonly definition: JsonObject; readonly connection?: string }[]): string {
  const steps = rules.map((inputs, k) => ({
    op: "create",
    urn: `urn:pulumi:prod::shop::${ruleType}::made-${k}`,
    newState: { type: ruleType, inputs: resource(`made-${k}`, { ...inputs }) },
  }));
  return write(`preview-${rules.length}.json`, JSON.stringify({ steps, changeSummary: {} }));
}

const lines = [10, 60, 70, 600].map((amount) => JSON.stringify({ amount, currency: "EUR" })).join("\n");
const payments = write("payments.ndjson", lines);
const preview = previewOf([{ definition: over("made", 50, { startsAt: "2026-06-01T00:00:00Z" }) }]);

let served: Served;
beforeAll(async () => {
  const file = write("semantics.yaml", semantics);
  served = await serve(contractOf({ semantics: file, rule: { naturalKey: "/name" } }));
  served.service.put(undefined, over("live", 500));
});

const simulate = (...words: string[]): Promise<Ran> => run(["simulate", "--cwd", folder, ...words], served.environment);

/** How many payments have each outcome before and after. */
function matrixOf({ code, stdout, stderr }: Ran): string[] {
  expect(code, stderr).toBe(0);
  const report: Report = JSON.parse(stdout);
  return (report.simulation?.matrix ?? []).map((cell) => `${cell.payments} ${cell.before} → ${cell.after}`).sort();
}

test("a preview that is given says what the run changes, and --at by what time rules are in force", async () => {
  const words = ["--payments", payments, "--preview", preview, "--json"];
  const changed = ["1 accept → accept", "1 decline → decline", "2 accept → decline"];
  expect(matrixOf(await simulate(...words, "--at", "2026-06-01T00:00:00Z"))).toEqual(changed);
  expect(matrixOf(await simulate(...words, "--at", "2026-05-31T23:59:59Z"))).toEqual([
    "1 decline → decline",
    "3 accept → accept",
  ]);
  const bad = await simulate(...words, "--at", "yesterday");
  expect(bad).toMatchObject({ code: 1, stdout: "" });
  expect(bad.stderr).toContain("yesterday is no instant");
});

test("payments come from standard input, which cannot be the preview as well", async () => {
  const stdin = vi.spyOn(process, "stdin", "get");
  onTestFinished(() => stdin.mockRestore());
  // No type of standard input but this one can be made.
  stdin.mockReturnValue(Readable.from([Buffer.from(lines)]) as unknown as typeof process.stdin);
  const words = ["--preview", preview, "--at", "2026-06-01T00:00:00Z"];
  const ran = await simulate("--payments", "-", ...words, "--json");
  expect(matrixOf(ran)).toEqual(["1 accept → accept", "1 decline → decline", "2 accept → decline"]);
  expect(JSON.parse(ran.stdout).simulation).toEqual(
    JSON.parse((await simulate("--payments", payments, ...words, "--json")).stdout).simulation,
  );
  const both = await simulate("--payments", "-", "--preview", "-");
  expect(both.code).toBe(2);
  expect(both.stderr).toContain("--payments and --preview cannot both be standard input");
});

test("rules of several connections are refused until one is named", async () => {
  const several = previewOf([
    { definition: over("made", 50) },
    { definition: over("elsewhere", 20), connection: "europe" },
  ]);
  const words = ["--payments", payments, "--preview", several];
  const refused = await simulate(...words);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain("several connections (default, europe)");
  expect(refused.stderr).toContain("--connection");
  expect(matrixOf(await simulate(...words, "--connection", "default", "--json"))).toEqual([
    "1 accept → accept",
    "1 decline → decline",
    "2 accept → decline",
  ]);
});
