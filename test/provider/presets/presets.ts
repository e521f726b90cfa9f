import { type LocalServiceOptions, localCredentials } from "../../../local/service/index.ts";
import { loadPreset, type Preset, presentsClient } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { makeStack } from "../../support/stack/engines.ts";
import type { EngineName } from "../../support/stack/project.ts";
import { startService } from "../../support/stack/service.ts";

/** A service that a preset describes, and rules of its own. */
export interface Described {
  readonly preset: Exclude<Preset, "seed" | "illustrative">;
  readonly parameters?: Readonly<Record<string, string>>;
  /** The service's ways that the contract does not say. */
  readonly service?: Pick<LocalServiceOptions, "answers">;
  /** A rule, by a number that it has and a second one that changes. */
  readonly rule: (k: number, value: number) => JsonObject;
}

export const described: readonly Described[] = [
  {
    preset: "adyen-transaction-rules",
    parameters: { entities: "balanceAccounts", entityId: "BA1" },
    rule: (k, value) => ({
      description: `at most ${value}`,
      reference: `limit-${k}`,
      entityKey: { entityType: "balanceAccount", entityReference: "BA1" },
      type: "velocity",
      interval: { type: "daily" },
      ruleRestrictions: { totalAmount: { operation: "greaterThan", value: { currency: "EUR", value } } },
      status: k % 2 === 0 ? "active" : "inactive",
    }),
  },
  {
    preset: "alertmanager-silences",
    service: { answers: "id" },
    rule: (k, value) => ({
      matchers: [{ name: "rule", value: `r${k}`, isRegex: false, ...(k % 2 === 0 ? { isEqual: true } : {}) }],
      startsAt: "2030-01-01T00:00:00Z",
      endsAt: "2030-01-02T01:00:00+01:00",
      createdBy: "rules",
      comment: `${value} days`,
    }),
  },
  {
    preset: "juspay-decision-engine",
    parameters: { merchantId: "merchant-1" },
    service: { answers: "id" },
    rule: (k, value) => ({
      name: `route-${k}`,
      algorithm_data: { type: "single", data: { gateway_name: "stripe", gateway_id: `${value}` } },
      ...(k % 2 === 0 ? { algorithm_for: "payout" } : {}),
    }),
  },
  {
    preset: "kinto",
    parameters: { bucket: "rules", collection: "limits" },
    rule: (k, value) => ({ name: `rule-${k}`, limit: value }),
  },
  {
    preset: "stripe-value-list-items",
    parameters: { valueList: "rsl_1", stripeVersion: "2025-01-01" },
    rule: (k, value) => ({ value: `shop-${k}-${value}@example.com` }),
  },
  {
    preset: "unleash-segments",
    rule: (k, value) => ({
      name: `segment-${k}`,
      constraints: [
        {
          contextName: "amount",
          operator: "NUM_GT",
          value: String(value),
          ...(k % 2 === 0 ? { inverted: false } : {}),
        },
      ],
    }),
  },
  {
    preset: "whop",
    parameters: { accountId: "biz_1", versionDate: "2026-01-01" },
    rule: (k, value) => ({
      name: `rule-${k}`,
      action: "review",
      status: k % 2 === 0 ? "active" : "inactive",
      conditions: { all: [{ field: "amount", operator: "gt", value }] },
    }),
  },
  {
    preset: "wiremock",
    rule: (k, value) => ({
      name: `rule-${k}`,
      priority: k,
      request: { method: k % 2 === 0 ? "ANY" : "POST", urlPath: `/payments/${value}` },
      response: { status: 200 },
    }),
  },
];

/** The local service with a preset's contract, and a stack at it. */
export async function openPreset({ preset, parameters = {}, service: own }: Described, engine: EngineName) {
  const service = await startService({ contract: loadPreset(preset), parameters, ...own });
  const { clientId, clientSecret, token } = localCredentials;
  const settings = { baseUrl: service.url, contract: preset, parameters };
  const isByClient = presentsClient(loadPreset(preset).auth);
  const stack = await makeStack(
    engine,
    settings,
    isByClient
      ? { MERCHANT_RULES_CLIENT_ID: clientId, MERCHANT_RULES_CLIENT_SECRET: clientSecret }
      : { MERCHANT_RULES_TOKEN: token },
  );
  return { service, stack };
}
