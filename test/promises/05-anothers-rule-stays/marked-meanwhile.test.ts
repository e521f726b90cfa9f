import { expect, test } from "vitest";
import { isJsonObject, withValueAt } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, list, owner } from "../../support/stack/contracts.ts";
import { openStack, othersMark } from "../../support/stack/place.ts";

const [a, b, c] = [rule(1), rule(2), rule(3)];

test.each([
  ["DELETE", 0],
  ["PUT", 0],
  ["DELETE", 20],
  ["PUT", 20],
  ["DELETE", null],
  ["PUT", null],
])(
  "a rule that another stack marked while this run's first %s was under way is left alone, as the list read after that shows (lag %s)",
  async (verb, lagMs) => {
    const contract = contractOf({ operations: { list: { ...list, lagMs } }, rule: { owner } });
    const { place, stack } = await openStack("local", { contract });
    await stack.up({ all: { rules: { a, b, c } } });
    let other = "";
    place.front.behave(({ method }, pass) => {
      if (method === verb && other === "") {
        // Another stack adopts the rule that is not written first.
        const marked = withValueAt({ ...b, priority: 77 }, owner.at, othersMark);
        other = place.idOf(b.name);
        place.service.put(other, isJsonObject(marked) ? marked : {});
      }
      return pass();
    });
    stack.declare({
      all: { rules: verb === "DELETE" ? { c } : { a: { ...a, isActive: false }, b: { ...b, isActive: false }, c } },
    });
    const { output } = await stack.run("up");
    const now = place.service.rules().find((each) => each.ruleId === other)?.rule;
    expect({ priority: now?.priority, isActive: now?.isActive }, output).toEqual({ priority: 77, isActive: true });
  },
);
