import { expect, onTestFinished, test } from "vitest";
import { loadPreset } from "../../../sdk/contract/index.ts";
import { isJsonObject } from "../../../sdk/json/index.ts";
import { many } from "../../support/rules.ts";
import { ProviderHost } from "../../support/stack/provider-host.ts";
import { idsOf, serve } from "../../support/stack/service.ts";

const total = 10_000;

test("10,000 rules in one set: each is created, read by page and deleted, with one request each, and the list once after the first and once after all", async () => {
  const served = await serve();
  const { service } = served;
  const start = async (): Promise<ProviderHost> => {
    const host = await ProviderHost.start({}, served.environment, "merchantRuleSet");
    onTestFinished(() => host.close());
    return host;
  };
  const rules = many(total);
  const pages = Math.ceil(total / loadPreset("illustrative").limits.pageSize);

  const { id, outs } = await (await start()).create({ rules });
  expect(service.requestCount("create")).toBe(total);
  // An empty list before, one of one rule after the first, and all; and one more where the creates take longer than ten seconds.
  const listed = service.requestCount("list");
  expect(listed).toBeGreaterThanOrEqual(1 + 1 + pages);
  expect(listed).toBeLessThanOrEqual(1 + 1 + 3 * pages);
  expect(service.requestCount()).toBe(total + listed);
  expect(new Set(service.rules().map((each) => each.rule.name)).size).toBe(total);
  expect(service.rules()).toHaveLength(total);
  const { ruleIds = null } = outs;
  expect(isJsonObject(ruleIds) ? Object.values(ruleIds).toSorted() : []).toEqual(idsOf(service.rules()));

  // Another run, another host: it knows nothing but the state.
  service.resetRequests();
  const host = await start();
  const read = await host.read(id, outs);
  expect(read.props).toEqual(outs);
  expect(service.requestCount("list")).toBe(pages);
  expect(service.requestCount()).toBe(pages);

  service.resetRequests();
  await host.delete(id, read.props);
  expect(service.requestCount("delete")).toBe(total);
  // After the first delete the list is read again, and the empty one at last; before it, where the witness is older than 10 s.
  const lists = service.requestCount("list");
  expect([pages + 1, 2 * pages + 1]).toContain(lists);
  expect(service.requestCount()).toBe(total + lists);
  expect(service.rules()).toEqual([]);
});
