import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isJsonArray, isJsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, list } from "../../support/stack/contracts.ts";
import type { Misbehaviour } from "../../support/stack/front.ts";
import { openPlace } from "../../support/stack/place.ts";

/** The list shows active rules alone, unless it is asked for all. */
const activeAlone: Misbehaviour = async ({ method, path }, pass) => {
  const answer = await pass({ path: path.replace("?all=true", "") });
  if (method !== "GET" || !path.endsWith("/rules") || !isJsonObject(answer.body)) return answer;
  const { rules } = answer.body;
  const active = isJsonArray(rules) ? rules.filter((each) => isJsonObject(each) && each.isActive === true) : [];
  return { ...answer, body: { rules: active } };
};

test("a list that leaves a known rule out is said, with what to correct, and is not after that", async () => {
  const place = await openPlace();
  place.front.behave(activeAlone);
  const stack = await place.stack("local");
  await stack.up({ all: { rules: { a: rule(1), b: rule(2, { isActive: false }) } } });
  const says = /the list does not show rule \S+, which a read finds.*operations\.list/s;
  expect((await stack.succeeds("refresh")).output).toMatch(says);
  writeFileSync(
    String(place.settings.contract),
    JSON.stringify(contractOf({ operations: { list: { ...list, query: { all: "true" } } } })),
  );
  expect((await stack.succeeds("refresh")).output).not.toMatch(says);
  await stack.isUnchanged();
});

test("a create whose answer was lost is not to be sent again blindly where the list leaves out what the run has made", async () => {
  // One after the other, so that the first is made when the second is lost.
  const place = await openPlace({ contract: contractOf({ limits: { concurrency: 1 } }), allowDuplicates: true });
  let isLost = false;
  place.front.behave(async (request, pass) => {
    const answer = await activeAlone(request, pass);
    if (isLost || request.method !== "POST" || place.service.rules().length < 2) return answer;
    isLost = true;
    throw new Error("the connection is lost");
  });
  const stack = await place.stack("local");
  const rules = { a: rule(1, { isActive: false }), b: rule(2, { isActive: false }) };
  const { output } = await stack.upFails(
    { all: { rules } },
    {},
    /may exist/,
    /nor rule \S+, which this run has written/,
  );
  expect(output).toMatch(/look at the service whether the rule is there.*an operations\.list that shows all rules/s);
  const [key = "", ...more] = [...output.matchAll(/adopt: \{ "(\w+)":/g)].map(([, named]) => named ?? "");
  expect(more).toEqual([]);
  place.front.behave(activeAlone);
  await stack.up({ all: { rules, adopt: { [key]: place.idOf(key === "a" ? "rule-1" : "rule-2") } } });
  expect(place.service.rules().map((each) => each.rule.name)).toEqual(["rule-1", "rule-2"]);
  await stack.isUnchanged();
});
