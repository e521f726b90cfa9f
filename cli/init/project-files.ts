import { type Contract, contractFileNames } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { ruleFile, schemaText } from "../export/rule-file.ts";
import type { Files } from "../export/write-files.ts";
import { firstName } from "./first-rule.ts";
import { installedAs } from "./installed-as.ts";

/** The paths of a new project's files. */
export const projectPaths = [
  contractFileNames[0],
  "Pulumi.yaml",
  "package.json",
  "index.ts",
  "rule.schema.json",
  `rules/${firstName}.yaml`,
  "test/rules.test.ts",
  ".github/workflows/payment-rules-check.yml",
  ".gitignore",
] as const;

/** Makes a folder's name the name of a project and of a package. */
export function projectName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+|[._-]+$/g, "");
  return name === "" ? "payment-rules" : name.slice(0, 100);
}

/**
 * Returns the files of a new project.
 * @param folder where they are to be
 * @param testCommand what runs the test in CI. Default: npm test
 * @param contractText the contract as it is written
 * @param rule its first rule
 * @param isOwn whether the rule is the user's
 */
export function projectFiles(
  {
    name,
    folder,
    testCommand = "npm test",
  }: { readonly name: string; readonly folder: string; readonly testCommand?: string | undefined },
  contractText: string,
  contract: Contract,
  { rule, isOwn }: { readonly rule: JsonObject; readonly isOwn: boolean },
): Files {
  const [schema = "", ...fields] = ruleFile(rule, "../rule.schema.json").split("\n");
  const texts: Record<(typeof projectPaths)[number], string> = {
    [contractFileNames[0]]: contractText,
    "Pulumi.yaml": pulumiYaml(name),
    "package.json": `${JSON.stringify({ name, private: true, ...manifest(folder) }, null, 2)}\n`,
    "index.ts": program,
    "rule.schema.json": schemaText(contract.rule.schema ?? noSchema),
    [`rules/${firstName}.yaml`]: [schema, ...(isOwn ? [] : [illustrative]), ...fields].join("\n"),
    "test/rules.test.ts": test,
    ".github/workflows/payment-rules-check.yml": workflow(testCommand),
    ".gitignore": "node_modules/\n.pulumi/\n",
  };
  return new Map(Object.entries(texts));
}

const illustrative = "# Illustrative. Write in its place a rule that your service takes.";

const noSchema: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  description:
    "The contract has no rule.schema yet. Once it has: npx --no-install merchant-rules schema --output rule.schema.json",
  type: "object",
};

function pulumiYaml(name: string): string {
  return `name: ${JSON.stringify(name)}
description: Payment rules as code
runtime:
  name: nodejs
  options:
    # Node runs TypeScript by itself; the program needs no compiler.
    typescript: false
`;
}

export const testScript = 'node --test "test/*.test.ts"';

/** Returns what the package.json of a project in a folder needs, but for its name. */
export function manifest(folder: string) {
  return {
    type: "module",
    main: "index.ts",
    engines: { node: ">=22.19" },
    scripts: { rules: "merchant-rules", test: testScript },
    dependencies: {
      "@pulumi/pulumi": "^3.249.0",
      "pulumi-merchant-rules": installedAs("pulumi-merchant-rules", folder),
    },
    devDependencies: { "pulumi-merchant-rules-local": installedAs("pulumi-merchant-rules-local", folder) },
  };
}

const program = `import { loadRules, MerchantRuleSet } from "pulumi-merchant-rules";

// Each file of the folder is a rule; its name is the rule's key.
const all = new MerchantRuleSet("all", { rules: loadRules("rules") });

export const ruleIds = all.ruleIds;
`;

const test = `import { test } from "node:test";
import { startWorld } from "pulumi-merchant-rules-local/testing";

// A rules service of the test's own, which speaks as the contract says. Nothing leaves this machine.
test("the rules are made, and a second run changes nothing", async (t) => {
  const world = await startWorld({ program: "." });
  t.after(() => world.close());
  const plan = await world.preview();
  t.assert.deepEqual(
    plan.rules.map(({ key, step }) => [key, step]),
    [["${firstName}", "create"]],
  );
  await world.up();
  await world.expectNoChanges();
});
`;

const workflow = (testCommand: string) => `name: Payment rules, check
on: pull_request
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        # Where the program reads overlays or config by the stack's name, write the names of your stacks here.
        stack: [check]
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v5
        with:
          node-version: 24
      - run: npm ci
      - run: ${testCommand}
      - run: npx --no-install merchant-rules local preview --stack \${{ matrix.stack }} --without-secrets
        env:
          # A preview sends nothing; the address is only checked for its form.
          MERCHANT_RULES_BASE_URL: https://payments.example.com
`;
