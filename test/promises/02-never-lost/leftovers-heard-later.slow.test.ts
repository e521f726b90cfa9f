import { describe, expect, test } from "vitest";
import { MerchantRule, MerchantRuleSet } from "../../../provider/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, list, marking, owner } from "../../support/stack/contracts.ts";
import { onBothEngines, type Stack } from "../../support/stack/engines.ts";
import { openPlace, openStack } from "../../support/stack/place.ts";

const [a, b, c, d] = [rule(1), rule(2), rule(3), rule(4)];
/** `rule 7 has the mark of …, and no resource that this run has read has it in its state: … Delete it at the service …` */
/** A rule that moved without a write has another resource's state, which may be heard later: nothing calls it a double. */
const falseAdvice = /another rule with it is in the state|has the mark of[^\n]*Delete it at the service$/m;

onBothEngines((engine) => {
  test("a rule that was deleted a moment ago is not called one that no state knows, though the list is behind as the contract says", async () => {
    const contract = contractOf({ operations: { list: { ...list, lagMs: 3000 } }, rule: { owner } });
    const { place, stack } = await openStack(engine, { contract });
    await stack.up({ all: { rules: { a, b } } });
    const rules = place.service.rules().map(({ ruleId, rule: live }) => ({ id: ruleId, ...live }));
    await stack.up({ all: { rules: { a } } });
    place.front.behave(({ method, path }, pass) =>
      method === "GET" && path.split("?")[0]?.endsWith("/rules") === true ? { status: 200, body: { rules } } : pass(),
    );
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
});

onBothEngines((engine) => {
  test("the old rule of a replacement, which the engine has still to delete, is not called one that no state knows", async () => {
    const { place, stack } = await openStack(engine, {
      contract: contractOf({ rule: { owner, immutable: ["/priority"] } }),
    });
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
