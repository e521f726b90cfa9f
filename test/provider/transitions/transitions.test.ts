import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { nextStep } from "../../../provider/steps/transitions.ts";
import { type ContractInput, defineContract } from "../../../sdk/contract/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { openStack } from "../../support/stack/place.ts";
import { variants } from "../../support/variants.ts";
import { active, asked, chain, contract, inactive, one, path, shapes, statuses } from "./shapes.ts";

describe.each(variants(shapes))("%s, whose request", (_, declared) => {
  test("fails after the create, are in the state as they are, and the next run sends what is left", async () => {
    const { place, stack } = await openStack("local", { contract });
    place.front.behave(({ path: at }, pass) => (at.endsWith("/activate") ? { status: 422, body: {} } : pass()));
    await stack.upFails(declared("active"), {}, /change \/status to active of rule .*answered 422/);
    expect(statuses(place)).toEqual(["inactive", "inactive"]);
    expect(stack.knownIds()).toHaveLength(2);
    place.front.behave();
    asked(place);
    await stack.succeeds("up");
    expect(asked(place)).toEqual(["activate", "activate"]);
    expect(statuses(place)).toEqual(["active", "active"]);
    await stack.isUnchanged();
  });

  test("loses its answer, are seen to have followed, and no request is sent twice", async () => {
    const { place, stack } = await openStack("local", { contract });
    place.front.behave(async ({ path: at }, pass) => {
      const answer = await pass();
      if (at.endsWith("/activate")) throw new Error("the answer is lost");
      return answer;
    });
    await stack.up(declared("active"));
    expect(asked(place).filter((each) => each === "activate")).toHaveLength(2);
    expect(statuses(place)).toEqual(["active", "active"]);
  });
});

test("the requests go the shortest way that the contract has, in its order", async () => {
  const { place, stack } = await openStack("local", { contract: contractOf({ rule: { transitions: chain } }) });
  await stack.up(one("inactive"));
  expect(asked(place)).toEqual(["POST", "test", "activate", "deactivate"]);
  expect(statuses(place)).toEqual(["inactive"]);
  await stack.up(one("active"));
  expect(asked(place)).toEqual(["activate"]);
  await stack.upFails(
    one("tested"),
    {},
    /\/status is "active", and by the contract no request leads from there to "tested"/,
  );
  expect(asked(place)).toEqual([]);
});

test("the first step of a way is that of the fewest, from wherever the field is", () => {
  const { transitions } = defineContract(contractOf({ rule: { transitions: chain } })).rule;
  const first = (from: string, to: string) => nextStep(transitions, from, to)?.to;
  expect([first("draft", "active"), first("draft", "inactive"), first("tested", "inactive")]).toEqual([
    "tested",
    "tested",
    "active",
  ]);
  expect([first("active", "draft"), first("nowhere", "active")]).toEqual([undefined, undefined]);
});

const slow = (waitMs: number): ContractInput =>
  contractOf({
    rule: {
      transitions: [
        { ...active, from: ["inactive"], waitMs },
        { ...inactive, from: ["active"] },
      ],
    },
  });

test("a service that takes its time is waited for as long as the contract says, before and after a request", async () => {
  const { place, stack } = await openStack("local", { contract: slow(0), spoken: slow(10) });
  const become = (status: string) => place.edit("rule-1", { status });
  let isSlow = true;
  place.front.behave(async (request, pass) => {
    if (request.path.endsWith("/activate") && isSlow) {
      become("activating");
      return { status: 200, body: {} };
    }
    return pass();
  });
  const says = /after 10 ms it is another value than rule\.transitions names.*set waitMs/s;
  await stack.upFails(one("active"), {}, says);
  writeFileSync(place.contractFile, JSON.stringify(slow(60_000)));
  become("active");
  await stack.succeeds("up");
  expect(statuses(place)).toEqual(["active"]);
  // A draft that the service has to look at first.
  await stack.up(one("inactive"));
  isSlow = false;
  become("pending");
  setTimeout(() => become("inactive"), 300);
  await stack.up(one("active"));
  expect(statuses(place)).toEqual(["active"]);
});

// A defect: such a rule is deactivated and activated once more.
test.fails("a rule that comes to be as declared while a run waits for it is left alone", async () => {
  const { place, stack } = await openStack("local", { contract: slow(0), spoken: slow(1000) });
  place.front.behave((request, pass) => {
    if (!request.path.endsWith("/activate")) return pass();
    place.edit("rule-1", { status: "activating" });
    return { status: 500, body: {} };
  });
  await stack.upFails(one("active"), {}, /500/);
  let looks = 0;
  place.front.behave(({ method, path: at }, pass) => {
    if (method === "GET" && !at.endsWith("/rules")) looks += 1;
    if (looks === 4) place.edit("rule-1", { status: "active" });
    return pass();
  });
  asked(place);
  await stack.run("up");
  expect(looks).toBeGreaterThan(3);
  expect(asked(place)).toEqual([]);
});

test("a service that ignores the field in a create is described as the error says, and the next run goes on", async () => {
  const { place, stack } = await openStack("local", { contract, spoken: JSON.parse(JSON.stringify(contractOf())) });
  place.front.behave(({ method, body }, pass) => {
    if (method === "GET" || body === undefined || typeof body !== "object" || body === null) return pass();
    const { status: _, ...sent } = Object(body);
    return pass({ body: sent });
  });
  await stack.upFails(one("active"), {}, /differs at status.*requests of their own.*name these in rule\.transitions/s);
  writeFileSync(place.contractFile, JSON.stringify(contract));
  await stack.up(one("active"));
  expect(statuses(place)).toEqual(["active"]);
  await stack.isUnchanged();
});

test("without an update in the contract such a field is changed in place, and a replacement goes after its delete", async () => {
  const fixed = contractOf({
    operations: { update: null },
    rule: { naturalKey: null, transitions: [active, inactive] },
  });
  const { place, stack } = await openStack("local", { contract: fixed });
  await stack.up(one("active"));
  asked(place);
  await stack.up(one("inactive"));
  expect(asked(place)).toEqual(["deactivate"]);
  await stack.up(one("active", { name: "another" }));
  expect(asked(place)).toEqual(["DELETE", "POST", "activate"]);
  await stack.up({ a: { definition: rule(7, { status: "active" }) }, ...one("active", { name: "another" }) });
  asked(place);
  await stack.up({ a: { definition: rule(8, { status: "active" }) }, ...one("active", { name: "another" }) });
  expect(asked(place)).toEqual(["DELETE", "POST", "activate"]);
});

test("a service that deletes by deactivating has rules made, changed and deleted", async () => {
  const { place, stack } = await openStack("local", {
    contract: contractOf({
      operations: { delete: { method: "POST", path: `${path}/deactivate`, identifyBy: { in: "path" } } },
      rule: {
        transitions: [{ ...active, from: ["draft"] }],
        gone: [{ at: "/status", is: ["inactive"] }],
      },
    }),
  });
  await stack.up(one("active"));
  asked(place);
  await stack.up(one("active", { priority: 9 }));
  await stack.succeeds("destroy");
  expect(asked(place)).toEqual(["PUT", "deactivate"]);
  expect(place.service.rules()).toEqual([]);
  expect(place.service.rows()).toMatchObject([{ rule: { status: "inactive", priority: 9 } }]);
});
