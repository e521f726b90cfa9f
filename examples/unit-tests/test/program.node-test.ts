// The same with Node's own test runner, for projects without vitest: node --test test/*.node-test.ts
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { runtime } from "@pulumi/pulumi";
import { rulesFor } from "../definitions.ts";

const registered: runtime.MockResourceArgs[] = [];

before(async () => {
  await runtime.setMocks({
    newResource(resource) {
      registered.push(resource);
      return { id: `id-of-${resource.name}`, state: { ...resource.inputs, ruleIds: {} } };
    },
    call: ({ token }) => {
      throw new Error(`the program calls ${token}, which these tests know nothing of`);
    },
  });
  const { ruleIds } = await import("../index.ts");
  await new Promise((resolve) => ruleIds.apply(resolve));
});

test("the program declares one set with all rules", () => {
  // Owner and connection register themselves beside the rules.
  const sets = registered.filter(({ type }) => type.endsWith(":MerchantRuleSet"));
  assert.deepEqual(
    sets.map(({ name, inputs }) => [name, inputs.rules]),
    [["all", rulesFor({ reviewAbove: 1_000, declineAbove: 10_000 })]],
  );
});

test("no two rules have one priority", () => {
  const priorities = Object.values(rulesFor({ reviewAbove: 1, declineAbove: 2 })).map(({ priority }) => priority);
  assert.equal(new Set(priorities).size, priorities.length);
});
