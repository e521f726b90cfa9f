import { expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openPlace, type Place } from "../../support/stack/place.ts";

const three = { a: { definition: rule(1) }, b: { definition: rule(2) }, c: { definition: rule(3) } };
const changed = Object.fromEntries(
  Object.entries(three).map(([name, { definition }]) => [name, { definition: { ...definition, isActive: false } }]),
);
const path = "/api/v1/merchants/rules";

function idIn(requestPath: string): string {
  return requestPath.split("/").at(-1) ?? "";
}

function anyOf({ service }: Place): RegExp {
  return new RegExp(
    service
      .rules()
      .map(({ ruleId }) => ruleId)
      .join("|"),
  );
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

test("a service that shows for a while what was before is no failure, and the run says that it cannot tell", async () => {
  const place = await openPlace();
  const { service, front } = place;
  const stack = await place.stack("local");
  await stack.up(three);
  const before = service.rules().map(({ ruleId, rule: live }): JsonObject => ({ id: ruleId, ...live }));
  front.behave((request, pass) => {
    if (request.method !== "GET") return pass();
    const [requested = ""] = request.path.split("?");
    if (requested === path) return { status: 200, body: { rules: before } };
    return { status: 200, body: before.find(({ id }) => id === idIn(requested)) };
  });
  place.writes();
  const { output } = await stack.up(changed);
  expect(output).toMatch(/the service still shows what was before; it cannot be told/);
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
