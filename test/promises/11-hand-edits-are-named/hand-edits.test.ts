import { expect, test } from "vitest";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, withoutList } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openStack, type Place } from "../../support/stack/place.ts";
import { variants } from "../../support/variants.ts";

/** Changes a rule as a person does in a dashboard. */
function edit(place: Place, name: string, change: JsonObject): void {
  const ruleId = place.idOf(name);
  const live = place.service.rules().find((each) => each.ruleId === ruleId)?.rule;
  place.service.put(ruleId, { ...live, ...change });
}

/** The requests for rules since the last call, but for writes. */
function reads(place: Place): string[] {
  return place.front.taken().flatMap(({ method, path }) => (method === "GET" && path.includes("/rules") ? [path] : []));
}

const three = (more: JsonObject = {}): Record<string, JsonObject> => ({
  a: rule(1),
  b: rule(2, { tags: ["x"], ...more }),
  c: rule(3),
});
const hidden = contractOf({ rule: { secret: ["/hook/key"] } });

onBothEngines((engine) => {
  test("a rule that was edited by hand at a path that does not change is written over with a word, by its paths alone", async () => {
    const { place, stack } = await openStack(engine, { contract: hidden });
    const one = { definition: rule(4) };
    const with_ = (key: string): JsonObject => ({ hook: { key, url: "https://a.test" } });
    await stack.up({ all: { rules: three(with_("s3cret-1")) }, one });
    place.front.taken();
    // Nobody has changed anything, so nothing is said of it.
    const quiet = await stack.up({ all: { rules: three({ ...with_("s3cret-1"), priority: 20 }) }, one });
    expect(quiet.output).not.toContain("writes over");
    const usual = reads(place).length;

    edit(place, "rule-2", { tags: ["by hand"], hook: { key: "s3cret-2", url: "https://b.test" } });
    edit(place, "rule-3", { priority: 33 });
    const { output } = await stack.up({ all: { rules: three({ ...with_("s3cret-1"), priority: 21 }) }, one });
    expect(reads(place)).toHaveLength(usual);
    expect(output).toMatch(
      /this run writes over what was changed at the service since: rule b \(\w+\): hook\.key, hook\.url, tags\[0\]\n/,
    );
    for (const value of ["by hand", "s3cret", "b.test", "rule c"]) expect(output).not.toContain(value);
    const live = place.service.rules().map((each) => each.rule);
    expect(live).toContainEqual(expect.objectContaining({ name: "rule-2", tags: ["x"], priority: 21 }));
    // It is not to be written, so the run has nothing to say of it.
    expect(live).toContainEqual(expect.objectContaining({ name: "rule-3", priority: 33 }));

    // What is as it is to be is no loss.
    edit(place, "rule-2", { priority: 22 });
    const same = await stack.up({ all: { rules: three({ ...with_("s3cret-1"), priority: 22, tags: ["y"] }) }, one });
    expect(same.output).not.toContain("writes over");
  }, 120_000);

  test.each(
    variants([
      ["with a list", contractOf(), 2],
      ["without a list", withoutList, 3],
    ]),
  )(
    "onDrift: fail refuses, with the paths, before anything of a set is written (%s)",
    async (_, contract, most) => {
      const { place, stack } = await openStack(engine, { contract });
      const set = (rules: Record<string, JsonObject>) => ({ all: { rules, onDrift: "fail" } }) as const;
      await stack.up(set(three()));
      edit(place, "rule-2", { tags: ["by hand"] });
      place.front.taken();
      const changed = { a: rule(1, { priority: 10 }), b: rule(2, { tags: ["x"], priority: 20 }), c: rule(3) };
      const { output } = await stack.upFails(
        set(changed),
        {},
        /changed at the service since the state saw it.*onDrift is "fail"; nothing was written. Rule b \(\w+\): tags\[0\]/,
      );
      expect(output).not.toContain("by hand");
      const asked = place.front.taken().map(({ method }) => method);
      expect(asked.filter((method) => method !== "GET")).toEqual([]);
      expect(asked.length).toBeLessThanOrEqual(most);

      // A rule that goes is a rule that is lost.
      await stack.upFails(set({ a: rule(1), c: rule(3) }), {}, /Rule b \(\w+\): tags\[0\]/);
      expect(place.writes()).toEqual([]);

      // The way on.
      stack.declare(set(changed));
      await stack.succeeds("refresh");
      const { output: shown } = await stack.succeeds("preview", { diff: true });
      expect(shown).toContain("by hand");
      await stack.up(set({ ...changed, b: rule(2, { tags: ["by hand"], priority: 20 }) }));
      expect(place.writes()).toEqual(["update", "update"]);
      await stack.isUnchanged();
    },
    120_000,
  );

  test("the connection says it for all, a resource otherwise, and destroy and a replacement refuse as well", async () => {
    const { place, stack } = await openStack(
      engine,
      { contract: contractOf({ rule: { immutable: ["/conditions"] } }) },
      { config: { onDrift: "fail" } },
    );
    const declared = (priority: number, more: JsonObject = {}) => ({
      kept: { definition: rule(9) },
      one: { definition: rule(1, { priority, ...more }) },
      free: { definition: rule(2, { priority }), onDrift: "overwrite" } as const,
    });
    await stack.up(declared(1));
    edit(place, "rule-1", { isActive: false });
    edit(place, "rule-2", { isActive: false });
    place.writes();
    const { output } = await stack.upFails(declared(5), {}, /Rule \w+: isActive/);
    expect(output).toMatch(/writes over .*rule \w+: isActive/);
    expect(place.writes()).toEqual(["update"]);
    await stack.upFails(declared(1, { conditions: [] }), {}, /Rule \w+: isActive/);
    expect(place.writes()).not.toContain("create");
    await stack.fails("destroy", {}, /Rule \w+: isActive/);
    expect(place.service.rules().map(({ rule: { name } }) => name)).toContain("rule-1");
    edit(place, "rule-1", { isActive: true });
    await stack.succeeds("destroy");
    expect(place.service.rules()).toEqual([]);
  }, 120_000);

  test("a preview with a refresh says once what a run will do to a set", async () => {
    const { place, stack } = await openStack(engine);
    await stack.up({ all: { rules: three() } });
    edit(place, "rule-1", { priority: 77 });
    const { output } = await stack.succeeds("preview", { refresh: true });
    expect(output.match(/^ +(?:merchant-rules:MerchantRuleSet all: )?all: 1 to update, 2 unchanged$/gm)).toHaveLength(
      1,
    );
  }, 60_000);

  test("onDrift is a word that is told from none: a wrong one is refused in the preview", async () => {
    const { place, stack } = await openStack(engine);
    stack.project.declare({ all: { rules: three(), onDrift: "stop" } });
    if (engine === "pulumi") await stack.fails("preview", {}, /onDrift.*must be one of overwrite, fail/s);
    const other = await place.stack(engine, { config: { onDrift: "stop" } });
    other.declare({ all: { rules: three() } });
    await other.fails(
      "preview",
      {},
      /merchant-rules:onDrift \(or MERCHANT_RULES_ON_DRIFT\) is "stop".*set it to overwrite or fail/s,
    );
    expect(place.front.taken()).toEqual([]);
  }, 60_000);
});
