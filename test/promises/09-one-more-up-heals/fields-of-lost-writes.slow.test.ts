import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import { MerchantRuleSet } from "../../../provider/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, owner } from "../../support/stack/contracts.ts";
import { openPlace, openStack, type Place } from "../../support/stack/place.ts";

const limits = { maxAttempts: 1 };
const [a, b] = [rule(1), rule(2)];
const loseUpdates = ({ front }: Place, carriedOut = true): void =>
  front.behave(async ({ method }, pass) => {
    if (method !== "PUT") return pass();
    if (carriedOut) await pass();
    return { status: 504, body: {} };
  });
const liveB = ({ service }: Place): unknown => service.rules().find((each) => each.rule.name === b.name)?.rule;

test.each([["up"], ["up --refresh"]])(
  "a field that a lost update added within a list is taken back by %s",
  async (verb) => {
    const { place, stack } = await openStack("local", { contract: contractOf({ limits }) });
    await stack.up({ all: { rules: { a, b } } });
    loseUpdates(place);
    const conditions = [{ field: "amount", operator: "gt", value: 20, onlyIn: "XX" }];
    await stack.upFails({ all: { rules: { a, b: { ...b, conditions } } } }, {});
    place.front.behave();
    await stack.up({ all: { rules: { a, b } } }, verb === "up" ? {} : { refresh: true });
    await stack.isUnchanged();
    expect(liveB(place)).toEqual(b);
  },
);

test("two lost updates that add different fields below one object are both taken back", async () => {
  const { place, stack } = await openStack("local", { contract: contractOf({ limits }) });
  const base = { ...b, scope: { base: 1 } };
  await stack.up({ all: { rules: { a, b: base } } });
  loseUpdates(place);
  await stack.upFails({ all: { rules: { a, b: { ...b, scope: { base: 1, x: "XX" } } } } }, {});
  loseUpdates(place, false);
  await stack.upFails({ all: { rules: { a, b: { ...b, scope: { base: 1, y: "YY" } } } } }, {});
  place.front.behave();
  await stack.up({ all: { rules: { a, b: base } } });
  await stack.isUnchanged();
  expect(liveB(place)).toEqual(base);
});

test("after a lost update, reads that a page answers 404 make no second rule, while the list shows the rule", async () => {
  const { place, stack } = await openStack("local", { contract: contractOf({ limits }), allowDuplicates: true });
  await stack.up({ all: { rules: { a, b } } });
  loseUpdates(place);
  await stack.upFails({ all: { rules: { a, b: { ...b, priority: 9 } } } }, {});
  const id = place.idOf(b.name);
  place.front.behave(({ method, path }, pass) =>
    method === "GET" && path.endsWith(`/${id}`)
      ? { status: 404, body: undefined, html: "default backend - 404" }
      : pass(),
  );
  stack.declare({ all: { rules: { a, b } } });
  const { output } = await stack.run("up");
  expect(place.names(), output).toEqual([a.name, b.name]);
});

test("after a lost delete, reads that a page answers 404 do not make the state forget the rule, while the list shows it", async () => {
  const { place, stack } = await openStack("local", { contract: contractOf({ limits }), allowDuplicates: true });
  await stack.up({ all: { rules: { a, b } } });
  place.front.behave(({ method }, pass) => (method === "DELETE" ? { status: 502, body: {} } : pass()));
  await stack.upFails({ all: { rules: { a } } }, {});
  const id = place.idOf(b.name);
  place.front.behave(({ method, path }, pass) =>
    method === "GET" && path.endsWith(`/${id}`)
      ? { status: 404, body: undefined, html: "default backend - 404" }
      : pass(),
  );
  stack.declare({ all: { rules: { a } } });
  const { output } = await stack.run("up");
  place.front.behave();
  await stack.run("up");
  expect(
    place.service.rules().map((e) => e.rule.name),
    output,
  ).toEqual([a.name]);
});

test("a secret that a lost write added does not enter the state of another set in plain", async () => {
  const place = await openPlace({ contract: contractOf({ rule: { owner }, limits }) });
  let step = 0;
  const stack = await place.stack("local", {
    program: () => {
      const own = step === 0 ? b : { ...b, token: pulumi.secret("s3cret-hook-key") };
      new MerchantRuleSet("one", { rules: step < 2 ? { b: own } : {}, allowEmpty: true });
      new MerchantRuleSet("two", { rules: step < 2 ? { a } : { a, b } });
    },
  });
  await stack.succeeds("up");
  loseUpdates(place);
  step = 1;
  await stack.fails("up", {});
  place.front.behave();
  expect(stack.project.state()).not.toContain("s3cret-hook-key");
  step = 2;
  const { output } = await stack.run("up");
  expect(stack.project.state(), output).not.toContain("s3cret-hook-key");
  const preview = await stack.run("preview");
  expect(preview.output).not.toContain("s3cret-hook-key");
});
