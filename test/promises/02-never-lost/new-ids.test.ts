import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf, owner } from "../../support/stack/contracts.ts";
import { openStack } from "../../support/stack/place.ts";
import { variants } from "../../support/variants.ts";
import { forms, foundAfterKill, foundAfterLostAnswer, live, named, operations, path, priorities } from "./new-ids.ts";

const declared = forms["a set"];

test.each(variants(named))(
  "rules of which an update loses its answer are found again in the same run, %s",
  (_kind, contract) => foundAfterLostAnswer(contract, declared),
);

test.each(variants(named.toReversed()))(
  "rules of which an update was killed after its write are found again by the next run, %s",
  (_kind, contract) => foundAfterKill(contract, declared),
);

test("a contract that has rules keep their ids is corrected as its error says, and the next run goes on", async () => {
  const contract = contractOf({ operations, rule: { owner } });
  const wrong = contractOf({ operations: { update: { path, method: "POST" } }, rule: { owner } });
  const { place, stack } = await openStack("local", { contract, spoken: JSON.parse(JSON.stringify(wrong)) });
  await stack.up(declared(1));
  const says = /about another rule, .*set operations\.update\.id to new in the contract and run again/s;
  await stack.upFails(declared(7), {}, says);
  writeFileSync(place.contractFile, JSON.stringify(contract));
  await stack.up(declared(7));
  expect(priorities(place)).toEqual([2, 7]);
  await stack.isUnchanged();
});

test("a service that makes another rule and keeps the one before ends the run at the first update", async () => {
  const rules = { a: rule(1), b: rule(2), c: rule(3) };
  const contract = contractOf({ operations, rule: { naturalKey: null } });
  const { place, stack } = await openStack("local", { contract });
  await stack.up({ all: { rules } });
  place.front.behave(async (request, pass) => {
    if (request.method !== "POST" || !/\/rules\/./.test(request.path)) return pass();
    const id = request.path.split("/").at(-1) ?? "";
    const before = place.service.rules().find(({ ruleId }) => ruleId === id)?.rule ?? {};
    const answer = await pass();
    place.service.put(id, before);
    return answer;
  });
  const id = place.idOf("rule-1");
  const changed = Object.fromEntries(Object.entries(rules).map(([key, each]) => [key, { ...each, isActive: false }]));
  const { output } = await stack.upFails({ all: { rules: changed } }, {}, /is still there/);
  expect(place.service.rules()).toHaveLength(4);
  const [, left = ""] = /delete rule (\w+) at the service/.exec(output) ?? [];
  expect(id === left || place.service.rules().some(({ ruleId }) => ruleId === left)).toBe(true);
  place.service.remove(left);
  place.front.behave();
  await stack.succeeds("up");
  expect(live(place).map((each) => [each.name, each.isActive])).toHaveLength(3);
  expect(live(place).every((each) => each.isActive === false)).toBe(true);
});
