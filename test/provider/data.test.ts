import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, test } from "vitest";
import type { LocalService } from "../../local/service/index.ts";
import {
  getMerchantRule,
  getMerchantRuleOutput,
  listMerchantRules,
  listMerchantRulesOutput,
} from "../../provider/index.ts";
import { defineContract } from "../../sdk/contract/index.ts";
import { newFolder } from "../support/folder.ts";
import { rule } from "../support/rules.ts";
import { contractOf, list } from "../support/stack/contracts.ts";
import { startService } from "../support/stack/service.ts";

let service: LocalService;
const folder = newFolder();
const tokens = { acme: "token-acme", globex: "token-globex" };
const contract = contractOf({
  operations: { list },
  rule: { foreign: [{ at: "/system", is: [true] }], gone: [{ at: "/status", is: ["deleted"] }], secret: ["/pin"] },
});

// One service for all: a program has one session, which keeps what it has read.
beforeAll(async () => {
  await pulumi.runtime.setMocks({ newResource: () => ({ id: "", state: {} }), call: () => ({}) }, "shop", "prod", true);
  const merchants = Object.entries(tokens).map(([name, token]) => ({ name, token }));
  service = await startService({ contract: defineContract(contract), merchants });
  service.put("1", rule(1, { pin: "1234" }));
  service.put("2", rule(2));
  service.put("3", rule(3, { system: true }));
  service.put("4", rule(4, { status: "deleted" }));
  writeFileSync(join(folder, "contract.json"), JSON.stringify(contract));
  writeFileSync(join(folder, "bare.json"), JSON.stringify({ version: 1 }));
  pulumi.runtime.setAllConfig({
    "merchant-rules:baseUrl": service.url,
    "merchant-rules:contract": join(folder, "contract.json"),
    "merchant-rules:token": tokens.acme,
    "merchant-rules:connections": JSON.stringify({
      bare: { baseUrl: service.url, contract: join(folder, "bare.json"), token: tokens.acme },
      other: { baseUrl: service.url, token: tokens.globex },
      nowhere: { baseUrl: service.url },
    }),
  });
});

const known = <T>(value: pulumi.Output<T>): Promise<T> => new Promise((resolve) => value.apply(resolve));

describe("a program reads rules, in a preview too", () => {
  test("one by its id, whoever manages it", async () => {
    expect(await getMerchantRule({ ruleId: "2" })).toEqual({ ruleId: "2", rule: expect.objectContaining(rule(2)) });
    expect(await getMerchantRule({ ruleId: "3" })).toMatchObject({ rule: { system: true } });
  });

  test("one by its natural key", async () => {
    expect(await getMerchantRule({ naturalKey: "rule-2" })).toMatchObject({ ruleId: "2" });
  });

  test("all that are nobody else's, in the order of their ids, by one reading of the list", async () => {
    service.resetRequests();
    expect((await listMerchantRules()).map(({ ruleId }) => ruleId)).toEqual(["1", "2"]);
    await listMerchantRules();
    expect(service.requests.filter(({ operation }) => operation === "list").length).toBeLessThanOrEqual(1);
  });

  test("over another connection, which sees its own merchant's rules", async () => {
    expect(await listMerchantRules({ connection: "other" })).toEqual([]);
  });

  test("with inputs that are outputs; the result is a secret where the contract has secret fields", async () => {
    const one = getMerchantRuleOutput({ ruleId: pulumi.output("1") });
    expect(await known(one)).toMatchObject({ rule: { pin: "1234" } });
    expect(await pulumi.isSecret(one)).toBe(true);
    const all = listMerchantRulesOutput({ connection: pulumi.output("default") });
    expect((await known(all)).map(({ ruleId }) => ruleId)).toEqual(["1", "2"]);
    expect(await pulumi.isSecret(all)).toBe(true);
  });
});

describe("what cannot be read says why, and what to do", () => {
  test.each<[string, Parameters<typeof getMerchantRule>[0], RegExp]>([
    [
      "an id that is not there",
      { ruleId: "77" },
      /read rule 77 failed: the service has no such rule.*listMerchantRules/,
    ],
    ["a name that is not there", { naturalKey: "nobody" }, /with the natural key "nobody" failed: the service has no/],
    ["a rule that counts as deleted", { ruleId: "4" }, /no such rule/],
    ["nothing", {}, /either ruleId or naturalKey/],
    ["two at once", { ruleId: "1", naturalKey: "rule-1" }, /either ruleId or naturalKey/],
    [
      "a name without a list",
      { naturalKey: "rule-1", connection: "bare" },
      /the contract has no operations\.list.*describe/,
    ],
    ["a connection that nobody has set", { ruleId: "1", connection: "staging" }, /connection "staging" lacks/],
    ["a connection without credentials", { ruleId: "1", connection: "nowhere" }, /MERCHANT_RULES_NOWHERE__TOKEN/],
  ])("%s", async (_, args, message) => {
    const error = await getMerchantRule(args).catch((failure: unknown) => failure);
    expect(String(error)).toMatch(message);
    // By this mark Pulumi prints the message alone.
    expect(error).toHaveProperty("__pulumiRunError", true);
  });

  test("all, without a list", async () => {
    await expect(listMerchantRules({ connection: "bare" })).rejects.toThrow(
      /list the rules failed: the contract has no/,
    );
  });
});
