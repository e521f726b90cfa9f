import type { JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import type { Declared } from "../../support/stack/engines.ts";
import type { Place } from "../../support/stack/place.ts";

export const path = "/api/v1/merchants/rules/{ruleId}";
export const active = { at: "/status", to: "active", path: `${path}/activate` };
export const inactive = { at: "/status", to: "inactive", path: `${path}/deactivate` };
export const contract = contractOf({ rule: { transitions: [active, inactive] } });
export const chain = [
  { at: "/status", to: "tested", from: ["draft"], path: `${path}/test` },
  { at: "/status", to: "active", from: ["tested", "inactive"], path: `${path}/activate` },
  { at: "/status", to: "inactive", from: ["active"], path: `${path}/deactivate` },
];
export const forms = {
  "single rules": (status: string, changes: JsonObject = {}): Declared => ({
    a: { definition: rule(1, { status, ...changes }) },
    b: { definition: rule(2, { status: "active" }) },
  }),
  "a set": (status: string, changes: JsonObject = {}): Declared => ({
    all: { rules: { a: rule(1, { status, ...changes }), b: rule(2, { status: "active" }) } },
  }),
};
export const shapes = Object.entries(forms);
export const one = (status: string, changes: JsonObject = {}): Declared => ({
  all: { rules: { a: rule(1, { status, ...changes }) } },
});
export const statuses = ({ definitions }: Place): unknown[] => definitions().map(({ status }) => status);
/** What was asked of the service that changes something, in order: the end of its path, or its method. */
export const asked = ({ front }: Place): string[] =>
  front
    .taken()
    .filter(({ method, path: at }) => method !== "GET" && at.includes("/rules"))
    .map(({ method, path: at }) => /\/rules\/[^/?]+\/(\w+)/.exec(at)?.[1] ?? method);
