import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ContractInput } from "../../../sdk/contract/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, withoutList } from "../../support/stack/contracts.ts";
import { onBothEngines } from "../../support/stack/engines.ts";
import { openStack, type Place } from "../../support/stack/place.ts";
import { variants } from "../../support/variants.ts";

const laterMs = 150;
const declared = { all: { rules: { a: rule(1), b: rule(2) } } };
const once = [rule(1).name, rule(2).name];

const idempotency = { header: "Idempotency-Key" };
const list = { path: "/api/v1/merchants/rules", items: "/rules", lagMs: 0 };
const contracts: readonly (readonly [string, ContractInput])[] = [
  ["a list that does not lag", contractOf({ operations: { list } })],
  ["a list and idempotency", contractOf({ operations: { list }, idempotency })],
];

/** A gateway answers creates by itself, and the service carries the first of each rule out later, or all of them. */
function answerBefore({ front }: Place, status: number): () => Promise<void> {
  const late: Promise<unknown>[] = [];
  front.behave(({ method }, pass) => {
    if (method !== "POST") return pass();
    late.push(sleep(laterMs).then(() => pass()));
    return { status, body: {} };
  });
  return async () => {
    await Promise.all(late);
    front.behave((_, pass) => pass());
  };
}

onBothEngines((engine) => {
  describe.each(contracts)("by a contract with %s", (_, contract) => {
    test.each(variants([504, 408, 503]))(
      "a create that is carried out after a gateway answered %i is made once",
      async (status) => {
        const { place, stack } = await openStack(engine, { contract, allowDuplicates: true });
        const settle = answerBefore(place, status);
        // Attempts with one key may last until the service has done what it was asked first.
        if (contract.idempotency === undefined) await stack.upFails(declared, {}, /the rule may exist/);
        else {
          stack.declare(declared);
          await stack.run("up");
        }
        await settle();
        await stack.up(declared, { environment: { MERCHANT_RULES_RECOVER: "true" } });
        expect(place.names()).toEqual(once);
        await stack.isUnchanged();
      },
    );
  });
});

test("without a way to look it up a create is sent once, and the error says that the rule may exist", async () => {
  const { place, stack } = await openStack("local", { contract: withoutList });
  const settle = answerBefore(place, 503);
  await stack.upFails(
    { a: { definition: rule(1) } },
    {},
    /the rule may exist.*look at the service whether the rule is there/s,
  );
  await settle();
  expect(place.names()).toEqual([rule(1).name]);
});
