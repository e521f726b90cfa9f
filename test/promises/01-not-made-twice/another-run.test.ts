import { expect, test, vi } from "vitest";
import { withValueAt } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { startFront } from "../../support/stack/front.ts";
import { openWorld } from "../../support/stack/hooks.ts";
import { hooksHere, markBy, ownedBy, sessionOf } from "../../support/stack/hosts.ts";
import { namesOf } from "../../support/stack/service.ts";

const owner = { at: "/metadata/managedBy" };
const contract = contractOf({ rule: { owner }, limits: { concurrency: 1 } });

test("a run that goes on for long looks again before it creates; where another run makes the same rules, each time", async () => {
  const { service, environment } = await openWorld({ contract, allowDuplicates: true });
  const front = await startFront(service.url);
  const rules = Object.fromEntries([0, 1, 2, 3, 4, 5].map((k) => [`r${k}`, rule(k)]));
  const clock = performance.now.bind(performance);
  let later = 0;
  vi.spyOn(performance, "now").mockImplementation(() => clock() + later);
  // With each create of this run the other one makes the next rule.
  let created = 0;
  front.behave(({ method, body }, pass) => {
    if (method !== "POST") return pass();
    const k = Number(String(Object(body).name).slice("rule-".length)) + 1;
    if (k < 6) service.put(undefined, Object(withValueAt(rule(k), owner.at, markBy("shop/prod/all", `r${k}`))));
    if (created === 0) later = 1_000_000;
    created += 1;
    return pass();
  });
  const host = hooksHere("merchantRuleSet", sessionOf({ ...environment, MERCHANT_RULES_BASE_URL: front.url }));
  await host.create({ rules, ...ownedBy("shop/prod/all") });
  expect(namesOf(service.rules())).toEqual(Object.values(rules).map(({ name }) => name));
  expect(created).toBe(3);
});
