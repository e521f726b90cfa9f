import { expect, onTestFinished, test } from "vitest";
import { startWorld } from "../../../local/testing/index.ts";
import { MerchantRule } from "../../../provider/index.ts";
import { MerchantRulesError } from "../../../sdk/errors.ts";
import { rule } from "../../support/connections.ts";
import { contractOf } from "../worlds/world.ts";

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
