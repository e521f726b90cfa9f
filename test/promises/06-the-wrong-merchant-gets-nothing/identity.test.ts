import { expect, test } from "vitest";
import { rule } from "../../support/rules.ts";
import { contractOf, otherToken, twoMerchants } from "../../support/stack/contracts.ts";
import { openPlace, openStack } from "../../support/stack/place.ts";

const declared = { a: { definition: rule(1) }, b: { definition: rule(2) } };
const asking = contractOf({ auth: { identity: { path: "/me", at: "/account/id" } } });

/** A token that says whose it is, as services mint them; nobody checks how it is signed. */
function jwt(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part(claims)}.c2ln`;
}

test("who the credentials must be is said by a setting, and holds from the first run on", async () => {
  const { place, stack } = await openStack("local", { ...twoMerchants, contract: asking });
  const acme = { MERCHANT_RULES_IDENTITY: "acme" };
  await stack.upFails(declared, { environment: { ...otherToken, ...acme } }, /acme/, /globex/);
  expect(place.writes()).toEqual([]);
  await stack.up(declared, { environment: acme });
  expect(place.service.of("acme").rules()).toHaveLength(2);
  expect(place.service.of("globex").rules()).toEqual([]);
  place.front.taken();
  await stack.isUnchanged({ environment: acme });
  await stack.fails("preview", { environment: { MERCHANT_RULES_IDENTITY: "globex" } }, /globex/);
  expect(place.front.taken()).toEqual([]);
});

test("a connection has its own identity, in stack config or in the environment", async () => {
  const place = await openPlace({ ...twoMerchants, contract: asking });
  const { baseUrl = "" } = place.settings;
  const stack = await place.stack("local", {
    config: { connections: { main: { baseUrl, identity: "acme" }, side: { baseUrl } } },
    environment: { MERCHANT_RULES_MAIN__TOKEN: "token-globex", MERCHANT_RULES_SIDE__TOKEN: "token-globex" },
  });
  const main = { a: { definition: rule(1), connection: "main" } };
  await stack.upFails(main, {}, /acme/, /globex/);
  const side = { b: { definition: rule(2), connection: "side" } };
  await stack.upFails(side, { environment: { MERCHANT_RULES_SIDE__IDENTITY: "acme" } }, /acme/, /globex/);
  expect(place.writes()).toEqual([]);
  await stack.up(side, { environment: { MERCHANT_RULES_SIDE__IDENTITY: "globex" } });
  expect(place.service.of("globex").rules()).toHaveLength(1);
});

test("an identity that is set is refused where the contract can tell none, before any request", async () => {
  const { place, stack } = await openStack("local");
  await stack.upFails(declared, { environment: { MERCHANT_RULES_IDENTITY: "acme" } }, /identity/i);
  expect(place.front.taken()).toEqual([]);
});

test("a new rule that comes before its siblings is not made with the token of another merchant", async () => {
  const { place, stack } = await openStack("local", { ...twoMerchants, contract: asking });
  await stack.up(declared);
  place.writes();
  await stack.upFails({ first: { definition: rule(3) }, ...declared }, { environment: otherToken }, /globex/);
  expect(place.writes()).toEqual([]);
  expect(place.service.of("globex").rules()).toEqual([]);
});

test("a claim of the token says whose it is, and another merchant's token is refused by name", async () => {
  const tokens = { acme: jwt({ merchant_id: "acme" }), globex: jwt({ merchant_id: "globex" }) };
  const merchants = Object.entries(tokens).map(([name, token]) => ({ name, token }));
  const contract = contractOf();
  const spoken = { ...JSON.parse(JSON.stringify(contract)), auth: { identity: { claim: "/merchant_id" } } };
  const { place, stack } = await openStack("local", { ruleIds: "sequential", merchants, contract, spoken });
  await stack.up(declared);
  for (const { ruleId, rule } of place.service.of("acme").rules()) place.service.of("globex").put(ruleId, rule);
  place.writes();
  const wrong = { environment: { MERCHANT_RULES_TOKEN: tokens.globex } };
  await stack.upFails({ ...declared, a: { definition: rule(1, { priority: 50 }) } }, wrong, /globex/);
  await stack.fails("destroy", wrong, /globex/);
  expect(place.writes()).toEqual([]);
  expect(place.service.of("globex").rules()).toEqual(place.service.of("acme").rules());
});

test("the client id says whose the credentials are, where the contract says that it does", async () => {
  const token = {
    path: "/api/v1/auth/token",
    fields: { client_id: "{clientId}", client_secret: "{clientSecret}" },
  };
  const contract = contractOf({ auth: { token } });
  const spoken = { ...JSON.parse(JSON.stringify(contract)), auth: { token, identity: { clientId: true } } };
  const credentials = { clientId: "shop-1", clientSecret: "secret-1", token: "token-1" };
  const place = await openPlace({ contract, spoken, credentials });
  const environment = { MERCHANT_RULES_CLIENT_ID: "shop-1", MERCHANT_RULES_CLIENT_SECRET: "secret-1" };
  const stack = await place.stack("local", { environment });
  await stack.upFails(declared, { environment: { MERCHANT_RULES_IDENTITY: "shop-2" } }, /shop-1/, /shop-2/);
  expect(place.writes()).toEqual([]);
  await stack.up(declared, { environment: { MERCHANT_RULES_IDENTITY: "shop-1" } });
  expect(place.service.rules()).toHaveLength(2);
});
