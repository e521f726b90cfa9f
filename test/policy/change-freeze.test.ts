import fc from "fast-check";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { changeFreeze, changeFreezeAt } from "../../policy/change-freeze.ts";
import type { Json } from "../../sdk/json/index.ts";
import { type Declared, evaluate, rule, ruleSet, unknown } from "./evaluate.ts";
import { ciphertext, plaintext, stackExport, unchanged } from "./stack-export.ts";

const office = { days: ["Mon", "Tue", "Wed", "Thu", "Fri"], from: "09:00", to: "17:00" };
const allowed = [office];
// 2026-11-22 is a Sunday.
const [sunday, monday] = ["2026-11-22T12:00:00Z", "2026-11-23T12:00:00Z"];

const at = (moment: string) => changeFreezeAt(() => new Date(moment));

/** A run of the engine that only shows what would be done, unless a test says otherwise. */
beforeEach(() => {
  vi.stubEnv("PULUMI_NODEJS_DRY_RUN", "true");
});

describe("change-freeze without a baseline", () => {
  const declared = [
    unchanged(rule("same", { priority: 1 })),
    rule("changed", { priority: 2 }),
    unchanged(ruleSet("quiet", { a: {} })),
    ruleSet("busy", { b: {}, c: unknown }),
    ruleSet("emptied", {}),
    ruleSet("late", unknown),
  ];

  test("passes everything in the allowed hours", async () => {
    expect(await evaluate(at(monday), declared, { allowed })).toMatchObject({ violations: [], notes: [] });
  });

  test("names the rules, and the sets, that the preview shows to change", async () => {
    const { violations } = await evaluate(at(sunday), declared, { allowed });
    const hours = "Mon, Tue, Wed, Thu, Fri 09:00-17:00 (UTC), or a name in allowedRules";
    expect(violations.toSorted()).toEqual([
      `busy: the rules of busy: found a change on Sun 12:00, allowed ${hours}`,
      `changed: changed: found a change on Sun 12:00, allowed ${hours}`,
      `emptied: the rules of emptied: found a change on Sun 12:00, allowed ${hours}`,
      `late: the rules of late: found a change on Sun 12:00, allowed ${hours}`,
    ]);
  });

  test("lets listed rules and sets change, but no set for the sake of one key", async () => {
    const allowedRules = ["changed", "b", "emptied", "late"];
    const { violations } = await evaluate(at(sunday), declared, { allowed, allowedRules });
    expect(violations).toEqual([expect.stringMatching(/^busy: the rules of busy/)]);
    const all = await evaluate(at(sunday), declared, { allowed, allowedRules: [...allowedRules, "busy"] });
    expect(all.violations).toEqual([]);
  });

  test("has nothing to say of an up, which does not show what changes", async () => {
    vi.stubEnv("PULUMI_NODEJS_DRY_RUN", "false");
    const { violations, notApplicable } = await evaluate(at(sunday), declared, { allowed });
    expect(violations).toEqual([]);
    expect(notApplicable).toContain("without a baseline only a preview tells what changes");
  });
});

