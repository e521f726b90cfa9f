import { describe, expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { openStack, type Place } from "../../support/stack/place.ts";
import { variants } from "../../support/variants.ts";

const path = "/api/v1/merchants/rules/{ruleId}";
const kinds = [
  ["by ETag", { etag: true }],
  ["by a field", { at: "/version" }],
] as const;
/** The other one shows that this is the right place. */
const one = (priority: number) => ({
  a: { definition: rule(1, { priority }) },
  b: { definition: rule(2) },
});
const idOfFirst = ({ service }: Place): string =>
  service.rules().find((each) => each.rule.name === "rule-1")?.ruleId ?? "";
const firstOf = ({ service }: Place): unknown => service.rules().find((each) => each.rule.name === "rule-1")?.rule;
const byHand = rule(1, { priority: 77 });

describe.each(variants(kinds))("an update of one version, %s", (_, version) => {
  const contract = contractOf({
    operations: { update: { path, version }, list: null },
    rule: { readOnly: ["/createdAt", "/updatedAt", "/version"] },
  });

  test("overwrites no hand edit: of before the run, or between its look and its write", async () => {
    const { place, stack } = await openStack("local", { contract });
    await stack.up(one(1));
    const ruleId = idOfFirst(place);
    place.service.put(ruleId, byHand);
    place.writes();
    const said = /somebody changed the rule meanwhile, at priority; nothing was overwritten.*pulumi up --refresh/s;
    const refused = await stack.upFails(one(2), {}, said);
    expect(refused.stdout + refused.stderr).not.toContain("this run writes over");
    expect(place.writes()).toEqual([]);
    expect(firstOf(place)).toEqual(byHand);

    await stack.up(one(2), { refresh: true });
    expect(firstOf(place)).toEqual(rule(1, { priority: 2 }));
    place.front.behave(({ method }, pass) => {
      if (method === "PUT") place.service.put(ruleId, byHand);
      return pass();
    });
    place.writes();
    await stack.upFails(one(3), {}, said);
    expect(place.writes()).toEqual(["update"]);
    expect(firstOf(place)).toEqual(byHand);
  });

  test("is sent again after a lost answer, and a refusal of what it has done itself is no failure", async () => {
    const { place, stack } = await openStack("local", { contract });
    await stack.up(one(1));
    let isLost = false;
    place.front.behave(async ({ method }, pass) => {
      const answer = await pass();
      if (method === "PUT" && !isLost) {
        isLost = true;
        throw new Error("the answer is lost");
      }
      return answer;
    });
    place.writes();
    await stack.up(one(2));
    expect(place.writes()).toEqual(["update", "update"]);
    await stack.isUnchanged();
  });

  test("needs the version in the answer to a GET, and says so", async () => {
    const spoken = JSON.parse(JSON.stringify(contract));
    const { stack } = await openStack("local", {
      contract: contractOf({ operations: { update: { path }, list: null } }),
      spoken,
    });
    await stack.up(one(1));
    await stack.upFails(one(2), {}, /has no version .*operations\.update\.version/);
  });
});

describe("a service whose ETags are weak", () => {
  const contract = contractOf({ operations: { update: { path, version: { etag: true } }, list: null } });

  test("is updated without them, which match nothing, and a hand edit before the GET is not overwritten", async () => {
    const { place, stack } = await openStack("local", { contract, etags: "weak" });
    await stack.up(one(1));
    await stack.up(one(2));
    expect(firstOf(place)).toEqual(rule(1, { priority: 2 }));
    place.service.put(idOfFirst(place), byHand);
    await stack.upFails(one(3), {}, /somebody changed the rule meanwhile, at priority/);
  });
});

test("a conflict that is not about the version is said as the service says it, also where it has versions", async () => {
  const rules = { readOnly: ["/createdAt", "/updatedAt", "/version"], naturalKey: null };
  const contract = contractOf({
    operations: { update: { path, version: { at: "/version" } }, list: null },
    rule: rules,
  });
  const { place, stack } = await openStack("local", { contract });
  await stack.up(one(1));
  place.service.faults.set({ kind: "status", status: 409, operations: ["update"] });
  const { output } = await stack.upFails(one(2), {}, /answered 409 \(code FAULT; a fault that was set/);
  expect(output).not.toContain("somebody changed");
});
