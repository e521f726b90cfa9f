import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf, lagging, list, owner } from "../../support/stack/contracts.ts";
import { openStack } from "../../support/stack/place.ts";

const [a, b, c] = [rule(1), rule(2), rule(3)];
test("a rule that the first of two readings showed, and that somebody deleted before the second, is not taken (pages that shift)", async () => {
  const pagination = { type: "offset", offset: "skip", limit: "limit" } as const;
  const operations = { list: { ...list, pagination } };
  const { place, stack } = await openStack("local", {
    contract: contractOf({ operations, rule: { owner }, limits: { pageSize: 2 } }),
  });
  const rules = Object.fromEntries([1, 2, 3, 4, 5].map((k) => [`r${k}`, rule(k)]));
  const { r5: _, ...fewer } = rules;
  await stack.up({ all: { rules } });
  const mark = place.markOf("rule-5");
  await stack.up({ all: { rules: fewer } });
  const id = place.putMarked(rule(5), mark);
  let readings = 0;
  place.front.behave(({ method, path }, pass) => {
    if (method === "GET" && path.includes("/rules") && !/skip=[1-9]/.test(path)) readings += 1;
    if (readings === 2) place.service.remove(id);
    return pass();
  });
  await stack.up({ all: { rules } });
  expect(readings).toBeGreaterThan(1);
  expect(place.names()).toContain("rule-5");
});

test("rules that were deleted a moment ago and are declared again are made, while a list that lags still shows them", async () => {
  const { place, stack } = await openStack("local", {
    contract: contractOf(lagging(3000)),
  });
  await stack.up({ all: { rules: { a, b, c } } });
  await sleep(2600);
  place.service.faults.set({ kind: "stale-list", lagMs: 2500 });
  await stack.up({ all: { rules: { a } } });
  await stack.up({ all: { rules: { a, b, c } } });
  expect(place.names()).toEqual(["rule-1", "rule-2", "rule-3"]);
});

test("a rule that a killed run made a moment ago, and that reads show late, is not made twice (lag unknown)", async () => {
  const contract = contractOf({ ...lagging(null), rule: { owner } });
  const { place, stack } = await openStack("local", { contract, allowDuplicates: true });
  await stack.up({ all: { rules: { a, b } } });
  const mark = place.markOf("rule-2");
  await stack.up({ all: { rules: { a } } });
  const id = place.putMarked(b, mark);
  let gets = 0;
  place.front.behave(({ method, path }, pass) => {
    if (method !== "GET" || !path.endsWith(`/${id}`)) return pass();
    gets += 1;
    return gets === 1 ? { status: 404, body: {} } : pass();
  });
  await stack.up({ all: { rules: { a, b } } });
  expect(place.names()).toEqual(["rule-1", "rule-2"]);
});

test("a rule whose natural key the service sets, that a killed run made, is found by its mark", async () => {
  const contract = contractOf({ rule: { owner, readOnly: ["/name"] } });
  const { place, stack } = await openStack("local", { contract, allowDuplicates: true });
  const { name: _, ...keyless } = b;
  await stack.up({ all: { rules: { a, keyless } } });
  const mark = place.markOf(undefined);
  await stack.up({ all: { rules: { a } } });
  place.putMarked({ ...keyless, name: "set by the service" }, mark);
  await stack.up({ all: { rules: { a, keyless } } });
  expect(place.service.rules().map((each) => each.rule.priority)).toEqual([1, 2]);
});
