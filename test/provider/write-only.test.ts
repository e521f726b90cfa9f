import { describe, expect, test } from "vitest";
import { startWorld } from "../../local/testing/index.ts";
import { MerchantRuleSet } from "../../provider/index.ts";
import type { ContractInput } from "../../sdk/contract/index.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../sdk/json/index.ts";
import { rule } from "../support/rules.ts";
import { contractOf, update } from "../support/stack/contracts.ts";
import type { Declared } from "../support/stack/engines.ts";
import { lost, type Misbehaviour } from "../support/stack/front.ts";
import { openStack, type Place } from "../support/stack/place.ts";
import { variants } from "../support/variants.ts";

const places = ["/token", "/actions/*/apiKey"];
const speaking = (body: "declared" | "changes" | "merged"): ContractInput =>
  contractOf({
    operations: { update: { ...update, body, omit: body === "declared" ? [] : ["/createdAt", "/updatedAt"] } },
    rule: { writeOnly: places, secret: places },
  });
const definition = (token: string, changes: JsonObject = {}): JsonObject =>
  rule(1, { token, actions: [{ type: "call", apiKey: `key of ${token}` }], ...changes });
const shapes: Record<string, (definition: JsonObject) => Declared> = {
  "a single rule": (one) => ({ a: { definition: one } }),
  "a set": (one) => ({ all: { rules: { a: one } } }),
};

/** A service that shows masks where others leave the fields out. */
const masking: Misbehaviour = async (_, pass) => {
  const masked = (value: Json): Json => {
    if (isJsonArray(value)) return value.map(masked);
    if (!isJsonObject(value)) return value;
    const below = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, masked(each)]));
    return value.type === "call"
      ? { ...below, apiKey: "***" }
      : "priority" in value
        ? { ...below, token: "***" }
        : below;
  };
  const answer = await pass();
  return { ...answer, body: answer.body === undefined ? undefined : masked(answer.body) };
};

/** The list, as the service shows it. */
const listed = async ({ service, environment }: Place): Promise<string> => {
  const headers = { Authorization: `Bearer ${environment.MERCHANT_RULES_TOKEN}` };
  return await (await fetch(`${service.url}/api/v1/merchants/rules`, { headers })).text();
};

/** The bodies of the writes since the last call. */
const sent = ({ front }: Place): (Json | undefined)[] =>
  front.taken().flatMap(({ method, body }) => (["POST", "PUT"].includes(method) ? [body] : []));

const cases = (["merged", "changes", "declared"] as const).flatMap((body) =>
  Object.keys(shapes).flatMap((shape) => ["masked", "out"].map((shown) => [body, shape, shown] as const)),
);

describe.each(variants(cases))("what a service takes (%s) and does not show of %s (%s)", (body, shape, shown) => {
  const declared = (...of: Parameters<typeof definition>): Declared => shapes[shape]?.(definition(...of)) ?? {};

  test("is made, left alone, changed alone, kept beside other changes, and no drift", async () => {
    const { place, stack } = await openStack("local", { contract: speaking(body) });
    if (shown === "masked") place.front.behave(masking);
    await stack.up(declared("one"));
    expect(place.definitions()).toEqual([definition("one")]);
    expect(await listed(place)).not.toContain("one");
    expect(stack.project.state()).not.toContain("key of one");
    sent(place);
    await stack.isUnchanged();
    await stack.succeeds("up");
    expect(sent(place)).toEqual([]);
    stack.declare(declared("two"));
    const preview = await stack.succeeds("preview", { diff: true });
    expect(preview.output).toMatch(/token/);
    expect(preview.output).not.toMatch(/two/);
    await stack.succeeds("up");
    expect(place.definitions()).toEqual([definition("two")]);
    await stack.hasNoDrift();
    await stack.succeeds("up", { refresh: true, expectNoChanges: true });
    sent(place);
    await stack.up(declared("two", { priority: 9 }));
    const [only, ...others] = sent(place);
    expect(others).toEqual([]);
    expect(JSON.stringify(only)).not.toContain("***");
    expect(only).toMatchObject({ token: "two" });
    expect(place.definitions()).toEqual([definition("two", { priority: 9 })]);
    place.edit("rule-1", { priority: 5 });
    await stack.succeeds("up", { refresh: true });
    expect(place.definitions()).toEqual([definition("two", { priority: 9 })]);
    await stack.succeeds("destroy");
  });
});

test("a change of it whose answer was lost is sent again, also where it was taken back meanwhile", async () => {
  const { place, stack } = await openStack("local", { contract: speaking("declared") });
  const declared = (token: string): Declared => ({ all: { rules: { a: definition(token) } } });
  await stack.up(declared("one"));
  place.front.behave(lost("PUT"));
  await stack.upFails(declared("two"), {}, /answered 504/);
  expect(place.definitions()).toEqual([definition("two")]);
  place.front.behave();
  await stack.succeeds("refresh");
  await stack.up(declared("one"));
  expect(place.definitions()).toEqual([definition("one")]);
  place.front.behave(lost("PUT", { isDone: false }));
  await stack.upFails(declared("three"), {}, /answered 504/);
  place.front.behave();
  await stack.succeeds("up");
  expect(place.definitions()).toEqual([definition("three")]);
  await stack.isUnchanged();
});

test("drift finds what is changed beside it, and nothing in it", async () => {
  const rules = { a: definition("one") };
  const program = () => void new MerchantRuleSet("all", { rules: Object(rules) });
  const world = await startWorld({ contract: speaking("declared"), program });
  await world.up();
  await world.expectNoDrift();
  world.edit({ name: "rule-1" }, { token: "by hand" });
  await world.expectNoDrift();
  world.edit({ name: "rule-1" }, { priority: 7 });
  await expect(world.expectNoDrift()).rejects.toThrow(/priority/);
  await world.close();
});

test("a rule that is taken over gets what is declared of it", async () => {
  const { place, stack } = await openStack("local", { contract: speaking("declared") });
  const ruleId = place.service.put(undefined, definition("of somebody"));
  await stack.up({ a: { definition: definition("one"), adopt: ruleId } });
  expect(place.definitions()).toEqual([definition("one")]);
  await stack.isUnchanged();
});

test("one that is declared no more is taken away by a body that is as declared", async () => {
  const { place, stack } = await openStack("local", { contract: speaking("declared") });
  await stack.up({ a: { definition: definition("one") } });
  const { token: _, ...rest } = definition("one");
  await stack.up({ a: { definition: rest } });
  expect(place.definitions()).toEqual([rest]);
  await stack.isUnchanged();
});
