import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, update, withoutList } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { HookStack, openWorld, type World, writesOf } from "../../support/stack/hooks.ts";
import { failureOf } from "../../support/stack/hosts.ts";
import { openPlace, openStack, type Place } from "../../support/stack/place.ts";
import { contractFileOf } from "../../support/stack/service.ts";

const three = { a: { definition: rule(1) }, b: { definition: rule(2) }, c: { definition: rule(3) } };
const changed = Object.fromEntries(
  Object.entries(three).map(([name, { definition }]) => [name, { definition: { ...definition, isActive: false } }]),
);
const path = "/api/v1/merchants/rules";

function idIn(requestPath: string): string {
  return requestPath.split("/").at(-1) ?? "";
}

function anyOf({ service }: Place): RegExp {
  return new RegExp(Array.from(service.rules(), ({ ruleId }) => ruleId).join("|"));
}

onBothEngines((engine) => {
  test("an update that in truth creates makes one double at most, and ends the run", async () => {
    const place = await openPlace({ allowDuplicates: true });
    const { service, front } = place;
    const stack = await place.stack(engine);
    await stack.up(three);
    const before = service.rules();
    const ids = anyOf(place);
    front.behave(async (request, pass) => {
      if (request.method !== "PUT") return pass();
      const { body } = await pass({ method: "POST", path });
      return { status: 200, body: isJsonObject(body) ? { ...body, id: idIn(request.path) } : undefined };
    });
    place.writes();
    await stack.upFails(changed, {}, ids);
    expect(place.writes()).toEqual(["update"]);
    expect(service.rules().slice(0, 3)).toEqual(before);
    expect(service.rules()).toHaveLength(4);
  });

  test("an update that loses the rule's content hits one rule alone", async () => {
    const place = await openPlace();
    const { service, front } = place;
    const stack = await place.stack(engine);
    await stack.up(three);
    const ids = anyOf(place);
    const before = service.rules();
    front.behave(({ method, body }, pass) => {
      if (method !== "PUT" || !isJsonObject(body)) return pass();
      return pass({ body: { name: body.name ?? "" } });
    });
    place.writes();
    await stack.upFails(changed, {}, ids);
    expect(place.writes()).toEqual(["update"]);
    const whole = service.rules().filter(({ ruleId, rule: live }) => isAsIn(before, ruleId, live));
    expect(whole).toHaveLength(2);
  });

  test("an update that wrecks other rules ends the run after the first", async () => {
    const place = await openPlace();
    const { service, front } = place;
    const stack = await place.stack(engine);
    await stack.up(three);
    const ids = anyOf(place);
    front.behave(async (request, pass) => {
      const answer = await pass();
      if (request.method === "PUT")
        for (const { ruleId, rule: live } of service.rules())
          if (ruleId !== idIn(request.path)) service.put(ruleId, { name: live.name ?? "" });
      return answer;
    });
    place.writes();
    await stack.upFails(changed, {}, ids);
    expect(place.writes()).toEqual(["update"]);
  });
});

test("an update whose answer was lost is no harm that the next one does", async () => {
  const place = await openPlace();
  const { service, front } = place;
  const stack = await place.stack("local");
  await stack.up({ all: { rules: { a: rule(1), b: rule(2), c: rule(3) } } });
  const [lost = ""] = service.rules().map(({ ruleId }) => ruleId);
  front.behave(async (request, pass) => {
    const answer = await pass();
    return request.method === "PUT" && idIn(request.path) === lost ? { status: 500, body: {} } : answer;
  });
  const fewer = (k: number): JsonObject => {
    const { isActive: _, ...rest } = rule(k, { priority: 50 });
    return rest;
  };
  const less = { a: fewer(1), b: fewer(2), c: fewer(3) };
  const { output } = await stack.upFails({ all: { rules: less } }, {}, /1 of 3 rules failed/);
  expect(output).not.toContain("lost fields");
  expect(service.rules().map((each) => each.rule.priority)).toEqual([50, 50, 50]);
});

test("rules of which reads show what was before are not done: each is named, and the state has what is seen", async () => {
  const place = await openPlace();
  const { service, front } = place;
  const stack = await place.stack("local");
  await stack.up(three);
  const before = place.shown();
  front.behave((request, pass) => {
    if (request.method !== "GET") return pass();
    const [requested = ""] = request.path.split("?");
    if (requested === path) return { status: 200, body: { rules: before } };
    return { status: 200, body: before.find(({ id }) => id === idIn(requested)) };
  });
  place.writes();
  await stack.upFails(changed, {}, /a read still shows isActive as before/);
  expect(place.writes()).toEqual(["update", "update", "update"]);
  expect(service.rules().map((each) => each.rule.isActive)).toEqual([false, false, false]);
});

function isAsIn(
  before: readonly { readonly ruleId: string; readonly rule: JsonObject }[],
  ruleId: string,
  live: JsonObject,
): boolean {
  const known = before.find((each) => each.ruleId === ruleId);
  return JSON.stringify(known?.rule) === JSON.stringify(live);
}

const contract = contractOf({ limits: { maxAttempts: 1 } });
const rules = { a: rule(1), b: rule(2), c: rule(3), d: rule(4), z: rule(9) };
const off = Object.fromEntries(
  Object.entries(rules).map(([key, each]) => [key, key === "z" ? each : { ...each, isActive: false }]),
);

