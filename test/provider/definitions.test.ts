import { describe, expect, test } from "vitest";
import { findNotJson, type Json, type JsonObject } from "../../sdk/json/index.ts";
import { clientOf, failureOf, serve as serveScript } from "../sdk/client/scripted-server.ts";
import { rule } from "../support/rules.ts";
import { openWorld } from "../support/stack/hooks.ts";
import { openStack } from "../support/stack/place.ts";
import { type EngineName, hasPulumi } from "../support/stack/project.ts";

/** Names that every object has, or that name where objects come from. */
const inherited: JsonObject = {
  constructor: { name: "a", prototype: { polluted: true } },
  prototype: { constructor: 1 },
  toString: "text",
  hasOwnProperty: null,
  valueOf: [{ constructor: 0 }],
  ...JSON.parse('{"then":"later"}'),
};

function nested(levels: number): JsonObject {
  let value: JsonObject = { deepest: true };
  for (let level = 1; level < levels; level += 1) value = { in: value };
  return value;
}

function roundTrip(engine: EngineName): void {
  test("comes back from the service as it was declared, and shows its drift", async () => {
    const { place, stack } = await openStack(engine, { contract: "illustrative" });
    const definition = {
      ...rule(1),
      ...inherited,
      numbers: [0, -0, -1.5, 0.1, 1e-300, 1.7e308 / 1e300, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
      texts: ["", "a\u0000b", "ü\u{1f600}", "\u2028", "x".repeat(100_000)],
      deep: nested(95),
    };
    // Its keys, too, are called like what every object has.
    const keyed = { constructor: { ...rule(2), ...inherited }, toString: rule(3), "a/b: c": rule(4) };
    stack.declare({ one: { definition }, set: { rules: keyed } });
    await stack.succeeds("up");
    const declared: Json[] = JSON.parse(JSON.stringify([definition, ...Object.values(keyed)]));
    expect(place.definitions()).toEqual(declared);
    await stack.hasNoDrift();
    await stack.succeeds("up", { refresh: true, expectNoChanges: true });

    place.service.put(place.idOf("rule-2"), { ...rule(2), ...inherited, constructor: { name: "b" } });
    await stack.succeeds("up", { refresh: true });
    expect(place.definitions()).toEqual(declared);
  });

  test("of a field __proto__ is refused by the program, with its path: it would be lost on the way", async () => {
    const { place, stack } = await openStack(engine, { contract: "illustrative" });
    const declared = JSON.parse('{"one":{"definition":{"name":"a","list":[{"__proto__":{"polluted":true}}]}}}');
    await stack.upFails(declared, {}, /one: definition\.list\[0\]\.__proto__ cannot be declared/);
    expect(place.service.requests).toEqual([]);
  });
}

describe("a definition", () => roundTrip("local"));
describe.runIf(hasPulumi)("a definition, on the Pulumi CLI", () => roundTrip("pulumi"));

async function host() {
  const served = await openWorld({ contract: "illustrative" });
  return { host: await served.host(), served };
}

describe("limits of a definition", () => {
  test("nest no deeper than 100 levels: the last that is allowed is created and read, one more is refused with its path", async () => {
    const { host: one, served } = await host();
    const deepest = { name: "a", in: nested(99) };
    expect(findNotJson(deepest)).toBe(undefined);
    expect((await one.check({ definition: deepest })).failures).toEqual([]);
    const { id, outs } = await one.create({ definition: deepest });
    expect(outs.definition).toEqual(deepest);
    expect((await one.read(id, outs)).props).toEqual(outs);

    const { failures } = await one.check({ definition: { name: "a", in: nested(100) } });
    expect(failures).toHaveLength(1);
    expect(failures[0]?.property).toMatch(/^definition(\.in){100}$/);
    expect(failures[0]?.reason).toBe("holds more than 100 levels of nesting, which is not JSON");
    expect(served.service.rules()).toHaveLength(1);
  });

  test.each([2 ** 53, -(2 ** 53), 1e300])("an integer beyond 2^53 is refused with its path: %d", async (value) => {
    const { host: one } = await host();
    const { failures } = await one.check({ definition: { name: "a", conditions: [{ value }] } });
    expect(failures).toEqual([
      { property: "definition.conditions[0].value", reason: expect.stringContaining("holds an integer beyond 2^53") },
    ]);
  });
});

describe("what a service answers is data", () => {
  test("a rule with __proto__, constructor and the like pollutes nothing and drifts only where it is declared", async () => {
    const { host: one, served } = await host();
    const body = '{"name":"rule-1","priority":5,"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}}}';
    const id = served.service.put(undefined, JSON.parse(body));
    const outs = { definition: rule(1), ruleId: id };
    const seen = await one.read(id, outs);
    expect(seen.props).toMatchObject({ ruleId: id });
    expect(seen.props.definition).toEqual({ name: "rule-1", priority: 5 });
    // Had anything been polluted in the host, the next definition would have a field more.
    const { outs: fresh } = await one.create({ definition: { name: "fresh" } });
    expect(fresh.definition).toEqual({ name: "fresh" });
    expect(await one.read(id, seen.props)).toMatchObject({ id, props: seen.props, inputs: seen.inputs });
  });

  test("what the engine would take for a secret, a file or a reference is refused with its path", async () => {
    const { host: one, served } = await host();
    const asset = { "4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", path: "/etc/passwd" };
    const id = served.service.put(undefined, rule(1, { actions: [{ type: "decline", reason: asset }] }));
    await expect(one.read(id, { definition: rule(1), ruleId: id })).rejects.toThrow(
      /definition\.actions\[0\]\.reason has a field that the engine would take for an instruction/,
    );
  });

  test.each([
    ["arrays", "[", "]"],
    ["objects", '{"a":', "}"],
  ])("%s without end are refused, not walked through", async (_, open, close) => {
    const depth = 50_000;
    const value = `${open.repeat(depth)}1${close.repeat(depth)}`;
    const server = await serveScript([{ body: `{"id":"r1","deep":${value}}` }]);
    const client = clientOf(server, { operations: { update: { path: "/rules/{ruleId}" } } });
    for (const call of [() => client.get("r1"), () => client.update("r1", {})]) {
      const error = await failureOf(call());
      expect(error).toMatchObject({ code: "RESPONSE_INVALID" });
      expect(error.message).toContain("the body nests deeper than 500 levels");
    }
  });

  test("brackets within texts are no nesting", async () => {
    const text = `${"[{".repeat(2000)}\\"[`;
    const server = await serveScript([{ body: `{"id":"r1","text":"${text}","more":"\\\\"}` }]);
    expect((await clientOf(server).get("r1")).rule.text).toBe(`${"[{".repeat(2000)}"[`);
  });

  test.each(["9007199254740993", "-12345678901234.567", "1e400"])(
    "a number that a double rounds, %s, goes back as it came",
    async (number) => {
      const server = await serveScript([{ body: `{"id":"r1","priority":1,"limits":[{"most":${number}}]}` }]);
      const update = { path: "/rules/{ruleId}", body: "merged" } as const;
      const client = clientOf(server, { operations: { update } });
      const { rule: live } = await client.get("r1");
      await client.update("r1", { priority: 2 }, { live });
      expect(server.requests[1]?.body).toBe(`{"priority":2,"limits":[{"most":${number}}]}`);
    },
  );
});
