import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { analyzeState, type ResourceState } from "../../local/engine/index.ts";
import { policies } from "../../policy/policies.ts";
import { readExport } from "../../stack/open/read-stack.ts";
import { ask, type Declared, rule, ruleSet, shownByHost } from "../policy/evaluate.ts";
import { rule as definition } from "../support/rules.ts";

/** The time of the whole pack, every policy of it configured, for rules that pass. */
export interface PolicyFigures {
  readonly subject: "MerchantRuleSet" | "MerchantRule × N";
  readonly rules: number;
  /** The time of the policies themselves, all of them, one after the other. */
  readonly checkSeconds: number;
  /** From the start of the policy host to its end, by the local engine: with the protocol, and what the SDK makes of it. */
  readonly wholeSeconds: number;
  /** The same for one rule: what the host takes to start. */
  readonly startSeconds: number;
}

const pack = fileURLToPath(new URL("../../policy", import.meta.url));

/** Has the pack look at one set of N rules, and at N resources. */
export async function policiesOver(rules: number, signal: AbortSignal): Promise<PolicyFigures[]> {
  const folder = mkdtempSync(join(tmpdir(), "policies-"));
  try {
    const config = join(folder, "config.json");
    const settings = configuration(rules);
    writeFileSync(config, JSON.stringify(settings));
    const whole = async (declared: readonly Declared[]): Promise<number> => {
      const resources = await stateOf(declared);
      const options = { policyPacks: [pack], policyPackConfigs: [config], signal };
      return await secondsOf(async () => (await analyzeState({ resources, ...options })).violations);
    };
    const figures = async (subject: PolicyFigures["subject"], declared: readonly Declared[]) => {
      const checkSeconds = await secondsOf(() => checked(declared, settings));
      return { subject, rules, checkSeconds, wholeSeconds: await whole(declared), startSeconds };
    };
    const startSeconds = await whole(single(1));
    return [await figures("MerchantRuleSet", set(rules)), await figures("MerchantRule × N", single(rules))];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function secondsOf(look: () => Promise<readonly unknown[]>): Promise<number> {
  const started = performance.now();
  const [violation] = await look();
  if (violation !== undefined) throw new Error(`a policy did not pass: ${JSON.stringify(violation)}`);
  return (performance.now() - started) / 1000;
}

/** All policies in this process, each as the policy host asks it. */
async function checked(declared: readonly Declared[], settings: Record<string, object>): Promise<readonly string[]> {
  const found: string[] = [];
  const resources = shownByHost(declared);
  for (const policy of policies) {
    const { violations } = await ask(policy, resources, { ...settings[policy.name] });
    found.push(...violations);
  }
  return found;
}

function definitions(rules: number): object[] {
  return Array.from({ length: rules }, (_, k) => definition(k));
}

function set(rules: number): Declared[] {
  return [ruleSet("all", Object.fromEntries(definitions(rules).map((definition, k) => [`rule-${k}`, definition])))];
}

function single(rules: number): Declared[] {
  return definitions(rules).map((definition, k) => rule(`rule-${k}`, definition));
}

async function stateOf(declared: readonly Declared[]): Promise<readonly ResourceState[]> {
  const resources = declared.map(({ type, name, props }) => {
    const properties = { inputs: props, outputs: props };
    return { urn: `urn:pulumi:dev::shop::${type}::${name}`, type, custom: true, id: name, ...properties };
  });
  return await readExport(JSON.stringify({ version: 3, deployment: { resources } }), "the benchmark's state");
}

/** A configuration with which every policy has something to check, and every rule of the workload passes. */
function configuration(rules: number): Record<string, object> {
  return {
    "no-catch-all": { conditions: ["/conditions"], actions: { "/actions/*/type": ["decline", "accept"] } },
    "unique-natural-keys": { naturalKey: "/name" },
    "unique-values": { pointers: ["/priority"] },
    "required-values": { pointers: ["/name", "/priority", "/conditions/*/field", "/actions/*/type"] },
    "forbidden-values": { pointers: ["/internalNote"], values: { "/conditions/*/operator": ["eval"] } },
    "allowed-values": { values: { "/actions/*/type": ["accept", "decline", "route"], "/isActive": [true, false] } },
    "number-ranges": { ranges: { "/priority": { minimum: 0, maximum: rules } } },
    "string-patterns": { patterns: { "/name": "^[a-z0-9-]+$", "/actions/*/reason": "^[a-z0-9 ]+$" } },
    "maximum-rules": { maximum: rules },
    "maximum-conditions": { conditions: "/conditions", maximum: 10 },
    "definition-schema": {
      schema: {
        type: "object",
        required: ["name", "conditions"],
        properties: { name: { type: "string" }, priority: { type: "integer" } },
      },
    },
    "end-dates": { endDates: ["/endsAt"] },
    "required-rules": { rules: ["rule-0"] },
  };
}