onBothEngines((engine) => {
  test("a first update that is carried out, takes another rule away and is answered 500 ends the run, and the next one has all that is declared", async () => {
    const { place, stack } = await openStack(engine, { contract });
    await stack.up({ all: { rules } });
    let updates = 0;
    place.front.behave(async ({ method }, pass) => {
      const answer = await pass();
      if (method !== "PUT") return answer;
      updates += 1;
      if (place.names().includes("rule-9")) place.service.remove(place.idOf("rule-9"));
      return { status: 500, body: {} };
    });
    await stack.upFails({ all: { rules: off } }, {});
    place.front.behave();
    const next = await stack.run("up");
    // It heals, or says what is gone.
    expect({ updates, left: next.code === 0 ? place.names() : "said" }, next.output).toEqual({
      updates: 1,
      left: ["rule-1", "rule-2", "rule-3", "rule-4", "rule-9"],
    });
  });
});

describe("a contract that puts the body of an update in another place than the service", () => {
  const declaring = { ...update, body: "declared" } as const;
  const spoken = contractOf({ operations: { update: { ...declaring, bodyAt: "/rule" } } });
  const declared = { a: { definition: rule(1) }, b: { definition: rule(2) } };
  const changed = { a: { definition: rule(1, { priority: 9 }) }, b: { definition: rule(2, { priority: 9 }) } };

  /** The same service, with the contract as it should be. */
  const corrected = (): Record<string, string> => ({
    MERCHANT_RULES_CONTRACT: contractFileOf(contractOf({ operations: { update: declaring } })),
  });

  const expectHealed = ({ definitions }: World): void =>
    expect(definitions()).toEqual([changed.a.definition, changed.b.definition]);

  test.each(["rule", "id"] as const)(
    "is noticed at once, and the state has what the service keeps, where it answers an update with the %s",
    async (answers) => {
      const world = await openWorld({ spoken, answers });
      const { id, outs } = await (await world.host()).create(declared.a);
      const failure = await failureOf((await world.host()).update(id, outs, changed.a));
      expect(failure.message).toMatch(/the rule has lost .*\bname\b.*operations\.update .*bodyAt/s);
      expect(world.service.rules()).toEqual([{ ruleId: id, rule: { rule: changed.a.definition } }]);
      // The state has what the service keeps: of what is declared nothing.
      expect(failure.partial?.properties).toMatchObject({ definition: {}, ruleId: id });
      expect(Object.keys(Object(failure.partial?.properties.definition))).toEqual([]);
    },
  );

  test("ends a run of two rules after one of them, and the next run, with the contract corrected, makes both as declared", async () => {
    const world = await openWorld({ spoken });
    const stack = new HookStack(world);
    expect(await stack.up(declared)).toEqual([]);
    world.service.resetRequests();
    expect(await stack.up(changed)).toHaveLength(2);
    expect(writesOf(world)).toEqual(["update"]);
    const environment = corrected();
    expect(await stack.refresh(environment)).toEqual([]);
    expect(await stack.up(changed, environment)).toEqual([]);
    expectHealed(world);
  });

  test("that has wrecked the only rule of a stack is healed by the next run, with the contract corrected", async () => {
    const world = await openWorld({ spoken });
    const stack = new HookStack(world);
    expect(await stack.up({ a: declared.a })).toEqual([]);
    expect(await stack.up({ a: changed.a })).toHaveLength(1);
    const environment = corrected();
    expect(await stack.up({ a: changed.a }, environment)).toEqual([]);
    expect(world.definitions()).toEqual([changed.a.definition]);
    world.service.resetRequests();
    expect(await stack.up({ a: changed.a }, environment)).toEqual([]);
    expect(world.service.requests).toEqual([]);
  });
});

test("one answer that is not its rule fails the refresh of a set: it is no drift of all its fields", async () => {
  const world = await openWorld({ contract: contractOf({ operations: { list: null } }) });
  const rules = { a: rule(1), b: rule(2), c: rule(3) };
  const { id, outs } = await (await world.host("merchantRuleSet")).create({ rules });
  world.service.faults.set({ kind: "other-shape", operations: ["get"], request: 2 });
  const { message } = await failureOf((await world.host("merchantRuleSet")).read(id, outs));
  expect(message).toMatch(/read rule \w failed: .*none of the fields that are declared.*RESPONSE_INVALID/s);
  expect((await (await world.host("merchantRuleSet")).read(id, outs)).props.rules).toEqual(rules);
});

test("an update that is answered with another rule than it was sent to is the last request of its run", async () => {
  const place = await openPlace({ contract: { ...withoutList, limits: { concurrency: 1 } } });
  const { service, front } = place;
  const stack = await place.stack("local");
  await stack.up(three);
  let puts = 0;
  front.behave(async (request, pass) => {
    if (request.method !== "PUT") return pass();
    puts += 1;
    // The second leaves the rule as it is, and makes another one.
    return puts === 1 ? pass() : { status: 200, body: { id: service.put(undefined, rule(900 + puts)) } };
  });
  await stack.upFails(changed, {}, /the answer is about another rule/, /not sent, because the update of rule/);
  expect(puts).toBe(2);
});
