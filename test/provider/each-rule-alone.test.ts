import { expect, test, vi } from "vitest";
import { RulesClient } from "../../sdk/client/index.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../sdk/json/index.ts";
import { rule } from "../support/rules.ts";
import { failureOf, hooksHere, resource, sessionOf } from "../support/stack/hosts.ts";
import { openPlace } from "../support/stack/place.ts";
import { idsOf } from "../support/stack/service.ts";

const rules = { a: rule(1), b: rule(2), c: rule(3) };

async function open() {
  const { service, front, environment } = await openPlace();
  const run = () => hooksHere("merchantRuleSet", sessionOf({ ...environment, MERCHANT_RULES_BASE_URL: front.url }));
  return { service, front, run };
}

/** The ids that the state has after a failure, of rules that are there. */
function idsIn(properties: JsonObject | undefined): unknown[] {
  return isJsonObject(properties?.ruleIds) ? Object.values(properties.ruleIds) : [];
}

test("an error that nobody expects at one rule is that rule's alone, says nothing of it, and the next run does the rest", async () => {
  const { service, run } = await open();
  const { create } = RulesClient.prototype;
  const spied = vi.spyOn(RulesClient.prototype, "create");
  spied.mockImplementation(function (this: RulesClient, definition, options) {
    if (definition.name === "rule-2") return Promise.reject(new TypeError("cannot read limit 1 of rule-2"));
    return create.call(this, definition, options);
  });
  const failure = await failureOf(run().create(resource("limits", { rules })));
  expect(failure.message).toMatch(
    /1 of 3 rules failed.*\n {2}b: create rule b failed: .* TypeError.*--refresh.*\(INTERNAL\)/s,
  );
  expect(failure.message).not.toContain("limit 1");
  expect(idsIn(failure.partial?.properties)).toEqual(service.rules().map(({ ruleId }) => ruleId));
  expect(service.rules()).toHaveLength(2);
  spied.mockRestore();
  const { id = "", properties = {} } = failure.partial ?? {};
  const outs = await run().update(id, properties, resource("limits", { rules }));
  expect(idsIn(outs)).toHaveLength(3);
  expect(service.rules()).toHaveLength(3);
});

test.each([
  ["half a surrogate pair", "\ud83d"],
  ["what the engine would take for an instruction", { "4dabf18193072939515e22adb298388d": "x" }],
])("a service that keeps %s in one rule fails that rule alone, and every id is kept", async (_, kept) => {
  const { service, front, run } = await open();
  front.behave(async ({ method }, pass) => {
    const answer = await pass();
    if (method !== "GET" || !isJsonObject(answer.body)) return answer;
    const shown = (one: Json): Json => (isJsonObject(one) && one.name === "rule-2" ? { ...one, priority: kept } : one);
    const { rules: listed } = answer.body;
    return { ...answer, body: isJsonArray(listed) ? { ...answer.body, rules: listed.map(shown) } : shown(answer.body) };
  });
  const failure = await failureOf(run().create(resource("limits", { rules })));
  expect(failure.message).toMatch(/1 of 3 rules failed/);
  expect(failure.message).toMatch(/b: keep rule \S+ as it is at the service failed: .*priority/);
  expect(idsIn(failure.partial?.properties).sort()).toEqual(idsOf(service.rules()));
  expect(service.rules()).toHaveLength(3);
});
