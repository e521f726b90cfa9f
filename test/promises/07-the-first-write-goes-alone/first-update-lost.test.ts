import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openStack } from "../../support/stack/place.ts";

const contract = contractOf({ limits: { maxAttempts: 1 } });
const rules = { a: rule(1), b: rule(2), c: rule(3), d: rule(4), z: rule(9) };
const off = Object.fromEntries(
  Object.entries(rules).map(([key, each]) => [key, key === "z" ? each : { ...each, isActive: false }]),
);

onBothEngines((engine) => {
  test("a first update that is carried out, takes another rule away and is answered 500 ends the run, and the next one has all that is declared", async () => {
    const { place, stack } = await openStack(engine, { contract });
    await stack.up({ all: { rules } });
    let updates = 0;
    place.front.behave(async ({ method }, pass) => {
      const answer = await pass();
      if (method !== "PUT") return answer;
      updates += 1;
      for (const { ruleId, rule: live } of place.service.rules())
        if (live.name === "rule-9") place.service.remove(ruleId);
      return { status: 500, body: {} };
    });
    stack.declare({ all: { rules: off } });
    const { code } = await stack.run("up");
    expect(code).not.toBe(0);
    place.front.behave();
    const next = await stack.run("up");
    // It heals, or says what is gone.
    expect({ updates, left: next.code === 0 ? place.names() : "said" }, next.output).toEqual({
      updates: 1,
      left: ["rule-1", "rule-2", "rule-3", "rule-4", "rule-9"],
    });
  });
});
