import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isJsonArray, isJsonObject } from "../../../sdk/rules/index.ts";
import { rule } from "../../support/connections.ts";
import { openPlace } from "../stacks.ts";
import { contractOf, list } from "../worlds/world.ts";

test("a list that leaves a known rule out is said, with what to correct, and is not after that", async () => {
  const place = await openPlace();
  place.front.behave(async ({ method, path }, pass) => {
    const answer = await pass({ path: path.replace("?all=true", "") });
    if (method !== "GET" || !path.endsWith("/rules") || !isJsonObject(answer.body)) return answer;
    const { rules } = answer.body;
    const active = isJsonArray(rules) ? rules.filter((each) => isJsonObject(each) && each.isActive === true) : [];
    return { ...answer, body: { rules: active } };
  });
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