describe("change-freeze with a baseline", () => {
  const deployed = [
    rule("large", { priority: 1, conditions: [{ value: 1 }] }),
    ruleSet("risk", { fraud: { priority: 2 }, other: { priority: 3 } }),
  ];
  const hours = "Mon, Tue, Wed, Thu, Fri 09:00-17:00 (UTC), or a name in allowedRules";

  async function asked(declared: readonly Declared[], more: Record<string, unknown> = {}, moment = sunday) {
    return await evaluate(at(moment), declared, { allowed, baseline: stackExport(deployed), ...more });
  }

  test("passes rules that are as deployed, whatever else changes about their resources", async () => {
    const declared = [
      rule("large", { conditions: [{ value: 1.0 }], priority: 1 }),
      ruleSet("moved", { other: { priority: 3 } }),
      ruleSet("risk", { fraud: { priority: 2 } }),
    ];
    expect(await asked(declared)).toEqual({ violations: [], notes: [], notApplicable: [] });
  });

  test("passes everything in the allowed hours", async () => {
    expect((await asked([rule("more", {})], {}, monday)).violations).toEqual([]);
  });

  test("names each rule that is new, differs or is removed, in an up too", async () => {
    vi.stubEnv("PULUMI_NODEJS_DRY_RUN", "false");
    const declared = [
      rule("large", { priority: 2, conditions: [{ value: 2 }, {}], a: 1, b: 2 }),
      ruleSet("risk", { fraud: { priority: 2 }, more: {} }),
    ];
    expect((await asked(declared)).violations).toEqual([
      `large: large: found a change at /priority, /conditions/0/value, /conditions/1 and 2 more on Sun 12:00, allowed ${hours}`,
      `risk: more: found a new rule on Sun 12:00, allowed ${hours}`,
      `stack: other: found its removal on Sun 12:00, allowed ${hours}`,
    ]);
  });

  test("lets listed rules change at any time", async () => {
    const declared = [rule("large", {}), ruleSet("risk", { fraud: {}, more: {} })];
    const allowedRules = ["large", "risk/fraud", "more", "risk/other"];
    expect((await asked(declared, { allowedRules })).violations).toEqual([]);
    expect((await asked([], { allowedRules: ["large", "risk"] })).violations).toEqual([]);
  });

  test("compares a rule with its own set's, where another set has the key too", async () => {
    const baseline = stackExport([ruleSet("a", { k: { priority: 1 } }), ruleSet("b", { k: { priority: 2 } })]);
    const declared = [ruleSet("a", { k: { priority: 2 } }), ruleSet("b", { k: { priority: 2 } })];
    expect((await asked(declared, { baseline })).violations).toEqual([
      `a: k: found a change at /priority on Sun 12:00, allowed ${hours}`,
    ]);
  });

  test("a rule of another connection is a new rule", async () => {
    const [large, risk] = deployed;
    const elsewhere = { ...large, props: { ...large?.props, connection: "eu" } };
    expect((await asked([{ ...rule("large", {}), ...elsewhere }, ...(risk ? [risk] : [])])).violations).toEqual([
      `large: large: found a new rule on Sun 12:00, allowed ${hours}`,
      `stack: large: found its removal on Sun 12:00, allowed ${hours}`,
    ]);
  });

  test("compares what is known, and says what is not", async () => {
    const declared = [
      rule("large", { priority: unknown, conditions: [{ value: unknown }] }),
      ruleSet("risk", { fraud: { priority: 9, late: unknown }, other: unknown }),
      ruleSet("late", unknown),
      rule("elsewhere", {}, { props: { connection: unknown } }),
    ].map(unchanged);
    expect(await asked(declared)).toMatchObject({
      violations: [`risk: fraud: found a change at /priority on Sun 12:00, allowed ${hours}`],
      notes: [
        "not known before the run, so not checked: large: /priority, large: /conditions/0/value",
        "not known before the run, so not checked: other",
        "not known before the run, so not checked: the rules of late",
        expect.stringContaining("elsewhere: connection"),
        expect.stringContaining("the rules of late"),
      ],
    });
  });

  describe("with secrets", () => {
    const rules = (note: Json | object) => [
      rule("large", { note }),
      ruleSet("risk", { fraud: { note, priority: 1 }, other: {} }),
    ];
    const declared = rules("hush");
    const ask = (shown: readonly Declared[], note: object) =>
      evaluate(at(sunday), shown, { allowed, baseline: stackExport(rules(note)) });

    test("compares those that --show-secrets shows, and prints none", async () => {
      expect((await ask(declared, plaintext("hush"))).violations).toEqual([]);
      expect((await ask(declared, plaintext("another"))).violations).toEqual([
        `large: large: found a change at /note on Sun 12:00, allowed ${hours}`,
        `risk: fraud: found a change at /note on Sun 12:00, allowed ${hours}`,
      ]);
    });

    test("takes the preview's word where one cannot be read", async () => {
      expect((await ask(declared.map(unchanged), ciphertext)).violations).toEqual([]);
      const secret = "a change of its resource, and a secret in it that the baseline does not show";
      expect((await ask(declared, ciphertext)).violations).toEqual([
        `large: large: found ${secret} on Sun 12:00, allowed ${hours}`,
        `risk: fraud: found ${secret} on Sun 12:00, allowed ${hours}`,
      ]);
      vi.stubEnv("PULUMI_NODEJS_DRY_RUN", "false");
      expect((await ask(declared, ciphertext)).violations).toEqual([]);
    });

    test("sees a change beside one that cannot be read, and that one is taken out", async () => {
      vi.stubEnv("PULUMI_NODEJS_DRY_RUN", "false");
      const changed = [rule("large", {}), ruleSet("risk", { fraud: { note: "hush", priority: 2 }, other: {} })];
      expect((await ask(changed, ciphertext)).violations).toEqual([
        `large: large: found a change at /note on Sun 12:00, allowed ${hours}`,
        `risk: fraud: found a change at /priority on Sun 12:00, allowed ${hours}`,
      ]);
    });
  });

  test("says what is wrong with the baseline", async () => {
    await expect(asked(deployed, { baseline: "/nowhere/base.json" })).rejects.toThrow(
      /read baseline \/nowhere\/base.json failed: there is no such file/,
    );
  });
});

