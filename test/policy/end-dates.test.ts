import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endDates, endDatesAt } from "../../policy/end-dates.ts";
import { evaluate, rule, ruleSet, unknown } from "./evaluate.ts";

describe("end-dates", () => {
  const now = new Date("2026-11-22T12:00:00Z");
  const policy = endDatesAt(() => now);
  const config = { endDates: ["/endsAt", "/windows/*/until"], maximumDays: 90 };

  test("passes dates that are ahead and near enough, and rules without one", async () => {
    const declared = [
      rule("a", { endsAt: "2026-11-22" }),
      rule("b", { endsAt: "2026-11-22T14:00:01+02:00", windows: [{ until: "2027-02-20T12:00:00Z" }] }),
      rule("c", {
        endsAt: "2026-11-22T12:00:00.5",
        windows: [{ until: "2026-11-22T12:01" }, { until: "2026-11-22T12:01Z" }],
      }),
      rule("d", { endsAt: null }),
      rule("e", {}),
    ];
    expect(await evaluate(policy, declared, config)).toEqual({ violations: [], notes: [], notApplicable: [] });
  });

  test("names the rule, the path, the date and what is allowed", async () => {
    const declared = [
      rule("past", { endsAt: "2026-11-21", windows: [{ until: "2026-11-22T12:00:00Z" }] }),
      ruleSet("set", { far: { endsAt: "2027-02-21" }, odd: { endsAt: "soon", windows: [{ until: "2027-02-30" }] } }),
      rule("number", { endsAt: 1795305600000 }),
    ];
    expect((await evaluate(policy, declared, config)).violations).toEqual([
      'past: past: /endsAt: found "2026-11-21", allowed an end after 2026-11-22T12:00:00.000Z',
      'past: past: /windows/0/until: found "2026-11-22T12:00:00Z", allowed an end after 2026-11-22T12:00:00.000Z',
      'set: far: /endsAt: found "2027-02-21", allowed an end within 90 days, by 2027-02-20T12:00:00.000Z',
      'set: odd: /endsAt: found "soon", allowed an ISO 8601 date or date-time',
      'set: odd: /windows/0/until: found "2027-02-30", allowed an ISO 8601 date or date-time',
      "number: number: /endsAt: found 1795305600000, allowed an ISO 8601 date or date-time",
    ]);
  });

  test("reads numbers in the unit that is configured", async () => {
    const declared = [
      rule("a", { endsAt: 1795392000000 }),
      rule("b", { endsAt: 1795305600 }),
      rule("c", { endsAt: true }),
    ];
    const only = { endDates: ["/endsAt"] };
    expect((await evaluate(policy, declared, { ...only, unit: "milliseconds" })).violations).toEqual([
      "b: b: /endsAt: found 1795305600, allowed an end after 2026-11-22T12:00:00.000Z",
      "c: c: /endsAt: found true, allowed an ISO 8601 date or date-time, or milliseconds since 1970",
    ]);
    const { violations } = await evaluate(policy, [rule("b", { endsAt: 1795521600 })], {
      ...only,
      unit: "seconds",
      maximumDays: 1,
    });
    expect(violations).toEqual([
      "b: b: /endsAt: found 1795521600, allowed an end within a day, by 2026-11-23T12:00:00.000Z",
    ]);
  });

  test("asks for an end date where one is required", async () => {
    const declared = [rule("a", { windows: [{ until: null }] }), rule("b", { windows: [{ until: "2026-12-01" }] })];
    expect((await evaluate(policy, declared, { ...config, required: true })).violations).toEqual([
      "a: a: found no end date, allowed one at /endsAt or /windows/*/until",
    ]);
  });

  test("leaves out what is not known yet, and says so", async () => {
    const declared = [ruleSet("set", { late: { endsAt: unknown }, bad: { endsAt: "soon" } }), ruleSet("all", unknown)];
    expect(await evaluate(policy, declared, { ...config, required: true })).toMatchObject({
      violations: ['set: bad: /endsAt: found "soon", allowed an ISO 8601 date or date-time'],
      notes: [
        "not known before the run, so not checked: late: /endsAt",
        "not known before the run, so not checked: the rules of all",
      ],
    });
  });

  test("judges a moment in whatever offset it is written as the moment that it is", async () => {
    const moments = fc.integer({ min: 1, max: 89 * 86_400 }).map((seconds) => new Date(now.getTime() + seconds * 1000));
    const offsets = fc.integer({ min: -14 * 60, max: 14 * 60 });
    const withOffset = (moment: Date, minutes: number): string => {
      const local = new Date(moment.getTime() + minutes * 60_000).toISOString().slice(0, 19);
      const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
      return `${local}${minutes < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}:${String(rest).padStart(2, "0")}`;
    };
    await fc.assert(
      fc.asyncProperty(moments, offsets, async (moment, minutes) => {
        const before = new Date(2 * now.getTime() - moment.getTime());
        const declared = [
          rule("ahead", { endsAt: withOffset(moment, minutes) }),
          rule("past", { endsAt: withOffset(before, minutes) }),
        ];
        const { violations } = await evaluate(policy, declared, config);
        expect(violations).toEqual([expect.stringMatching(/^past: .* allowed an end after/)]);
      }),
    );
  });

  test("goes by the clock of the machine", async () => {
    const declared = [rule("a", { endsAt: "2001-01-01" }), rule("b", { endsAt: "9999-01-01" })];
    const { violations } = await evaluate(endDates, declared, { endDates: ["/endsAt"] });
    expect(violations).toEqual([expect.stringMatching(/^a: a: \/endsAt: found "2001-01-01", allowed an end after 20/)]);
  });

  test("has nothing to say without a pointer, and refuses a wrong configuration", async () => {
    expect((await evaluate(policy, [rule("a", {})])).notApplicable).toEqual([
      "no pointer to an end date is configured",
    ]);
    await expect(evaluate(policy, [rule("a", {})], { maximumDays: 0 })).rejects.toThrow(/must be > 0/);
    await expect(evaluate(policy, [rule("a", {})], { unit: "minutes" })).rejects.toThrow(/allowed values/);
  });
});
