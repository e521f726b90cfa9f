import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf, owner } from "../../support/stack/contracts.ts";
import { isList, strangePage } from "../../support/stack/front.ts";
import { openStack } from "../../support/stack/place.ts";

const [a, b, c] = [rule(1), rule(2), rule(3)];

test.each([
  ["502, then 404 by a page", true, {}],
  ["404 by a page at once", false, {}],
  ["404 by a page at once, with marks", false, { owner }],
])(
  "a delete is not done because it and a GET are answered %s, while the list, which does not lag, still shows the rule",
  async (_case, lost, more) => {
    const contract = contractOf({ rule: more, limits: { maxAttempts: 2 } });
    const { place, stack } = await openStack("local", { contract });
    await stack.up({ all: { rules: { a, b, c } } });
    let deletes = 0;
    place.front.behave((request, pass) => {
      if (request.method === "DELETE") return lost && ++deletes % 2 === 1 ? { status: 502, body: {} } : strangePage;
      return request.method === "GET" && !isList(request) ? strangePage : pass();
    });
    stack.declare({ all: { rules: { a } } });
    const { output } = await stack.run("up");
    place.front.behave();
    await stack.run("up");
    expect(place.names(), output).toEqual([a.name]);
  },
);

test("a set does not make a rule a second time because its update and a GET are answered 404 by a page, while the list still shows it", async () => {
  const { place, stack } = await openStack("local", { allowDuplicates: true });
  await stack.up({ all: { rules: { a, b } } });
  place.front.behave((request, pass) =>
    request.method === "PUT" || (request.method === "GET" && !isList(request)) ? strangePage : pass(),
  );
  stack.declare({ all: { rules: { a, b: { ...b, priority: 9 } } } });
  const { output } = await stack.run("up");
  expect(place.names(), output).toEqual([a.name, b.name]);
});
