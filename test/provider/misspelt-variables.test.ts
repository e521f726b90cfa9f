import { expect, test } from "vitest";
import { rule } from "../support/rules.ts";
import { hooksHere, sessionOf } from "../support/stack/hosts.ts";
import { serve } from "../support/stack/service.ts";

test("a variable that is nearly a setting's name is told once, with that name, also where its setting is missing", async () => {
  const served = await serve();
  const slips = {
    MERCHANT_RULES_ON_DRFIT: "fail",
    MERCHANT_RULES_SHOP__BASEURL: "https://payments.example.com",
    MERCHANT_RULES_FORMER_NAME: "shop/old",
    MERCHANT_RULES_SHOP__RECOVER: "3fa9",
    MERCHANT_RULES_TEAM: "payments",
    MERCHANT_RULES_SAME: "3fa9",
    MERCHANT_RULES_MOVED: "3fa9",
    MERCHANT_RULES_RECOVER: "3fa9",
    MERCHANT_RULES_FORMER_NAMES: "shop/old",
    MERCHANT_RULES_TOKNE: "",
    MERCHANT_RULES_PARAM_TOKNE: "a parameter has any name",
    OTHER_MERCHANT_RULES_TOKNE: "x",
  };
  const said = [
    "the environment has MERCHANT_RULES_ON_DRFIT, which is no setting and has no effect: did you mean MERCHANT_RULES_ON_DRIFT?",
    "the environment has MERCHANT_RULES_SHOP__BASEURL, which is no setting and has no effect: did you mean MERCHANT_RULES_SHOP__BASE_URL?",
    "the environment has MERCHANT_RULES_FORMER_NAME, which is no setting and has no effect: did you mean MERCHANT_RULES_FORMER_NAMES?",
    "the environment has MERCHANT_RULES_SHOP__RECOVER, which is no setting and has no effect: did you mean MERCHANT_RULES_RECOVER?",
  ];
  const host = hooksHere("merchantRule", sessionOf({ ...served.environment, ...slips }));
  for (let call = 0; call < 2; call += 1) expect((await host.check({ definition: rule(1) })).failures).toEqual([]);
  expect(host.stderr.split("\n")).toEqual(said);

  const lacking = hooksHere("merchantRule", sessionOf(slips));
  const { failures } = await lacking.check({ definition: rule(1), connection: "shop" });
  expect(failures).toMatchObject([
    { property: "connection", reason: expect.stringContaining("MERCHANT_RULES_SHOP__BASE_URL") },
  ]);
  expect(lacking.stderr.split("\n")).toEqual(said);
});
