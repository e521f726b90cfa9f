import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { openStack } from "../../support/stack/place.ts";
import { variants } from "../../support/variants.ts";
import { asked, contract, shapes, statuses } from "./shapes.ts";

const { rule: rules = {}, ...rest } = contract;
const strict = {
  ...rest,
  rule: {
    ...rules,
    immutable: ["/priority"],
    transitions: (rules.transitions ?? []).map((each) => ({ ...each, beforeDelete: each.to === "inactive" })),
  },
};

describe.each(variants(shapes))("%s of a service that deletes inactive rules alone", (_, declared) => {
  test("are made inactive before they are deleted, in destroy and where they are replaced", async () => {
    const { place, stack } = await openStack("local", { contract: strict });
    await stack.up(declared("active"));
    asked(place);
    await stack.up(declared("active", { priority: 9 }));
    const steps = asked(place);
    expect(steps.toSorted()).toEqual(["DELETE", "POST", "activate", "deactivate"]);
    expect(steps.indexOf("deactivate")).toBeLessThan(steps.indexOf("DELETE"));
    expect(statuses(place)).toEqual(["active", "active"]);
    await stack.isUnchanged();
    await stack.succeeds("destroy");
    expect(place.service.rules()).toEqual([]);
    expect(place.service.requests.filter(({ status }) => status === 400)).toEqual([]);
  });

  test("that could not be deleted are inactive, and the next run deletes them without a second request", async () => {
    const { place, stack } = await openStack("local", { contract: strict });
    await stack.up(declared("active"));
    place.front.behave(({ method }, pass) => (method === "DELETE" ? { status: 422, body: {} } : pass()));
    expect((await stack.run("destroy")).code).not.toBe(0);
    expect(new Set(statuses(place))).toContain("inactive");
    place.front.behave();
    asked(place);
    await stack.succeeds("destroy");
    expect(place.service.rules()).toEqual([]);
    expect(asked(place).filter((each) => each === "DELETE")).toHaveLength(2);
  });

  test("that could not be deleted and are declared again are brought back", async () => {
    const { place, stack } = await openStack("local", { contract: strict });
    await stack.up(declared("active"));
    place.front.behave(({ method }, pass) => (method === "DELETE" ? { status: 422, body: {} } : pass()));
    const failed = await stack.run("destroy");
    expect(failed.output).toMatch(/was brought to what it must be before a delete .*run `pulumi up --refresh`/s);
    place.front.behave();
    await stack.up(declared("active"), { refresh: true });
    expect(statuses(place)).toEqual(["active", "active"]);
  });

  test("that are gone already are no failure", async () => {
    const { place, stack } = await openStack("local", { contract: strict });
    await stack.up(declared("active"));
    const [first] = place.service.rules();
    place.service.remove(first?.ruleId ?? "");
    await stack.succeeds("destroy");
    expect(place.service.rules()).toEqual([]);
  });
});

test("without the word the refusal names it, and what it says leads to the end", async () => {
  const { place, stack } = await openStack("local", { contract: strict, spoken: contract });
  await stack.up({
    a: { definition: rule(1, { status: "active" }) },
    b: { definition: rule(2, { status: "active" }) },
  });
  const { output } = await stack.upFails({}, {}, /is deleted only once status is "inactive"/);
  expect(output).toMatch(/say in rule\.transitions of the contract what it must be before \(beforeDelete\)/);
  expect(output).not.toContain("errors.notFound");
  writeFileSync(place.contractFile, JSON.stringify(strict));
  await stack.up({});
  expect(place.service.rules()).toEqual([]);
});

test("a rule that leaves a set, cannot be deleted and is declared again is brought back by the next run", async () => {
  const { place, stack } = await openStack("local", { contract: strict });
  const active = (k: number) => rule(k, { status: "active" });
  await stack.up({ all: { rules: { a: active(1), b: active(2) } } });
  place.front.behave(({ method }, pass) => (method === "DELETE" ? { status: 422, body: {} } : pass()));
  await stack.upFails({ all: { rules: { b: active(2) } } }, {}, /was brought to what it must be before a delete/);
  place.front.behave();
  await stack.up({ all: { rules: { a: active(1), b: active(2) } } });
  expect(statuses(place)).toEqual(["active", "active"]);
});
