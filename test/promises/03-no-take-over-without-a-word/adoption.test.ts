import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { type Declared, onBothEngines } from "../../support/stack/engines.ts";
import { openPlace, openStack } from "../../support/stack/place.ts";

onBothEngines((engine) => {
  test("what a run will take over stands in its preview, and what it took over in one block", async () => {
    const place = await openPlace();
    const { service } = place;
    for (let k = 1; k <= 60; k++) service.put(`r-${k}`, rule(k));
    const stack = await place.stack(engine);
    const rules = Object.fromEntries(Array.from({ length: 60 }, (_, k) => [`k${k + 1}`, rule(k + 1)]));
    const { k1, ...others } = rules;
    stack.declare({
      one: { definition: rule(1), adopt: "r-1" },
      all: { rules: { ...others, z: rule(99) }, adopt: true },
    });
    const preview = await stack.succeeds("preview");
    expect(preview.output).toContain("one: takes over rule r-1");
    expect(preview.output).toContain("all: 60 to take over");
    expect(preview.output).toContain("^ rules.k2: the rule with its natural key (/name), where there is one");
    expect(place.front.taken()).toEqual([]);

    const { output } = await stack.succeeds("up");
    expect(place.writes()).toEqual(["create"]);
    expect(output).toContain("rule r-1 is as declared and is taken over");
    expect(output).toContain("all: 1 created and verified, 59 taken over");
    expect(preview.output + output).not.toMatch(/warning: .*(?:take[sn]? over|1 created)/);
    const named = output.split("\n").filter((line) => line.includes("^ is as declared and is taken over: "));
    // Pulumi prints a message as it comes, and all at the end.
    expect(new Set(named.map((line) => line.slice(line.indexOf("^")).trim())).size, output).toBe(1);
    for (let k = 2; k <= 60; k++) expect(named[0]).toContain(`k${k} (r-${k})`);
  }, 120_000);

  test("adopt is no difference between the program, the state and the service", async () => {
    const place = await openPlace();
    const { service } = place;
    for (let k = 1; k <= 3; k++) service.put(`r-${k}`, rule(k));
    const stack = await place.stack(engine);
    const plain = { one: { definition: rule(1) }, some: { rules: { a: rule(2) } }, named: { rules: { b: rule(3) } } };
    const declared = (adopt: boolean): Declared => ({
      // Nobody changes it, so that the place is seen to be the right one.
      kept: { definition: rule(4) },
      one: { ...plain.one, ...(adopt ? { adopt: "r-1" } : {}) },
      some: { ...plain.some, ...(adopt ? { adopt: true } : {}) },
      named: { ...plain.named, ...(adopt ? { adopt: { b: "r-3" } } : {}) },
    });
    await stack.up(declared(true));
    const drift = async (): Promise<void> => {
      for (let k = 1; k <= 3; k++) service.put(`r-${k}`, rule(k, { priority: 77 }));
      const { output } = await stack.succeeds("refresh", { previewOnly: true, diff: true });
      expect(output.match(/priority *: \d => 77/g)).toHaveLength(3);
      expect(output).not.toContain("adopt");
    };
    await drift();
    stack.declare(declared(false));
    await stack.isUnchanged();
    await stack.succeeds("up");
    await drift();
    await stack.succeeds("refresh");
    const { output } = await stack.succeeds("preview", { diff: true });
    expect(output.match(/priority *: 77 => \d/g)).toHaveLength(3);
    expect(output).not.toContain("adopt");
    stack.declare(declared(true));
    await stack.succeeds("up");
    expect(service.rules().map(({ rule: { priority } }) => priority)).toEqual([1, 2, 3, 4]);
    await stack.isUnchanged({ refresh: true });
  }, 120_000);

  test("allowEmpty, onUnmanaged and onDrift are no difference in a refresh, whether they come or go", async () => {
    const { place, stack } = await openStack(engine);
    const { service } = place;
    const words = { one: { allowEmpty: true }, two: { onUnmanaged: "warn" }, three: { onDrift: "overwrite" } } as const;
    const declared = (given: boolean): Declared => ({
      // Nobody changes it, so that the place is seen to be the right one.
      kept: { definition: rule(4) },
      one: { rules: { a: rule(1) }, ...(given ? words.one : {}) },
      two: { rules: { a: rule(2) }, ...(given ? words.two : {}) },
      three: { rules: { a: rule(3) }, ...(given ? words.three : {}) },
    });
    for (const given of [true, false, true]) {
      await stack.up(declared(given));
      const live = service.rules().filter(({ rule: { name } }) => name !== "rule-4");
      for (const { ruleId, rule } of live) service.put(ruleId, { ...rule, priority: 77 });
      const { output } = await stack.succeeds("refresh", { previewOnly: true, diff: true });
      expect(output.match(/priority *: \d => 77/g)).toHaveLength(3);
      expect(output).not.toMatch(/allowEmpty|onUnmanaged|onDrift/);
      for (const { ruleId, rule } of live) service.put(ruleId, rule);
      await stack.isUnchanged();
    }
    await stack.up({ ...declared(true), one: { rules: {}, ...words.one } });
    expect(service.rules()).toHaveLength(3);
  }, 120_000);
});
