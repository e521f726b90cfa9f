import { expect, test } from "vitest";
import { misspeltVariables } from "../../provider/settings/misspelt-variables.ts";
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
    MERCHANT_RULES_TOKNE: "secret",
    MERCHANT_RULES_IDENTTIY: "",
    MERCHANT_RULES_PARAM_TOKNE: "a parameter has any name",
    MERCHANT_RULES__STACK__SHOP_NL__TOKNE: "of a stack",
    OTHER_MERCHANT_RULES_TOKNE: "x",
  };
  const said = [
    "the environment has MERCHANT_RULES_ON_DRFIT, which is no setting and has no effect: did you mean MERCHANT_RULES_ON_DRIFT?",
    "the environment has MERCHANT_RULES_SHOP__BASEURL, which is no setting and has no effect: did you mean MERCHANT_RULES_SHOP__BASE_URL?",
    "the environment has MERCHANT_RULES_FORMER_NAME, which is no setting and has no effect: did you mean MERCHANT_RULES_FORMER_NAMES?",
    "the environment has MERCHANT_RULES_SHOP__RECOVER, which is no setting and has no effect: did you mean MERCHANT_RULES_RECOVER?",
    "the environment has MERCHANT_RULES_TOKNE, which is no setting and has no effect: did you mean MERCHANT_RULES_TOKEN?",
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

test("a variable of a connection whose name is misspelt is told with the name that the connection's variables have", async () => {
  const connections = JSON.stringify({ "shop-b": {}, "shop-d": {} });
  const told = (environment: Record<string, string>, used: string[]) =>
    misspeltVariables(
      { config: (key) => (key === "merchant-rules:connections" ? connections : undefined), environment, folder: "." },
      used,
    ).map(({ variable, meant }) => `${variable} → ${meant}`);
  expect(
    told(
      { MERCHANT_RULES_SHOPB__TOKEN: "t", MERCHANT_RULES_SHOPB__PARAM_ID: "7", MERCHANT_RULES_SHOP_B__BASE_URL: "u" },
      [],
    ),
  ).toEqual([
    "MERCHANT_RULES_SHOPB__TOKEN → MERCHANT_RULES_SHOP_B__TOKEN",
    "MERCHANT_RULES_SHOPB__PARAM_ID → MERCHANT_RULES_SHOP_B__PARAM_ID",
  ]);
  const others = { MERCHANT_RULES_SHOP_C__TOKEN: "t", MERCHANT_RULES_WAREHUOSE__TOKNE: "t" };
  expect(told(others, ["warehouse"])).toEqual(["MERCHANT_RULES_WAREHUOSE__TOKNE → MERCHANT_RULES_WAREHOUSE__TOKEN"]);
  expect(told({ ...others, MERCHANT_RULES_SHOP_A__TOKEN: "t" }, ["shop-a"])).toEqual([
    "MERCHANT_RULES_WAREHUOSE__TOKNE → MERCHANT_RULES_WAREHUOSE__TOKEN",
  ]);
});
