import { expect, onTestFinished, test } from "vitest";
import { startWorld } from "../../../local/testing/index.ts";
import { MerchantRule } from "../../../provider/index.ts";
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
