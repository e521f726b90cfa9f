import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import type { Declared } from "../../support/stack/engines.ts";
import { openStack } from "../../support/stack/place.ts";

const rules = { r1: rule(1), r2: rule(2), r3: rule(3), r4: rule(4) };
const singly = Object.fromEntries(Object.entries(rules).map(([name, definition]) => [name, { definition }]));
const asking = contractOf({
  auth: { identity: { path: "/me", at: "/account/id" } },
  rule: { naturalKey: null },
  limits: { concurrency: 1 },
});

test("a service that does not say who the credentials are gets no rule", async () => {
  const { place, stack } = await openStack("local", { contract: asking });
  place.service.faults.set({ kind: "status", status: 403, operations: ["identity"], times: "always" });
  await stack.upFails(singly, {}, /403/);
  expect(place.writes()).toEqual([]);
  expect(place.service.rules()).toEqual([]);
  place.service.faults.clear();
  await stack.up(singly);
  expect(place.service.rules()).toHaveLength(4);
});

test.each<[string, Declared]>([
  ["a set", { all: { rules } }],
  ["resources of one rule", singly],
])(
  "rules of %s that were made before the token was refused stay in the state, and are not made twice",
  async (_case, declared) => {
    const { place, stack } = await openStack("local", { contract: asking });
    let creates = 0;
    place.front.behave(({ method }, pass) => {
      if (method === "POST") creates += 1;
      if (creates <= 2) return pass();
      return { status: 401, body: { error: { code: "UNAUTHENTICATED", message: "the token has expired" } } };
    });
    await stack.upFails(declared, {}, /401/);
    expect(place.service.rules()).toHaveLength(2);
    place.front.behave();
    place.writes();
    await stack.up(declared);
    expect(place.writes()).toEqual(["create", "create"]);
    expect(
      place.service
        .rules()
        .map(({ rule: { name } }) => name)
        .sort(),
    ).toEqual(["rule-1", "rule-2", "rule-3", "rule-4"]);
  },
);
