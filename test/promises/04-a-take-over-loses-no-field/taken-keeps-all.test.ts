import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, owner, update } from "../../support/stack/contracts.ts";
import type { Declared } from "../../support/stack/engines.ts";
import { openPlace } from "../../support/stack/place.ts";
import { variants } from "../../support/variants.ts";

const [a, b] = [rule(1), rule(2)];
const { conditions: _, ...bare } = b;
const none = { rules: {}, allowEmpty: true };

test.each(
  variants([
    ["with marks", { owner }],
    ["without marks", {}],
  ]),
)(
  "a rule that was taken over, and then by another set, loses nothing by its first write there (%s)",
  async (_case, more) => {
    const declaring = contractOf({ rule: more, operations: { update: { ...update, body: "declared" } } });
    const place = await openPlace({ contract: declaring });
    const id = place.service.put(undefined, b);
    const stack = await place.stack("local");
    await stack.up({ one: { rules: { b: bare }, adopt: { b: id } }, two: { rules: { a } } });
    await stack.up({ two: { rules: { a, b: bare }, adopt: { b: id } }, one: none });
    const changed = { two: { rules: { a, b: { ...bare, priority: 9 } } }, one: none };
    await stack.upFails(changed, {}, /conditions/, /set operations\.update\.body in the contract to merged/);
    expect(place.service.rules().find(({ ruleId }) => ruleId === id)?.rule).toEqual(b);
    writeFileSync(place.contractFile, JSON.stringify(contractOf({ rule: more })));
    await stack.up(changed);
    expect(place.service.rules().find(({ ruleId }) => ruleId === id)?.rule.conditions).toEqual(b.conditions);
  },
);

test.each(
  variants(
    [
      ["of a set, with its natural key", true, {}],
      ["with its natural key", false, {}],
      ["of a set, with another natural key", true, { name: "new-name" }],
      ["with another natural key", false, { name: "new-name" }],
    ],
    2,
  ),
)(
  "a rule %s that was taken over is not replaced by one that lacks what nobody declared",
  async (_case, isSet, more) => {
    // An update would send the rest of the rule back; a replacement does not.
    const operations = { update: { ...update, body: "merged" } } as const;
    const place = await openPlace({ contract: contractOf({ operations, rule: { immutable: ["/priority"] } }) });
    const id = place.service.put(undefined, b);
    const stack = await place.stack("local");
    const declared = (definition: JsonObject): Declared => ({
      x: isSet ? { rules: { b: definition } } : { definition },
    });
    await stack.up({ x: isSet ? { rules: { b: bare }, adopt: { b: id } } : { definition: bare, adopt: id } });
    await stack.upFails(declared({ ...bare, priority: 9, ...more }), {}, /conditions/);
    expect(place.service.rules().map(({ rule: live }) => live.conditions)).toEqual([b.conditions]);
  },
);

test.each(variants(["declared", "changes", "merged"]))(
  "a field that nobody declares within an element of an array is not erased by an update whose body is %s",
  async (body) => {
    const place = await openPlace({ contract: contractOf({ operations: { update: { ...update, body } } }) });
    const amount = { field: "amount", operator: "gt", value: 5 };
    const live = { ...b, conditions: [{ ...amount, onlyIf: { country: "FR" } }] };
    place.service.put(undefined, live);
    const stack = await place.stack("local");
    await stack.up({ x: { definition: { ...b, conditions: [amount] }, adopt: true } });
    const changed = { ...b, priority: 9, conditions: [{ ...amount, value: 6 }] };
    await stack.upFails({ x: { definition: changed } }, {}, /conditions\[0\]\.onlyIf\.country/);
    expect(place.service.rules()[0]?.rule).toEqual(live);
    const whole = { ...changed, conditions: [{ ...live.conditions[0], value: 6 }] };
    await stack.up({ x: { definition: whole } });
    expect(place.service.rules()[0]?.rule).toEqual(whole);
  },
);
