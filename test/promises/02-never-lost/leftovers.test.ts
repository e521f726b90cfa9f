import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { marking } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openWorld } from "../../support/stack/hooks.ts";
import { good, ModelStack } from "../../support/stack/model-stack.ts";
import { openStack } from "../../support/stack/place.ts";

const [a, b, c] = [rule(1), rule(2), rule(3)];

onBothEngines((engine) => {
  test("a rule with the mark of a set that no state knows is the set's when it is declared, and else left and named by a destroy", async () => {
    const { place, stack } = await openStack(engine, { contract: marking });
    await stack.up({ all: { rules: { a, b, c } } });
    const markOfC = place.markOf(c.name);
    await stack.up({ all: { rules: { a, b } } });
    const left = place.putMarked(c, markOfC);
    await stack.up({ all: { rules: { a, b, c } } });
    expect(place.idOf(c.name)).toBe(left);
    await stack.isUnchanged();

    await stack.up({ all: { rules: { a, b } } });
    const last = place.putMarked(c, markOfC);
    const { output } = await stack.succeeds("destroy");
    expect(output).toMatch(new RegExp(`1 rule is left at the service with the mark of this stack.*: ${last}\\b`));
    expect(place.ids()).toEqual([last]);
  });
});

test("a rule with the very mark of one that the state knows is unmanaged, and named", async () => {
  const world = await openWorld({ contract: marking, allowDuplicates: true });
  const stack = new ModelStack(world);
  await good(stack.up({ all: { rules: { a }, onUnmanaged: "warn" } }));
  const known = world.idOf(a.name);
  const double = world.putMarked(a, world.markOf(a.name));
  const { said } = await good(stack.refresh());
  expect(said).toContain(double);
  expect(said).not.toContain(known);
});
