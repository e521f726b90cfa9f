import { expect, test } from "vitest";
import type { LocalService } from "../../../local/service/index.ts";
import { isJsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, marking, owner } from "../../support/stack/contracts.ts";
import type { Misbehaviour } from "../../support/stack/front.ts";
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

const unlisted = { operations: { list: null }, rule: { naturalKey: null } } as const;
const answering = (...success: number[]) => ({ ...unlisted, operations: { list: null, create: { success } } });

/** Answers each create of a rule whose name is there with that rule, and others with a status. */
const deduping =
  (service: LocalService, status: number): Misbehaviour =>
  async ({ method, body }, pass) => {
    const there = service.rules().find(({ rule: { name } }) => name === Object(body).name);
    if (method === "POST" && there !== undefined) return { status: 200, body: { id: there.ruleId, ...there.rule } };
    const answer = await pass();
    return method === "POST" ? { ...answer, status } : answer;
  };

test("where a create may be answered 201, an equal rule that is answered with 200 stays its owner's, and nothing else is sent", async () => {
  const { place, stack } = await openStack("local", { contract: contractOf(answering(200, 201)) });
  const { service, front } = place;
  front.behave(deduping(service, 201));
  await stack.up({ a: { definition: rule(1) } });
  const [theirs] = service.rules();
  const other = await place.stack("local");
  const more = { b: rule(2), c: rule(3) };
  place.writes();
  const refusal = new RegExp(`answered 200 in place of 201 with rule ${theirs?.ruleId}`);
  await other.upFails({ all: { rules: { a: rule(1), ...more } } }, {}, refusal, /operations\.create\.success/);
  expect(place.writes()).toEqual(["create"]);
  await other.up({ all: { rules: more } });
  await other.upFails({ all: { rules: { a: rule(1), ...more, d: rule(4) } } }, {}, refusal);
  await other.succeeds("destroy");
  expect(service.rules()).toEqual([theirs]);
});

test.each([
  ["200 alone", answering(200)],
  ["an idempotency key, whose answers may be repeated", { ...answering(200, 201), idempotency: {} }],
  ["marks", { ...answering(200, 201), rule: { naturalKey: null, owner } }],
])(
  "a service that answers 200 to each create is used under a contract with %s; one rule is not two resources'",
  async (_, contract) => {
    const { place, stack } = await openStack("local", { contract: contractOf(contract), allowDuplicates: true });
    const { service, front } = place;
    front.behave(async (request, pass) => ({
      ...(await pass()),
      ...(request.method === "POST" ? { status: 200 } : {}),
    }));
    const declared = { all: { rules: { a: rule(1), b: rule(2), c: rule(3) } } };
    await stack.up(declared);
    expect(service.rules()).toHaveLength(3);
    await stack.isUnchanged();
    front.behave(deduping(service, 200));
    const known = place.idOf("rule-1");
    await stack.upFails(
      { all: { rules: { ...declared.all.rules, d: rule(1) } } },
      {},
      new RegExp(`rule ${known}, which this run did not make`),
    );
    await stack.succeeds("destroy");
    expect(service.rules()).toEqual([]);
  },
);

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
