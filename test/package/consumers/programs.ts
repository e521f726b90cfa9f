import type { Files } from "./consumer.ts";

/** The rule of the program, with the field that somebody edits at the service. */
export const editedRule = "large-amounts";

export const declaredRules = 2;

const definition = `{
    name: "${editedRule}",
    priority: 100,
    conditions: [{ field: "amount", operator: "gt", value: 10_000 }],
    actions: [{ type: "decline" }],
  }`;

const ruleFiles: Files = {
  "rules/home-cards.yaml": "name: home-cards\npriority: 50\nactions: [{ type: accept }]\n",
};

/** A Pulumi.yaml. */
export function projectFile(options = ""): Files {
  return { "Pulumi.yaml": `name: consumer\nruntime:\n  name: nodejs\n${options}` };
}

export const commonJsProgram: Files = {
  ...ruleFiles,
  "index.js": `
const { loadRules, MerchantRule, MerchantRuleSet } = require("pulumi-merchant-rules");

const large = new MerchantRule("large", { definition: ${definition} });
const all = new MerchantRuleSet("all", { rules: loadRules("rules") });
exports.ruleId = large.ruleId;
exports.ruleIds = all.ruleIds;
`,
};

export const moduleProgram: Files = {
  ...ruleFiles,
  "index.js": `
import { loadRules, MerchantRule, MerchantRuleSet } from "pulumi-merchant-rules";

const large = new MerchantRule("large", { definition: ${definition} });
const all = new MerchantRuleSet("all", { rules: loadRules("rules") });
export const ruleId = large.ruleId;
export const ruleIds = all.ruleIds;
`,
};

/** A program in TypeScript that is right under every way of resolving modules. */
export const typescriptProgram: Files = {
  ...ruleFiles,
  "index.ts": `
import * as pulumi from "@pulumi/pulumi";
import { isMerchantRulesError, type JsonObject, loadRules, MerchantRule, MerchantRuleSet } from "pulumi-merchant-rules";

interface AmountRule {
  readonly name: string;
  readonly priority: number;
  readonly conditions: readonly { field: string; operator: "gt" | "lt"; value: number }[];
  readonly actions: readonly { type: "accept" | "decline" }[];
}

const config = new pulumi.Config();
const large = new MerchantRule<AmountRule>("large", { definition: {
    name: "${editedRule}",
    priority: config.getNumber("priority") ?? 100,
    conditions: [{ field: "amount", operator: "gt", value: 10_000 }],
    actions: [{ type: "decline" }],
  } });

function rules(): Record<string, JsonObject> {
  try {
    return loadRules("rules");
  } catch (error) {
    if (isMerchantRulesError(error)) pulumi.log.error(error.advice ?? error.reason);
    throw error;
  }
}

const all = new MerchantRuleSet("all", { rules: rules() });
export const ruleId: pulumi.Output<string> = large.ruleId;
export const ruleIds: pulumi.Output<Record<string, string>> = all.ruleIds;
`,
};

/** Everything that has types, besides what programs import. */
export const everyEntry: Files = {
  "entries.ts": `
import * as policy from "pulumi-merchant-rules/policy";
import * as provider from "pulumi-merchant-rules/provider";
import * as sdk from "pulumi-merchant-rules/sdk";

export const client: typeof sdk.RulesClient = sdk.RulesClient;
export const entries = [policy, provider, sdk];
`,
};

/** Unit tests of a user's rules, by Pulumi's own mocks and Node's own test runner. */
export function mocksTest(kind: "module" | "commonjs"): Files {
  const imports =
    kind === "module"
      ? `import assert from "node:assert/strict";
import test from "node:test";
import * as pulumi from "@pulumi/pulumi";`
      : `const assert = require("node:assert/strict");
const test = require("node:test");
const pulumi = require("@pulumi/pulumi");`;
  return {
    "rules.test.js": `${imports}

test("the rules are those of the program", async () => {
  const made = new Map();
  await pulumi.runtime.setMocks({
    newResource: ({ name, inputs }) => {
      made.set(name, inputs);
      return { id: name + "-id", state: { ...inputs, ruleIds: { "home-cards": "1" } } };
    },
    call: () => ({}),
  });
  const program = ${kind === "module" ? 'await import("./index.js")' : 'require("./index.js")'};
  const ruleId = await new Promise((resolve) => program.ruleId.apply(resolve));
  const ruleIds = await new Promise((resolve) => program.ruleIds.apply(resolve));
  assert.equal(ruleId, "large-id");
  assert.deepEqual(ruleIds, { "home-cards": "1" });
  assert.equal(made.get("large").definition.priority, 100);
});
`,
  };
}

/** The whole life of a stack by the Automation API, with the program inline. */
export const automationProgram: Files = {
  "automation.js": `
import assert from "node:assert/strict";
import { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { MerchantRule } from "pulumi-merchant-rules";

const program = async () => ({ ruleId: new MerchantRule("large", { definition: ${definition} }).ruleId });
const stack = await LocalWorkspace.createOrSelectStack({ stackName: "dev", projectName: "consumer", program });
const { changeSummary } = await stack.preview();
assert.equal(changeSummary.create, 2);
const { outputs } = await stack.up();
assert.ok(outputs.ruleId.value);
await stack.refresh({ expectNoChanges: true });
await stack.destroy();
console.log("destroyed");
`,
};
