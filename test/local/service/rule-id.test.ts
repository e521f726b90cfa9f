import { describe, expect, test } from "vitest";
import { ruleIdMaker } from "../../../local/service/rule-id.ts";

describe("ruleIds", () => {
  test("sort by age and never repeat, even where the clock stands still or goes back", () => {
    const clock = [5, 5, 5, 3, 9, 9].map((seconds) => Date.UTC(2026, 0, 1) + seconds * 1000);
    const newRuleId = ruleIdMaker(() => clock.shift() ?? 0);
    const ids = Array.from({ length: 8 }, newRuleId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(ids);
    expect(ids.every((id) => /^[0-9a-z]{12}$/.test(id))).toBe(true);
  });

  test("differ between services", () => {
    const now = (): number => Date.UTC(2026, 0, 1);
    expect(new Set(Array.from({ length: 20 }, () => ruleIdMaker(now)())).size).toBe(20);
  });
});
