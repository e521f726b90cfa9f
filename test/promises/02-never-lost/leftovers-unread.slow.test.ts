import { expect, test } from "vitest";
import { isJsonObject, valueAt, withValueAt } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, owner } from "../../support/stack/contracts.ts";
import type { Declared, Stack } from "../../support/stack/engines.ts";
import { openStack, type Place } from "../../support/stack/place.ts";

const contract = contractOf({ rule: { owner }, limits: { maxAttempts: 1 } });
const [a, b, c] = [rule(1), rule(2), rule(3)];

/** A rule with the mark of rule c of a stack, which no state knows, and which cannot be read by itself. */
async function open(first: Declared, then: Declared): Promise<{ place: Place; stack: Stack }> {
  const { place, stack } = await openStack("local", { contract, allowDuplicates: true });
  await stack.up(first);
  const mark = String(valueAt(place.named(c.name).rule ?? {}, owner.at));
  await stack.up(then);
  const made = withValueAt({ ...c, name: "earlier-name" }, owner.at, mark);
  const left = place.service.put(undefined, isJsonObject(made) ? made : {});
  place.front.behave(({ method, path }, pass) =>
    method === "GET" && path.endsWith(`/${left}`) ? { status: 500, body: {} } : pass(),
  );
  return { place, stack };
}

test("a rule with our mark that cannot be looked at is named, and takes nothing from the state of what was done", async () => {
  const { stack } = await open({ all: { rules: { a, c } } }, { all: { rules: { a } } });
  const { output } = await stack.up({ all: { rules: { a: { ...a, priority: 9 }, b } } });
  expect(output).toMatch(/has the mark of .* in the list, and could not be looked at/);
  expect(stack.project.state()).toContain(b.name);
  await stack.isUnchanged();
  await stack.succeeds("up", { refresh: true });
});

test("nor from the state of a resource of one rule", async () => {
  const { stack } = await open({ x: { definition: c }, y: { definition: b } }, { y: { definition: b } });
  await stack.up({ x: { definition: a }, y: { definition: b } });
  expect(Object.keys(stack.known()).toSorted()).toEqual(["x", "y"]);
});

test("a rule with our mark is named where its key is not ASCII", async () => {
  const { place, stack } = await openStack("local", { contract, allowDuplicates: true });
  const key = "höchstbetrag";
  await stack.up({ all: { rules: { a, [key]: c } } });
  const mark = String(valueAt(place.named(c.name).rule ?? {}, owner.at));
  await stack.up({ all: { rules: { a } } });
  const made = withValueAt(c, owner.at, mark);
  const left = place.service.put(undefined, isJsonObject(made) ? made : {});
  const { output } = await stack.succeeds("up", { refresh: true });
  expect(output).toContain(`rule ${left} has the mark of`);
});
