import { runtime } from "@pulumi/pulumi";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { rulesFor } from "../definitions.ts";

/** What the program registers: Pulumi's own mocks stand in for the engine, and nothing is sent anywhere. */
const registered: runtime.MockResourceArgs[] = [];

beforeEach(async () => {
  registered.length = 0;
  // The program declares its resources when it is imported, so each test imports it anew.
  vi.resetModules();
  await runtime.setMocks(
    {
      newResource(resource) {
        registered.push(resource);
        // Owner and connection register themselves beside the rules, and have none.
        const keys = Object.keys(resource.inputs.rules ?? {});
        const ruleIds = Object.fromEntries(keys.map((key) => [key, `id-of-${key}`]));
        return { id: `id-of-${resource.name}`, state: { ...resource.inputs, ruleIds } };
      },
      call: ({ token }) => {
        throw new Error(`the program calls ${token}, which these tests know nothing of`);
      },
    },
    "unit-tests",
    "test",
  );
});

/** The sets of rules that the program declares. */
function sets() {
  return registered.filter(({ type }) => type.endsWith(":MerchantRuleSet"));
}

/** Runs the program with a stack config, and waits for its resources. */
async function runProgram(config: Record<string, string>) {
  runtime.setAllConfig(config);
  const { ruleIds } = await import("../index.ts");
  return await new Promise<Record<string, string>>((resolve) => ruleIds.apply(resolve));
}

describe("the program", () => {
  test("declares one set, with the rules of the stack's limits", async () => {
    await runProgram({ "unit-tests:reviewAbove": "50", "unit-tests:declineAbove": "500" });
    expect(sets()).toHaveLength(1);
    expect(sets()[0]).toMatchObject({
      name: "all",
      inputs: { rules: rulesFor({ reviewAbove: 50, declineAbove: 500 }), onUnmanaged: "warn" },
    });
  });

  test("has limits where the stack names none", async () => {
    await runProgram({});
    expect(sets()[0]?.inputs.rules).toEqual(rulesFor({ reviewAbove: 1_000, declineAbove: 10_000 }));
  });

  test("gives the ids of all rules as the stack's output", async () => {
    expect(await runProgram({})).toEqual({
      "decline-large": "id-of-decline-large",
      "review-large": "id-of-review-large",
      "accept-home": "id-of-accept-home",
    });
  });
});
