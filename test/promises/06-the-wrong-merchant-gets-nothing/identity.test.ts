import { expect, test } from "vitest";
import { ruleType } from "../../../provider/host/types.ts";
import { readStateDrift } from "../../../report/drift/drift.ts";
import { rule } from "../../support/rules.ts";
import { asking, contractOf, identity, otherToken, twoMerchants } from "../../support/stack/contracts.ts";
import type { Declared } from "../../support/stack/engines.ts";
import { openWorld } from "../../support/stack/hooks.ts";
import { sessionOf } from "../../support/stack/hosts.ts";
import { good, ModelStack, refused, wordIn } from "../../support/stack/model-stack.ts";
import { openPlace, openStack } from "../../support/stack/place.ts";
import { applied } from "../../support/stack/states.ts";

const declared = { a: { definition: rule(1) }, b: { definition: rule(2) } };
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
  expect(place.front.taken()).toEqual([]);
  const changed = { ...declared, a: { definition: rule(1, { priority: 50 }) } };
  await stack.upFails(changed, { environment: { MERCHANT_RULES_IDENTITY: "globex" } }, /"acme".*"globex"/s);
  expect(place.writes()).toEqual([]);
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

test("an identity that is set is believed where the contract can tell none, and asks nobody", async () => {
  const { place, stack } = await openStack("local", twoMerchants);
  const acme = { MERCHANT_RULES_IDENTITY: "acme" };
  await stack.up(declared, { environment: acme });
  place.writes();
  const changed = { ...declared, a: { definition: rule(1, { priority: 50 }) } };
  const globex = { ...otherToken, MERCHANT_RULES_IDENTITY: "globex" };
  await stack.upFails(changed, { environment: globex }, /"globex".*MERCHANT_RULES_MOVED=/s);
  expect(place.front.taken()).toEqual([]);
  // Another token of the same merchant needs no witness.
  place.service.of("globex").put("1", rule(1, { priority: 7 }));
  await stack.up(changed, { environment: { ...otherToken, ...acme } });
  expect(place.writes()).toEqual(["update"]);
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

const rules = { r1: rule(1), r2: rule(2), r3: rule(3), r4: rule(4) };
const singly = Object.fromEntries(Object.entries(rules).map(([name, definition]) => [name, { definition }]));
const keyless = contractOf({ auth: { identity }, rule: { naturalKey: null }, limits: { concurrency: 1 } });

test("a service that does not say who the credentials are gets no rule", async () => {
  const { place, stack } = await openStack("local", { contract: keyless });
  place.service.faults.set({ kind: "status", status: 403, operations: ["identity"], times: "always" });
  await stack.upFails(singly, {}, /403/);
  expect(place.writes()).toEqual([]);
  expect(place.service.rules()).toEqual([]);
  place.service.faults.clear();
  await stack.up(singly);
  expect(place.service.rules()).toHaveLength(4);
});

test.each<[string, Declared]>([
  ["a set", { all: { rules } }],
  ["resources of one rule", singly],
])(
  "rules of %s that were made before the token was refused stay in the state, and are not made twice",
  async (_case, declared) => {
    const { place, stack } = await openStack("local", { contract: keyless });
    let creates = 0;
    place.front.behave(({ method }, pass) => {
      if (method === "POST") creates += 1;
      if (creates <= 2) return pass();
      return { status: 401, body: { error: { code: "UNAUTHENTICATED", message: "the token has expired" } } };
    });
    await stack.upFails(declared, {}, /401/);
    expect(place.service.rules()).toHaveLength(2);
    place.front.behave();
    place.writes();
    await stack.up(declared);
    expect(place.writes()).toEqual(["create", "create"]);
    expect(place.names()).toEqual(["rule-1", "rule-2", "rule-3", "rule-4"]);
  },
);

test("the rules of an explicit provider are compared where it leads, and not over the default connection", async () => {
  const [own, other] = [await openWorld(), await openWorld()];
  const [first, ...more] = await applied(sessionOf(other.environment), {
    a: { definition: rule(1) },
    b: { definition: rule(2) },
  });
  const settings = new Map([
    ["merchant-rules:provider", "sandbox"],
    ["merchant-rules:baseUrl", other.environment.MERCHANT_RULES_BASE_URL ?? ""],
    ["merchant-rules:contract", other.environment.MERCHANT_RULES_CONTRACT ?? ""],
    ["merchant-rules:token", other.environment.MERCHANT_RULES_TOKEN ?? ""],
  ]);
  const provider = { urn: "urn:pulumi:prod::shop::pulumi:providers:pulumi-nodejs::sandbox", settings };
  const state = [first, ...more].flatMap((each) => (each === undefined ? [] : [{ ...each, provider }]));
  expect(state.map(({ type }) => type)).toEqual([ruleType, ruleType]);
  const drift = await readStateDrift(state, sessionOf(own.environment));
  expect(drift).toMatchObject({ rules: 2, changed: [], missing: [], unmanaged: [] });
  expect(own.asked()).toEqual([]);
});

test("rules that were made as another identity are not believed to be here, though none is to be written", async () => {
  const world = await openWorld({ ...twoMerchants, contract: asking });
  const stack = new ModelStack(world);
  const program = { a: { definition: rule(1) }, all: { rules: { b: rule(2) } } };
  await good(stack.up(program));
  const theirs = world.service.of("globex");
  for (const { ruleId, rule } of world.service.rules()) theirs.put(ruleId, rule);
  world.asked();
  const ended = await refused(stack.up(program, { environment: otherToken }), /"globex"/, /up --refresh/);
  await refused(stack.refresh({ environment: otherToken }), /MERCHANT_RULES_MOVED=/);
  expect(world.asked()).not.toContain("update");
  for (const { ruleId } of theirs.rules()) theirs.remove(ruleId);
  const moved = { environment: { ...otherToken, ...wordIn(ended, "MOVED") } };
  const { said } = await good(stack.refreshedUp(program, moved));
  expect(said).toMatch(/rule 1 stays at the merchant of the last run/);
  expect([world.service.rules().length, theirs.rules().length]).toEqual([2, 2]);
});
