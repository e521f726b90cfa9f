import { describe, expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { HookStack, openWorld } from "../../support/stack/hooks.ts";
import { failureOf } from "../../support/stack/hosts.ts";

describe("a service that answers 400 with a code where others answer 404", () => {
  const contract = contractOf({ errors: { notFound: [{ status: 400, code: "NO_SUCH_RULE" }] } });

  test("has a rule that somebody deleted seen as gone and made again, and a delete of one that is gone succeed", async () => {
    const world = await openWorld({ contract });
    const stack = new HookStack(world);
    expect(await stack.up({ a: { definition: rule(1) }, b: { definition: rule(2) } })).toEqual([]);
    world.service.remove(world.service.rules()[0]?.ruleId ?? "");
    expect(await stack.refresh()).toEqual([]);
    expect(await stack.up({ a: { definition: rule(1) }, b: { definition: rule(2) } })).toEqual([]);
    expect(world.service.rules()).toHaveLength(2);
    world.service.remove(world.service.rules()[0]?.ruleId ?? "");
    expect(await stack.up({})).toEqual([]);
    expect(world.service.rules()).toEqual([]);
  });

  test("is not believed to say so by another code, nor without the field", async () => {
    const world = await openWorld({ contract, spoken: contractOf() });
    const stack = new HookStack(world);
    expect(await stack.up({ a: { definition: rule(1) } })).toEqual([]);
    world.service.remove(world.service.rules()[0]?.ruleId ?? "");
    const [failure = ""] = await stack.refresh();
    expect(failure).toMatch(/answered 400 \(code NO_SUCH_RULE; .*errors\.notFound/s);
    expect(stack.state).toHaveLength(1);
  });
});

describe.each([
  ["409", [{ status: 409 }]],
  ["200 and the rule that is there", [{ status: 200 }]],
  ["422 with a code", [{ status: 422, code: "TAKEN" }]],
])("a service that answers a create of what exists with %s", (_, exists) => {
  test("has the create refused, and nothing of it is in the state, until adopt names the rule", async () => {
    const world = await openWorld({ contract: contractOf({ operations: { list: null }, errors: { exists } }) });
    const ruleId = world.service.put(undefined, rule(1));
    const stack = new HookStack(world);
    const [failure = ""] = await stack.up({ a: { definition: rule(1) } });
    expect(failure).toContain("another rule has what must be unique");
    expect(stack.state).toEqual([]);
    expect(world.service.rules()).toHaveLength(1);
    expect(await stack.up({ a: { definition: rule(1), adopt: ruleId } })).toEqual([]);
    expect(await stack.up({})).toEqual([]);
    expect(world.service.rules()).toEqual([]);
  });
});

test("a rule that something uses stays, the error says so, and after its advice the next run deletes it", async () => {
  const contract = contractOf({ errors: { inUse: [{ status: 423, code: "USED" }] } });
  const world = await openWorld({ contract });
  const { id, outs } = await (await world.host()).create({ definition: rule(1) });
  const user = world.service.put(undefined, rule(2, { uses: id }));
  const { message } = await failureOf((await world.host()).delete(id, outs));
  expect(message).toMatch(/answered 423: something at the service still uses the rule \(code USED/);
  expect(message).toContain("What to do: remove at the service what uses the rule, and run again");
  expect(world.service.rules()).toHaveLength(2);
  world.service.remove(user);
  await (await world.host()).delete(id, outs);
  expect(world.service.rules()).toEqual([]);
});
