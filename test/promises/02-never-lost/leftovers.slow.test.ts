import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf, marking, owner } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openStack } from "../../support/stack/place.ts";

const [a, b, c] = [rule(1), rule(2), rule(3)];

onBothEngines((engine) => {
  test("the old rule of a replacement, which the engine has still to delete, goes with the next run", async () => {
    const contract = contractOf({ rule: { owner, immutable: ["/priority"] } });
    const { place, stack } = await openStack(engine, { contract });
    await stack.up({ a: { definition: a }, b: { definition: b } });
    place.service.faults.set({ kind: "status", status: 422, operations: ["delete"], times: "always" });
    const replaced = { ...a, name: "other", priority: 9 };
    await stack.upFails({ a: { definition: replaced }, b: { definition: b } }, {}, /422/);
    place.service.faults.clear();
    await stack.up({ a: { definition: { ...replaced, isActive: false } }, b: { definition: b } });
    expect(place.names()).toEqual(["other", b.name]);
  }, 60_000);
});

test("a rule with the mark of a resource and another natural key is passed over, said, and left", async () => {
  const { place, stack } = await openStack("local", { contract: marking, allowDuplicates: true });
  await stack.up({ x: { definition: c }, y: { definition: b } });
  const mark = place.markOf(c.name);
  await stack.up({ y: { definition: b } });
  const left = place.putMarked({ ...c, name: "earlier-name" }, mark);
  const { output } = await stack.up({ x: { definition: a }, y: { definition: b } });
  expect(output).toContain(`rule ${left} has the mark of this resource and another natural key, and is passed over`);
  expect(place.names()).toEqual(["earlier-name", a.name, b.name]);
  await stack.isUnchanged();
});

test("a rule with our mark is found where its key is not ASCII", async () => {
  const { place, stack } = await openStack("local", { contract: marking, allowDuplicates: true });
  const all = { all: { rules: { a, höchstbetrag: c } } };
  await stack.up(all);
  const mark = place.markOf(c.name);
  await stack.up({ all: { rules: { a } } });
  const left = place.putMarked(c, mark);
  await stack.up(all);
  expect(place.idOf(c.name)).toBe(left);
});
