import { expect, test, vi } from "vitest";
import { withValueAt } from "../../../sdk/json/index.ts";
import { many, rule } from "../../support/rules.ts";
import { contractOf, list, marking, owner } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { hooksHere, markBy, ownedBy, sessionOf } from "../../support/stack/hosts.ts";
import { openPlace, openStack } from "../../support/stack/place.ts";

const offset = { type: "offset", offset: "skip", limit: "limit" } as const;
const spoken = (pagination: object, pageSize = 200) => ({
  ...JSON.parse(JSON.stringify(marking)),
  limits: { pageSize },
  operations: { ...contractOf().operations, list: { ...list, pagination } },
});

onBothEngines((engine) => {
  test("a rule that adopt names and that goes away meanwhile is not made beside another one of the same natural key", async () => {
    const { place, stack } = await openStack(engine, { allowDuplicates: true });
    const named = place.service.put(undefined, rule(1, { name: "old name" }));
    place.service.put(undefined, rule(1));
    place.front.behave(({ method, path }, pass) => {
      if (!path.includes(named) || method === "POST") return pass();
      place.service.remove(named);
      return pass();
    });
    stack.declare({ all: { rules: { a: rule(1) }, adopt: { a: named } } });
    const { output } = await stack.run("up");
    expect(place.names(), output).toEqual(["rule-1"]);
  });

  test.each([
    ["an offset", spoken(offset, 2)],
    ["an offset, smaller than they were asked for", spoken(offset)],
    ["a URL that holds an offset", spoken({ type: "link" })],
  ])(
    "a rule that one reading misses because rows move between its pages is not made a second time (pages by %s)",
    async (_case, contract) => {
      const { place, stack } = await openStack(engine, { contract: marking, spoken: contract, allowDuplicates: true });
      const rules = Object.fromEntries([1, 2, 3, 4, 5].map((k) => [`r${k}`, rule(k)]));
      const { r5: _, ...fewer } = rules;
      let isRead = true;
      let readings = 0;
      place.front.behave(({ method, path }, pass) => {
        const { pathname, searchParams } = new URL(path, "http://service");
        if (method === "POST") isRead = true;
        if (method !== "GET" || !pathname.endsWith("/rules")) return pass();
        const skip = Number(searchParams.get("skip") ?? 0);
        if (skip === 0) readings += 1;
        // Somebody deletes a rule of the first page while the first reading is at it: rows move up by one.
        const from = !isRead && skip > 0 && readings === 1 ? skip + 1 : skip;
        const all = place.service.rules().map(({ ruleId, rule: live }) => ({ id: ruleId, ...live }));
        const next = `<${place.front.url}${pathname}?skip=${skip + 2}>; rel="next"`;
        const body = { rules: all.slice(from, from + 2) };
        return { status: 200, body, ...(from + 2 < all.length ? { headers: { link: next } } : {}) };
      });
      // A rule that a killed run of this stack has made, or somebody else.
      for (const k of [11, 12, 5]) place.service.put(undefined, rule(k));
      await stack.up({ all: { rules: fewer } });
      isRead = false;
      readings = 0;
      stack.declare({ all: { rules } });
      const { output } = await stack.run("up");
      expect(
        place.names().filter((name) => name === "rule-5"),
        output,
      ).toHaveLength(1);
    },
  );
});

const contract = contractOf({ rule: { owner }, limits: { concurrency: 1 } });

test("a run that goes on for long looks again before it creates; where another run makes the same rules, each time", async () => {
  const { service, front, environment, names } = await openPlace({ contract, allowDuplicates: true });
  const rules = many(6);
  const clock = performance.now.bind(performance);
  let later = 0;
  vi.spyOn(performance, "now").mockImplementation(() => clock() + later);
  // With each create of this run the other one makes the next rule.
  let created = 0;
  front.behave(({ method, body }, pass) => {
    if (method !== "POST") return pass();
    const k = Number(String(Object(body).name).slice("rule-".length)) + 1;
    if (k < 6) service.put(undefined, Object(withValueAt(rule(k), owner.at, markBy("shop/prod/all", `r${k}`))));
    if (created === 0) later = 1_000_000;
    created += 1;
    return pass();
  });
  const host = hooksHere("merchantRuleSet", sessionOf({ ...environment, MERCHANT_RULES_BASE_URL: front.url }));
  await host.create({ rules, ...ownedBy("shop/prod/all") });
  expect(names()).toEqual(Object.values(rules).map(({ name }) => name));
  expect(created).toBe(3);
});
