import { expect, test } from "vitest";
import { isJsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { marking } from "../../support/stack/contracts.ts";
import { onBothEngines, type Stack } from "../../support/stack/engines.ts";
import { openPlace, openStack, type Place } from "../../support/stack/place.ts";

const two = { Alpha: { definition: rule(1) }, Beta: { definition: rule(2) } };

/** A service that keeps another mark than it is sent. */
async function keeping(mark: (sent: string) => string): Promise<{ place: Place; stack: Stack }> {
  const { place, stack } = await openStack("local", { contract: marking });
  place.front.behave(({ method, body }, pass) => {
    if (method === "GET" || method === "DELETE" || !isJsonObject(body)) return pass();
    const { managedBy } = Object(body.metadata);
    return pass({ body: { ...body, metadata: { managedBy: mark(String(managedBy)) } } });
  });
  return { place, stack };
}

test.each<[string, (sent: string) => string]>([
  ["keeps the first ten characters of a mark", (sent) => sent.slice(0, 10)],
  ["keeps the first thirty characters of a mark", (sent) => sent.slice(0, 30)],
])(
  "a service that %s shows it in the first run, which fails and says where; a destroy leaves nothing in force",
  async (_case, mark) => {
    const { place, stack } = await keeping(mark);
    await stack.upFails(two, {}, /rule\.owner/);
    await stack.succeeds("destroy");
    expect(place.service.rules()).toEqual([]);
  },
);

test("a service that writes marks in small letters is refused in the first run, or is no hindrance at all", async () => {
  const { place, stack } = await keeping((sent) => sent.toLowerCase());
  stack.declare(two);
  const first = await stack.run("up");
  if (first.code !== 0) expect(first.output).toMatch(/rule\.owner/);
  else {
    await stack.up({ ...two, Alpha: { definition: rule(1, { priority: 50 }) } });
    expect(
      place.service
        .rules()
        .map(({ rule: { priority } }) => priority)
        .sort(),
    ).toEqual([2, 50]);
  }
  await stack.succeeds("destroy");
  expect(place.service.rules()).toEqual([]);
});

const ownerId = /^[0-9a-f]{20}$/;
onBothEngines((engine) => {
  test("one connection is in the state, rules refer to it, and their marks begin with its owner id; another stack has another", async () => {
    const place = await openPlace({ contract: marking });
    const long = {
      [`resource-${"x".repeat(80)}`]: { definition: rule(1) },
      grün: { definition: rule(2) },
    };
    const stack = await place.stack(engine);
    const { output } = await stack.up(long);
    expect(output).toMatch(/Connection/);
    const [connection, ...others] = stack.resources("Connection");
    expect(others).toEqual([]);
    expect(connection?.urn).toMatch(/::default$/);
    const [id = "", identity] = String(connection?.id).split(".");
    expect(id).toMatch(ownerId);
    expect(identity).toBe("");
    for (const { inputs } of stack.resources("MerchantRule"))
      expect(inputs).toMatchObject({ __connection: connection?.id });
    const marks = place.service.rules().map(({ rule: { metadata } }) => String(Object(metadata).managedBy));
    for (const mark of marks) {
      expect(mark).toMatch(/^[0-9a-f]{20}\.[0-9a-f]{16} lifecycle\/test\/[ -~]+$/);
      expect(mark.slice(0, 20)).toBe(id);
      expect(mark.length).toBeLessThanOrEqual(200);
    }
    expect(new Set(marks.map((mark) => mark.slice(21, 37))).size).toBe(2);

    const second = await place.stack(engine);
    await second.up({ c: { definition: rule(3) } });
    const [theirs] = second.resources("Connection");
    expect(String(theirs?.id).slice(0, 20)).toMatch(ownerId);
    expect(String(theirs?.id).slice(0, 20)).not.toBe(id);
    await stack.succeeds("destroy");
    expect(place.service.rules().map(({ rule: { name } }) => name)).toEqual(["rule-3"]);
  });
});
