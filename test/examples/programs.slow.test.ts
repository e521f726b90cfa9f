import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LocalService } from "../../local/service/index.ts";
import { loadContract, loadPreset } from "../../sdk/contract/index.ts";
import { valueAt } from "../../sdk/json/index.ts";
import { namesOf, startService } from "../support/stack/service.ts";
import { copyExample } from "./copy.ts";

/** Applies a copy of an example to a service, by the local engine. */
async function up(example: ReturnType<typeof copyExample>, stack: string, { url }: LocalService): Promise<string> {
  const variables = { MERCHANT_RULES_BASE_URL: url };
  const { code, output } = await example.merchantRules(["local", "up", "--stack", stack, "--yes"], variables);
  expect(code, output).toBe(0);
  return output;
}

test("examples/quickstart declares three rules", async () => {
  const service = await startService({ contract: loadPreset("illustrative") });
  await up(copyExample("quickstart"), "dev", service);
  expect(namesOf(service.rules())).toEqual(["home-cards", "large-amounts", "trusted-payers"]);
});

test("examples/rules-from-files declares a rule for each file, and the one that the program computes", async () => {
  const service = await startService({ contract: loadPreset("illustrative") });
  await up(copyExample("rules-from-files"), "dev", service);
  expect(namesOf(service.rules())).toEqual(["blocked-countries", "euro-only", "large-amounts", "trusted-payers"]);
});

test("examples/environments declares in the sandbox what the sandbox's overlay says", async () => {
  const service = await startService({ contract: loadPreset("illustrative") });
  const example = copyExample("environments");
  writeFileSync(join(example.folder, "Pulumi.sandbox.yaml"), `config:\n  merchant-rules:baseUrl: ${service.url}\n`);
  await up(example, "sandbox", service);
  expect(namesOf(service.rules())).toEqual(["large-amounts", "test-cards", "trusted-countries"]);
  const large = service.rules().find(({ rule }) => rule.name === "large-amounts");
  expect(large?.rule.conditions).toEqual([{ field: "amount", operator: "gt", value: 100 }]);
});

test("examples/own-contract finds its contract and its account by itself, marks its rules, and its contract judges changes", async () => {
  const example = copyExample("own-contract");
  const contract = loadContract(join(example.folder, "merchant-rules.contract.yaml"));
  const service = await startService({ contract: contract, parameters: { accountId: "acc-4711" } });
  await up(example, "dev", service);
  const marks = service.rules().map(({ rule }) => String(valueAt(rule, "/labels/managedBy")));
  const names = ["first-payments", "known-mules", "night-payouts"].map((key) => `own-contract/dev/all#${key}`);
  expect(marks.map((mark) => mark.split(" ")[1]).sort()).toEqual(names);
  const ids = new Set(marks.map((mark) => /^([0-9a-f]{32})\.[0-9a-f]{16}\.[0-9a-f]{16} /.exec(mark)?.[1]));
  expect([ids.size, ids.has(undefined)]).toEqual([1, false]);

  const preview = () =>
    example.merchantRules(["local", "preview", "--stack", "dev"], { MERCHANT_RULES_BASE_URL: service.url });
  const file = join(example.folder, "rules/known-mules.yaml");
  const rule = readFileSync(file, "utf8");
  writeFileSync(file, rule.replace("code: known-mules", "code: mules"));
  expect((await preview()).output).toContain("1 to replace, 2 unchanged");
  writeFileSync(file, rule.replace("outcome: block", "outcome: maybe"));
  expect(await preview()).toMatchObject({
    code: 1,
    output: expect.stringContaining(
      'property "rules["known-mules"].outcome": must be equal to one of the allowed values',
    ),
  });
});
