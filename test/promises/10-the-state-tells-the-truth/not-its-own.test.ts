import { expect, test } from "vitest";
import { isJsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, marking } from "../../support/stack/contracts.ts";
import { openStack } from "../../support/stack/place.ts";

test("a rule that the service answers a create with, and that the run did not make, does not become the stack's", async () => {
  const contract = contractOf({
    operations: { list: null, create: { success: [201, 200] } },
    rule: { naturalKey: null },
  });
  const { place, stack } = await openStack("local", { contract });
  const { service, front } = place;
  const theirs = { ruleId: service.put(undefined, rule(1, { priority: 99 })), rule: rule(1, { priority: 99 }) };
  front.behave(({ method }, pass) =>
    method === "POST" ? { status: 200, body: { id: theirs.ruleId, ...theirs.rule } } : pass(),
  );
  const declared = { a: { definition: rule(1) } };
  await stack.upFails(declared, {}, new RegExp(theirs.ruleId));
  expect(service.rules()).toEqual([theirs]);
  front.behave();
  place.writes();
  await stack.up(declared);
  expect(place.writes()).toEqual(["create"]);
  expect(service.rules()[0]).toEqual(theirs);
  expect(service.rules()).toHaveLength(2);
  await stack.succeeds("destroy");
  expect(service.rules()).toEqual([theirs]);
});

test("a rule whose name the service trims is found by its mark when the answer is lost, and is never made twice", async () => {
  const { place, stack } = await openStack("local", { contract: marking, allowDuplicates: true });
  const { service, front } = place;
  let isLost = true;
  front.behave(async ({ method, body }, pass) => {
    if (method === "GET" || method === "DELETE" || !isJsonObject(body)) return pass();
    const answer = await pass({ body: { ...body, name: String(body.name).trim() } });
    if (!isLost) return answer;
    isLost = false;
    throw new Error("the connection is lost");
  });
  const padded = { a: { definition: rule(1, { name: "rule-1 " }) } };
  stack.declare(padded);
  const first = await stack.run("up");
  const ruleId = place.idOf("rule-1");
  expect(first.output).toContain(ruleId);
  await stack.run("up");
  expect(service.rules().map((each) => each.ruleId)).toEqual([ruleId]);
  await stack.up({ a: { definition: rule(1) } });
  expect(service.rules().map((each) => each.ruleId)).toEqual([ruleId]);
  await stack.succeeds("destroy");
  expect(service.rules()).toEqual([]);
});
