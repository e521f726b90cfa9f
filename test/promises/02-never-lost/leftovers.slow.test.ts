import { describe, expect, test } from "vitest";
import { MerchantRule, MerchantRuleSet } from "../../../provider/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, lagging, marking, owner } from "../../support/stack/contracts.ts";
import { type Declared, onBothEngines, type Stack } from "../../support/stack/engines.ts";
import { isList } from "../../support/stack/front.ts";
import { openPlace, openStack, type Place } from "../../support/stack/place.ts";

const [a, b, c, d] = [rule(1), rule(2), rule(3), rule(4)];
/** A rule that moved without a write has another resource's state, which may be heard later: nothing calls it a double. */
const falseAdvice = /another rule with it is in the state|has the mark of[^\n]*Delete it at the service$/m;

onBothEngines((engine) => {
  test("a rule that was deleted a moment ago is not called one that no state knows, though the list is behind as the contract says", async () => {
    const { place, stack } = await openStack(engine, { contract: contractOf({ ...lagging(3000), rule: { owner } }) });
    await stack.up({ all: { rules: { a, b } } });
    const rules = place.shown();
    await stack.up({ all: { rules: { a } } });
    place.front.behave((request, pass) => (isList(request) ? { status: 200, body: { rules } } : pass()));
    const { output } = await stack.succeeds("up", { refresh: true });
    expect(output).not.toMatch(falseAdvice);
  }, 60_000);

  test("a rule that moved to another set without a write is not called one that no state knows by an up with --target", async () => {
    const { place, stack } = await openStack(engine, { contract: marking });
    await stack.up({ one: { rules: { a, b } }, two: { rules: { c } } });
    // Taken over by `two` as it is: its mark still names `one`, as the documentation says.
    await stack.up({ one: { rules: { b } }, two: { rules: { a, c } } });
    stack.declare({ one: { rules: { b: { ...b, isActive: false } } }, two: { rules: { a, c } } });
    const { output, code } = await targeted(stack, engine, "**::one");
    expect(code, output).toBe(0);
    expect(place.names()).toEqual([a.name, b.name, c.name]);
    expect(output).not.toMatch(falseAdvice);
  }, 60_000);

  test("the old rule of a replacement, which the engine has still to delete, is not called one that no state knows", async () => {
    const contract = contractOf({ rule: { owner, immutable: ["/priority"] } });
    const { place, stack } = await openStack(engine, { contract });
    await stack.up({ a: { definition: a }, b: { definition: b } });
    place.service.faults.set({ kind: "status", status: 422, operations: ["delete"], times: "always" });
    const replaced = { ...a, name: "other", priority: 9 };
    await stack.upFails({ a: { definition: replaced }, b: { definition: b } }, {}, /422/);
    place.service.faults.clear();
    const { output } = await stack.up({ a: { definition: { ...replaced, isActive: false } }, b: { definition: b } });
    expect(place.names()).toEqual(["other", b.name]);
    expect(output).not.toMatch(falseAdvice);
  }, 60_000);
});

function targeted(stack: Stack, engine: string, target: string) {
  if (engine === "pulumi") return stack.project.run("pulumi", "up", "--target", target);
  // The local engine has it as an option of its own.
  const choice = { parallel: 4, targets: [target] };
  return stack.run("up", choice);
}

describe("on the local engine, where a resource is heard of only after another one", () => {
  test.each(["up", "refresh"] as const)(
    "a rule that moved between sets without a write is not called one that no state knows by %s",
    async (verb) => {
      const place = await openPlace({ contract: marking });
      let [one, two]: Record<string, typeof a>[] = [{ a, b }, { c }];
      let isInOrder = false;
      const program = (): void => {
        const first = new MerchantRuleSet("one", { rules: one ?? {} });
        new MerchantRuleSet("two", { rules: two ?? {} }, isInOrder ? { dependsOn: [first] } : {});
      };
      const stack = await place.stack("local", { program });
      await stack.succeeds("up");
      [one, two] = [{ b }, { a, c }];
      await stack.succeeds("up");
      isInOrder = true;
      await stack.succeeds("up");
      if (verb === "up") one = { b: { ...b, isActive: false } };
      const { output } = await stack.succeeds(verb, verb === "refresh" ? { parallel: 1 } : {});
      expect(place.names()).toEqual([a.name, b.name, c.name]);
      expect(output).not.toMatch(falseAdvice);
    },
  );

  test("rules of another resource of the same name, of another type or below another component, are not called rules that no state knows", async () => {
    const place = await openPlace({ contract: marking });
    let definition = a;
    const program = (): void => {
      const first = new MerchantRule("limits", { definition });
      new MerchantRuleSet("limits", { rules: { b, c, d } }, { dependsOn: [first] });
    };
    const stack = await place.stack("local", { program });
    await stack.succeeds("up");
    definition = { ...a, isActive: false };
    const { output } = await stack.succeeds("up");
    expect(output).not.toMatch(falseAdvice);
  });
});

const impatient = contractOf({ rule: { owner }, limits: { maxAttempts: 1 } });

/** A rule with the mark of rule c of a stack, which no state knows, and which cannot be read by itself. */
async function open(first: Declared, then: Declared): Promise<{ place: Place; stack: Stack }> {
  const { place, stack } = await openStack("local", { contract: impatient, allowDuplicates: true });
  await stack.up(first);
  const mark = place.markOf(c.name);
  await stack.up(then);
  const left = place.putMarked({ ...c, name: "earlier-name" }, mark);
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
  const { place, stack } = await openStack("local", { contract: impatient, allowDuplicates: true });
  const key = "höchstbetrag";
  await stack.up({ all: { rules: { a, [key]: c } } });
  const mark = place.markOf(c.name);
  await stack.up({ all: { rules: { a } } });
  const left = place.putMarked(c, mark);
  const { output } = await stack.succeeds("up", { refresh: true });
  expect(output).toContain(`rule ${left} has the mark of`);
});
