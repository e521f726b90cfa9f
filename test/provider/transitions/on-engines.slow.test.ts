import { expect, test } from "vitest";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openStack } from "../../support/stack/place.ts";
import { asked, contract, shapes, statuses } from "./shapes.ts";

onBothEngines((engine) => {
  test.each(shapes)("%s: a field is brought to what is declared by requests of its own", async (_, declared) => {
    const { place, stack } = await openStack(engine, { contract });
    await stack.up(declared("active"));
    expect(statuses(place)).toEqual(["active", "active"]);
    asked(place);
    await stack.isUnchanged();
    stack.declare(declared("inactive"));
    const preview = await stack.succeeds("preview", { diff: true });
    expect(preview.output).toMatch(/status/);
    expect(asked(place)).toEqual([]);
    await stack.succeeds("up");
    expect(asked(place)).toEqual(["deactivate"]);
    await stack.up(declared("active", { priority: 5 }));
    expect(asked(place)).toEqual(["PUT", "activate"]);
    expect(statuses(place)).toEqual(["active", "active"]);
    await stack.isUnchanged();
    const [first] = place.service.rules();
    place.service.put(first?.ruleId, { ...first?.rule, status: "inactive" });
    await stack.succeeds("up", { refresh: true });
    expect(statuses(place)).toEqual(["active", "active"]);
    await stack.succeeds("destroy");
    expect(place.service.rules()).toEqual([]);
  });
});
