import { expect, test } from "vitest";
import { rule } from "../../support/connections.ts";
import { onBothEngines, openPlace, owner, type Place } from "../stacks.ts";
import { contractOf, list } from "../worlds/world.ts";

const pagination = { type: "offset", offset: "skip", limit: "limit" } as const;
const contract = contractOf({
  operations: { list: { ...list, pagination } },
  rule: { owner },
  limits: { pageSize: 2 },
});
const names = ({ service }: Place): unknown[] =>
  service.rules().flatMap((each) => (String(each.rule.name) === "rule-5" ? [each.rule.name] : []));

onBothEngines((engine) => {
  test("a rule that one reading misses because rows move between its pages is not made a second time", async () => {
    const place = await openPlace({ contract, allowDuplicates: true });
    const stack = await place.stack(engine);
    const rules = Object.fromEntries([1, 2, 3, 4, 5].map((k) => [`r${k}`, rule(k)]));
    const { r5: _, ...fewer } = rules;
    // A rule that a killed run of this stack has made, or somebody else.
    for (const k of [11, 12, 5]) place.service.put(undefined, rule(k));
    await stack.up({ all: { rules: fewer } });
    let isRead = false;
    let readings = 0;
    place.front.behave(({ method, path }, pass) => {
      const skip = Number(/skip=(\d+)/.exec(path)?.[1] ?? 0);
      if (method === "POST") isRead = true;
      if (method === "GET" && skip === 0) readings += 1;
      if (method !== "GET" || isRead || skip === 0 || readings > 1) return pass();
      // Somebody deletes a rule of the first page while the first reading is at it: rows move up by one.
      return pass({ path: path.replace(/skip=\d+/, `skip=${skip + 1}`) });
    });
    stack.declare({ all: { rules } });
    const { output } = await stack.run("up");
    expect(names(place), output).toEqual(["rule-5"]);
  });
});
