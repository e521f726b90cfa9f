import { describe, expect, test } from "vitest";
import { startWorld } from "../../../local/testing/index.ts";
import { MerchantRuleSet } from "../../../provider/index.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, list } from "../../support/stack/contracts.ts";
import { HookStack, openWorld } from "../../support/stack/hooks.ts";
import { contractFileOf } from "../../support/stack/service.ts";
import { exported } from "./exported.ts";

const rules = { "rule-1": rule(1), "rule-2": rule(2), "rule-3": rule(3) };
const pagination = { type: "cursor", limit: "limit", next: "/next" } as const;
const summarised = (more: ContractInput["rule"] = {}): ContractInput =>
  contractOf({ operations: { list: { ...list, pagination, summaries: true } }, rule: more, limits: { pageSize: 2 } });
const unaware = contractOf({ operations: { list: { ...list, pagination } }, limits: { pageSize: 2 } });

test("a list of summaries is read whole: a set is made, seen as declared, seen to differ, exported and destroyed", async () => {
  const contract = summarised();
  const world = await startWorld({ contract, program: () => void new MerchantRuleSet("all", { rules }) });
  await world.up();
  world.service.resetRequests();
  await world.refresh();
  expect(world.service.requestCount("get")).toBe(3);
  await world.expectNoChanges({ refresh: true });
  await world.expectNoDrift();
  world.edit({ name: "rule-3" }, { priority: 77 });
  expect((await world.drift()).rules).toMatchObject([{ key: "rule-3", paths: [{ path: "priority" }] }]);
  await world.up({ refresh: true });
  const { code, rules: written, stdout, stderr } = await exported(world.service.url, "token-of-default", contract);
  expect(code, stdout + stderr).toBe(0);
  expect(written).toEqual(rules);
  await world.destroy();
  expect(world.rules()).toEqual([]);
});

describe("a list of summaries under a contract that takes them for rules", () => {
  test("is exported not at all, and whole as the error advises", async () => {
    const world = await openWorld({ contract: summarised(), spoken: unaware });
    for (const each of Object.values(rules)) world.service.put(undefined, each);
    const { MERCHANT_RULES_BASE_URL: url = "", MERCHANT_RULES_TOKEN: token = "" } = world.environment;
    const part = await exported(url, token, unaware);
    expect(part.code).not.toBe(0);
    expect(part.rules).toEqual({});
    expect(part.stdout + part.stderr).toMatch(
      /shows more than the list: .*\bpriority\b.*set operations\.list\.summaries to true/s,
    );
    expect((await exported(url, token, summarised())).rules).toEqual(rules);
  });

  test("is no drift of all that they lack", async () => {
    const world = await openWorld({ contract: summarised(), spoken: unaware });
    const stack = new HookStack(world, "merchantRuleSet");
    expect(await stack.up({ all: { rules } })).toEqual([]);
    const [message] = await stack.refresh();
    expect(message).toContain("set operations.list.summaries to true");
    expect(stack.state[0]?.outputs).toMatchObject({ rules });
    const MERCHANT_RULES_CONTRACT = contractFileOf(summarised());
    expect(await stack.refresh({ MERCHANT_RULES_CONTRACT })).toEqual([]);
    expect(stack.state[0]?.outputs).toMatchObject({ rules });
  });

  test("without the natural key makes no doubles", async () => {
    const world = await openWorld({ contract: summarised({ naturalKey: null }), spoken: unaware });
    world.service.put(undefined, rule(1));
    const [message] = await new HookStack(world).up({ a: { definition: rule(1) } });
    expect(message).toContain("set operations.list.summaries to true");
    expect(world.service.rules()).toHaveLength(1);
  });

  test("is no list of summaries for what the service alone sets", async () => {
    const world = await openWorld();
    const { MERCHANT_RULES_BASE_URL: url = "", MERCHANT_RULES_TOKEN: token = "" } = world.environment;
    for (const each of Object.values(rules)) world.service.put(undefined, each);
    expect((await exported(url, token, contractOf())).rules).toEqual(rules);
    expect(world.asked()).toEqual(["list", "get"]);
  });
});
