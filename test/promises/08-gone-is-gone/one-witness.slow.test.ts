import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf, owner } from "../../support/stack/contracts.ts";
import { openStack } from "../../support/stack/place.ts";

const [a, b, c] = [rule(1), rule(2), rule(3)];
const page = { status: 404, body: undefined, html: "default backend - 404" };
const isList = (path: string): boolean => path.split("?")[0]?.endsWith("/rules") === true;

test.each([
  ["502, then 404 by a page", true, {}],
  ["404 by a page at once", false, {}],
  ["404 by a page at once, with marks", false, { owner }],
])(
  "a delete is not done because it and a GET are answered %s, while the list, which does not lag, still shows the rule",
  async (_case, lost, more) => {
    const { place, stack } = await openStack("local", {
      contract: contractOf({ rule: more, limits: { maxAttempts: 2 } }),
    });
    await stack.up({ all: { rules: { a, b, c } } });
    let deletes = 0;
    place.front.behave(({ method, path }, pass) => {
      if (method === "DELETE") return lost && ++deletes % 2 === 1 ? { status: 502, body: {} } : page;
      return method === "GET" && !isList(path) ? page : pass();
    });
    stack.declare({ all: { rules: { a } } });
    const { output } = await stack.run("up");
    place.front.behave();
    await stack.run("up");
    expect(
      place.service.rules().map((e) => e.rule.name),
      output,
    ).toEqual([a.name]);
  },
);

test("a set does not make a rule a second time because its update and a GET are answered 404 by a page, while the list still shows it", async () => {
  const { place, stack } = await openStack("local", { contract: contractOf(), allowDuplicates: true });
  await stack.up({ all: { rules: { a, b } } });
  place.front.behave(({ method, path }, pass) =>
    method === "PUT" || (method === "GET" && !isList(path)) ? page : pass(),
  );
  stack.declare({ all: { rules: { a, b: { ...b, priority: 9 } } } });
  const { output } = await stack.run("up");
  expect(place.names(), output).toEqual([a.name, b.name]);
});
