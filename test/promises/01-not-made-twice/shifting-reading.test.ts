import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf, list, owner } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openStack, type Place } from "../../support/stack/place.ts";

const offset = { type: "offset", offset: "skip", limit: "limit" } as const;
const spoken = (pagination: object, pageSize = 200) => ({
  ...JSON.parse(JSON.stringify(contractOf({ rule: { owner } }))),
  limits: { pageSize },
  operations: { ...contractOf().operations, list: { ...list, pagination } },
});
const names = ({ service }: Place): unknown[] =>
  service.rules().flatMap((each) => (String(each.rule.name) === "rule-5" ? [each.rule.name] : []));

onBothEngines((engine) => {
  test.each([
    ["an offset", spoken(offset, 2)],
    ["an offset, smaller than they were asked for", spoken(offset)],
    ["a URL that holds an offset", spoken({ type: "link" })],
  ])(
    "a rule that one reading misses because rows move between its pages is not made a second time (pages by %s)",
    async (_case, contract) => {
      const { place, stack } = await openStack(engine, {
        contract: contractOf({ rule: { owner } }),
        spoken: contract,
        allowDuplicates: true,
      });
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
      expect(names(place), output).toEqual(["rule-5"]);
    },
  );
});