describe("the hours of change-freeze", () => {
  async function isFrozen(moment: string, hours: object, timeZone = "UTC"): Promise<boolean> {
    const { violations } = await evaluate(at(moment), [rule("large", {})], { allowed: [hours], timeZone });
    return violations.length > 0;
  }

  test("begin with the first minute and end before the last", async () => {
    expect(await isFrozen("2026-11-23T08:59:59Z", office)).toBe(true);
    expect(await isFrozen("2026-11-23T09:00:00Z", office)).toBe(false);
    expect(await isFrozen("2026-11-23T16:59:59Z", office)).toBe(false);
    expect(await isFrozen("2026-11-23T17:00:00Z", office)).toBe(true);
  });

  test("are those of the time zone, in summer and in winter", async () => {
    expect(await isFrozen("2026-11-23T08:00:00Z", office, "Europe/Berlin")).toBe(false);
    expect(await isFrozen("2026-07-20T06:59:59Z", office, "Europe/Berlin")).toBe(true);
    expect(await isFrozen("2026-07-20T07:00:00Z", office, "Europe/Berlin")).toBe(false);
    // Monday morning in Auckland is Sunday evening in UTC.
    expect(await isFrozen("2026-11-22T20:30:00Z", office, "Pacific/Auckland")).toBe(false);
  });

  test("go on after midnight where they end before they begin", async () => {
    const night = { days: ["Sun"], from: "22:00", to: "06:00" };
    expect(await isFrozen("2026-11-22T21:59:00Z", night)).toBe(true);
    expect(await isFrozen("2026-11-22T22:00:00Z", night)).toBe(false);
    expect(await isFrozen("2026-11-23T05:59:00Z", night)).toBe(false);
    expect(await isFrozen("2026-11-23T06:00:00Z", night)).toBe(true);
    expect(await isFrozen("2026-11-22T05:00:00Z", night)).toBe(true);
  });

  test("that the clocks leave out do not come, and those that they repeat come twice", async () => {
    const early = { days: ["Sun"], from: "02:00", to: "03:00" };
    expect(await isFrozen("2026-03-29T00:59:59Z", early, "Europe/Berlin")).toBe(true);
    expect(await isFrozen("2026-03-29T01:00:00Z", early, "Europe/Berlin")).toBe(true);
    expect(await isFrozen("2026-10-25T00:30:00Z", early, "Europe/Berlin")).toBe(false);
    expect(await isFrozen("2026-10-25T01:30:00Z", early, "Europe/Berlin")).toBe(false);
    expect(await isFrozen("2026-10-25T02:00:00Z", early, "Europe/Berlin")).toBe(true);
  });

  test("over midnight are those until midnight and those of the next day from midnight on", async () => {
    const times = fc.integer({ min: 1, max: 24 * 60 - 1 }).map((minute) => {
      const [hours, minutes] = [Math.trunc(minute / 60), minute % 60].map((part) => String(part).padStart(2, "0"));
      return `${hours}:${minutes}`;
    });
    const days = fc.constantFrom("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun");
    const week = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Mon"];
    const moments = fc.integer({ min: 0, max: 7 * 24 * 60 }).map((minute) => Date.parse(monday) + minute * 60_000);
    await fc.assert(
      fc.asyncProperty(days, times, times, moments, async (day, one, other, moment) => {
        fc.pre(one !== other);
        const [to = "", from = ""] = [one, other].sort();
        const next = week[week.indexOf(day) + 1];
        const split = [
          { days: [day], from, to: "24:00" },
          { days: [next], from: "00:00", to },
        ];
        const policy = changeFreezeAt(() => new Date(moment));
        const found = async (hours: object[]) =>
          (await evaluate(policy, [rule("large", {})], { allowed: hours })).violations.length;
        expect(await found([{ days: [day], from, to }])).toBe(await found(split));
      }),
    );
  });

  test("go by the clock of the machine", async () => {
    const days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    const always = { days, from: "00:00", to: "24:00" };
    expect((await evaluate(changeFreeze, [rule("large", {})], { allowed: [always] })).violations).toEqual([]);
    const now = new Date();
    const minutes = (shift: number) => new Date(now.getTime() + shift * 3_600_000).toISOString().slice(11, 16);
    const later = { days, from: minutes(6), to: minutes(12) };
    expect((await evaluate(changeFreeze, [rule("large", {})], { allowed: [later] })).violations).toHaveLength(1);
  });

  test("that are not configured freeze nothing", async () => {
    const { violations, notApplicable } = await evaluate(at(sunday), [rule("large", {})]);
    expect(violations).toEqual([]);
    expect(notApplicable).toEqual(["no hours are configured", "no hours are configured"]);
  });

  test("and their time zone must be right", async () => {
    const wrong = async (config: Record<string, unknown>) => {
      const filled = { allowed, ...config };
      return await evaluate(at(sunday), [rule("large", {})], filled).then(String, ({ message }) => message);
    };
    expect(await wrong({ timeZone: "Berlin" })).toMatch(
      /the configuration of change-freeze is wrong[\s\S]*allowed: a name such as Europe\/Berlin or UTC \(IANA\)[\s\S]*timeZone/,
    );
    expect(await wrong({ allowed: [{ ...office, to: "9:00" }] })).toMatch(/must match pattern/);
    expect(await wrong({ allowed: [{ ...office, days: ["Monday"] }] })).toMatch(/allowed values/);
    expect(await wrong({ allowed: [{ ...office, to: "09:00" }] })).toMatch(/from and to are the same/);
    expect(await wrong({ allowed: [{ ...office, day: "Mon" }] })).toMatch(
      /must NOT have additional properties|found day/,
    );
  });
});
