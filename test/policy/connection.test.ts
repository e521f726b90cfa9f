import { beforeEach, expect, test, vi } from "vitest";
import { policies } from "../../policy/policies.ts";
import { connectionType } from "../../provider/host/types.ts";
import { type Declared, evaluate, rule, ruleSet, unknown } from "./evaluate.ts";
import { stackExport } from "./stack-export.ts";

const condition = { field: "amount", operator: "gt", value: 100 };
const declared = [
  rule("good", { name: "good", priority: 1, conditions: [condition], actions: [{ type: "decline" }] }),
  ruleSet("all", { twin: { name: "good", priority: 1, conditions: [], actions: [{ type: "route" }], note: " x " } }),
];

/** The connection beside the rules: as it is made, and as it is known from then on. */
const connection = (parameters: unknown): Declared => ({
  type: connectionType,
  name: "default",
  props: { connection: "default", project: "shop", stack: "dev", address: "https://x.example.com", parameters },
});

const configuration: Record<string, Record<string, unknown>> = {
  "no-catch-all": { conditions: ["/conditions"], actions: { "/actions/*/type": ["decline"] } },
  "unique-natural-keys": { naturalKey: "/name" },
  "unique-values": { pointers: ["/priority"] },
  "required-values": { pointers: ["/owner", "/address"] },
  "forbidden-values": { pointers: ["/note", "/address"] },
  "allowed-values": { values: { "/name": ["better"], "/address": ["https://y.example.com"] } },
  "number-ranges": { ranges: { "/priority": { minimum: 2 } } },
  "string-patterns": { patterns: { "/name": "^[A-Z]+$", "/address": "^ftp" } },
  "maximum-rules": { maximum: 1 },
  "maximum-conditions": { conditions: "/conditions", maximum: 0 },
  "definition-schema": { schema: { required: ["owner"] } },
  "end-dates": { endDates: ["/endsAt"], required: true },
  "protected-rules": { rules: ["good", "default"] },
  "required-rules": { rules: ["default"] },
  "normal-form": { trim: ["/note", "/address"] },
};

beforeEach(() => {
  vi.stubEnv("PULUMI_NODEJS_DRY_RUN", "true");
});

test.each(policies)("$name takes the connection for no rule", async (policy) => {
  const baseline = stackExport([rule("gone", {}), ...declared, connection({})]);
  const withBaseline = { "removed-rules": { baseline }, "change-freeze": { allowed: [], baseline } };
  const config = { ...configuration, ...withBaseline }[policy.name] ?? {};
  const { violations, notes } = await evaluate(policy, declared, config);
  for (const parameters of [{ merchantId: "4111 1111 1111 1111" }, unknown])
    expect(await evaluate(policy, [...declared, connection(parameters)], config)).toMatchObject({ violations, notes });
});
