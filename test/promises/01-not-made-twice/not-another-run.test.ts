import { expect, test } from "vitest";
import { isJsonObject } from "../../../sdk/json/index.ts";
import { many, rule } from "../../support/rules.ts";
import { contractOf, marking } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openStack } from "../../support/stack/place.ts";

const [a, b] = [rule(1), rule(2)];

onBothEngines((engine) => {
  test("a rule that this run's own create made, and that the service keeps in a form of its own, is not said to be made 'not by it', by another run", async () => {
    const { place, stack } = await openStack(engine, { contract: contractOf() });
    place.front.behave(async ({ method, body }, pass) => {
      if (method !== "POST") return pass();
      // The service rounds a number, and its gateway loses the answer.
      await pass({ body: isJsonObject(body) ? { ...body, priority: 10 } : undefined });
      return { status: 504, body: {} };
    });
    const { output } = await stack.upFails({ all: { rules: { a } } }, {}, /rule-1/);
    expect(output).not.toMatch(/not by it|another run of this stack may be under way/);
  });

  test("a gateway that sends a create twice by itself is not said to be another run of this stack", async () => {
    const { place, stack } = await openStack(engine, { contract: marking });
    place.front.behave(async ({ method }, pass) => {
      if (method === "POST") await pass();
      // The second one is answered 409, and that answer arrives.
      return pass();
    });
    const { output } = await stack.up({ all: { rules: { a, b } } });
    expect(place.service.rules()).toHaveLength(2);
    expect(output).not.toMatch(/not by it|another run of this stack may be under way/);
  });
});

test("one create of which the answer was lost and the service kept another form does not make every later create read the whole list", async () => {
  const { place, stack } = await openStack("local", { contract: contractOf({ limits: { concurrency: 1 } }) });
  let [creates, lists] = [0, 0];
  place.front.behave(async ({ method, path, body }, pass) => {
    if (method === "GET" && path.split("?")[0]?.endsWith("/rules") === true) lists += 1;
    if (method !== "POST") return pass();
    creates += 1;
    if (creates > 1) return pass();
    await pass({ body: isJsonObject(body) ? { ...body, priority: 10 } : undefined });
    return { status: 504, body: {} };
  });
  const rules = many(60);
  await stack.upFails({ all: { rules } }, {}, /1 of 60 rules failed/);
  expect(lists).toBeLessThan(10);
});
