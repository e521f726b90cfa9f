import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openStack } from "../../support/stack/place.ts";

const contract = contractOf({ limits: { maxAttempts: 2 } });
const [a, b] = [rule(1), rule(2)];

onBothEngines((engine) => {
  test("a delete that was answered 502 is not done because a proxy's page answers the GET 404, while the list, which does not lag, still shows the rule", async () => {
    const { place, stack } = await openStack(engine, { contract });
    await stack.up({ all: { rules: { a, b } } });
    place.front.behave(({ method, path }, pass) => {
      if (method === "DELETE") return { status: 502, body: {} };
      const isList = path.split("?")[0]?.endsWith("/rules") === true;
      if (method === "GET" && !isList) return { status: 404, body: undefined, html: "default backend - 404" };
      return pass();
    });
    stack.declare({ all: { rules: { a } } });
    await stack.run("up");
    place.front.behave();
    await stack.succeeds("up");
    expect(place.names()).toEqual([a.name]);
  });

  test("a delete that was answered 502 is not done because every other request is answered 404 by a proxy's page", async () => {
    const { place, stack } = await openStack(engine, { contract });
    await stack.up({ all: { rules: { a, b } } });
    let isOut = false;
    place.front.behave(({ method }, pass) => {
      if (method === "DELETE") isOut = true;
      if (!isOut) return pass();
      return method === "DELETE"
        ? { status: 502, body: {} }
        : { status: 404, body: undefined, html: "default backend - 404" };
    });
    stack.declare({ all: { rules: { a } } });
    await stack.run("up");
    place.front.behave();
    await stack.succeeds("up");
    expect(place.names()).toEqual([a.name]);
  });
});
