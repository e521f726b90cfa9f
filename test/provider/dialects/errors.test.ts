import { writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { startWorld } from "../../../local/testing/index.ts";
import { MerchantRule } from "../../../provider/index.ts";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { MerchantRulesError } from "../../../sdk/errors.ts";
import { many, rule } from "../../support/rules.ts";
import { contractOf, withoutList } from "../../support/stack/contracts.ts";
import { openStack } from "../../support/stack/place.ts";

test("a run says what the service says: code, message, details and the request's id, wherever they stand", async () => {
  const world = await startWorld({
    contract: contractOf({
      // The service's own rules are made by nobody else.
      rule: { foreign: [{ at: "/origin", is: ["system"] }] },
      errors: {
        code: "/problem/type",
        message: ["/title", "/problem/detail"],
        details: "/problem/parts",
        requestId: { header: "Trace-Id" },
      },
    }),
    program: () => void new MerchantRule("a", { definition: rule(1, { origin: "system" }) }),
  });
  onTestFinished(() => world.close());
  const failure = await world.up().catch((error: unknown) => String(error));
  expect(failure).toMatch(
    /answered 422 \(code VALIDATION_FAILED; only the service makes rules of its own; details: path: origin, reason: must not be .*; request id [0-9a-f-]{36}\)/,
  );
  expect(world.rules()).toEqual([]);
});

test("what a service says both as its message and as a detail stands once in an error", () => {
  const exchange = {
    method: "POST",
    path: "/rules",
    serviceMessage: "name is taken",
    serviceDetails: ["name is taken", "id 7", "id 7"],
  };
  const { message } = new MerchantRulesError("REJECTED", "the service answered 422", { exchange });
  expect(message).toBe("the service answered 422 (name is taken; details: id 7) [POST /rules] (REJECTED)");
  const { message: bare } = new MerchantRulesError("REJECTED", "no", {
    exchange: { ...exchange, serviceDetails: ["name is taken"] },
  });
  expect(bare).toBe("no (name is taken) [POST /rules] (REJECTED)");
});

test.each<[string, ContractInput, RegExp, RegExp]>([
  [
    "with a list",
    contractOf({ rule: { owner: { at: "/metadata/managedBy" } }, limits: { concurrency: 4 } }),
    /the list could not be read \(item 0 .* has no id at \/key/,
    /Then run again/,
  ],
  [
    "without a list",
    { ...withoutList, limits: { concurrency: 4 } },
    /no list operation/,
    /Then look at the service whether the rule is there/,
  ],
])("a wrong rule.id stops a run (%s), which says once what to correct", async (_, contract, shown, next) => {
  const { rule: about = {}, ...others } = contract;
  const spoken = { ...others, rule: { ...about, id: ["/key"] } };
  const { place, stack } = await openStack("local", { contract, spoken });
  const rules = many(40);
  const says = /the answer has no id at \/key \(rule\.id\); it has \/(ruleId|id), .*\/name, \/priority/;
  const { output } = await stack.upFails({ all: { rules } }, {}, says, shown, next);
  expect(output.match(/correct rule\.id in the contract: name the field/g)).toHaveLength(1);
  // Nobody knows the rules of such creates, so that no more are made than were under way.
  const made = place.writes().length;
  expect(made).toBeLessThanOrEqual(4);
  expect(output).toContain(`${40 - made} more were not tried: not sent, because the answer to a create`);

  // The advice, followed.
  writeFileSync(place.contractFile, JSON.stringify(contract));
  if (contract.operations?.list === null) for (const { ruleId } of place.service.rules()) place.service.remove(ruleId);
  await stack.succeeds("up");
  expect(place.service.rules()).toHaveLength(40);
  await stack.isUnchanged();
});
