import { describe, expect, test } from "vitest";
import { rulesFor } from "../definitions.ts";

const rules = Object.entries(rulesFor({ reviewAbove: 1_000, declineAbove: 10_000 }));

describe("the definitions", () => {
  test("no two rules have one priority", () => {
    const priorities = rules.map(([, { priority }]) => priority);
    expect(priorities).toEqual([...new Set(priorities)]);
  });

  test("a rule's key is its name", () => {
    for (const [key, { name }] of rules) expect(name).toBe(key);
  });

  test("no rule that declines is for every payment", () => {
    for (const [key, { conditions, actions }] of rules)
      if (actions.some(({ type }) => type === "decline")) expect(conditions, key).not.toEqual([]);
  });

  test("what would be declined anyway is not reviewed before", () => {
    expect(() => rulesFor({ reviewAbove: 5_000, declineAbove: 5_000 })).toThrow("must be less than declineAbove");
  });
});
