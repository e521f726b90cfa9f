import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openPlace } from "../../support/stack/place.ts";

const contract = contractOf({ operations: { update: null }, limits: { maxAttempts: 1 } });
const [a, b] = [rule(1), rule(2)];

onBothEngines((engine) => {
  test("a doubt under a contract without operations.update is no dead end: the next runs end well, or say what ends it", async () => {
    const place = await openPlace({ contract });
    const { service, front } = place;
    const stack = await place.stack(engine);
    await stack.up({ all: { rules: { a, b } } });
    let isLost = false;
    front.behave(({ method }, pass) => {
      if (method === "DELETE") {
        isLost = true;
        return { status: 504, body: {} };
      }
      return isLost ? { status: 502, body: {} } : pass();
    });
    await stack.upFails({ all: { rules: { a } } }, {}, /the rule may be deleted/);
    front.behave();
    // Meanwhile somebody turns it off by hand; without the doubt, an `up` would not look at it.
    const ruleId = service.rules().find((each) => each.rule.name === b.name)?.ruleId;
    service.put(ruleId, { ...b, isActive: false });
    stack.declare({ all: { rules: { a, b } } });
    await stack.run("up");
    const { code, output } = await stack.run("up");
    // Today: "set operations.update in the contract, as the service documents it", for ever.
    expect(code === 0 || /--refresh/.test(output), output).toBe(true);
  });
});
