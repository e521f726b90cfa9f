import { expect, test } from "vitest";
import { ruleType } from "../../../provider/host/types.ts";
import { hashOfIdentity } from "../../../provider/reconcile/index.ts";
import { readStateDrift } from "../../../report/drift/drift.ts";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { openWorld } from "../../support/stack/hooks.ts";
import { ownedBy, sessionOf } from "../../support/stack/hosts.ts";
import { applied } from "../../support/stack/states.ts";

const asking = contractOf({ auth: { identity: { path: "/me", at: "/account/id" } } });

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
  const merchants = [
    { name: "acme", token: "token-acme" },
    { name: "globex", token: "token-globex" },
  ];
  const world = await openWorld({ merchants, ruleIds: "sequential", contract: asking });
  const host = await world.host();
  const acme = ownedBy("shop/prod/a", hashOfIdentity("acme"));
  const { id, outs } = await host.create({ definition: rule(1), ...acme });
  world.service.of("globex").put(undefined, rule(1));
  // The connection was made anew with the other merchant's token.
  const later = await world.host("merchantRule", { MERCHANT_RULES_TOKEN: "token-globex" });
  const news = { definition: rule(1), ...ownedBy("shop/prod/a", hashOfIdentity("globex")) };
  expect((await later.diff(id, outs, news)).changes).toBe("some");
  await expect(later.update(id, outs, news)).rejects.toThrow(/"globex".*MERCHANT_RULES_MOVED=true.*up --refresh/s);
  const set = await world.host("merchantRuleSet");
  const made = await set.create({ rules: { b: rule(2) }, ...acme });
  const again = await world.host("merchantRuleSet", { MERCHANT_RULES_TOKEN: "token-globex" });
  await expect(again.update(made.id, made.outs, { ...news, rules: { b: rule(2) } })).rejects.toThrow(
    /MERCHANT_RULES_MOVED/,
  );
});
