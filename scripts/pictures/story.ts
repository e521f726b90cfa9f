import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parse } from "yaml";
import { localCredentials, startLocalService } from "../../local/service/index.ts";
import { loadPreset } from "../../sdk/contract/index.ts";
import { defined, type JsonObject } from "../../sdk/json/index.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const stack = "production";

/** The output of a command in a real run. */
export interface Printed {
  /** The Markdown of `merchant-rules plan --comment`. */
  readonly plan: string;
  /** The HTML of `merchant-rules drift --format html`. */
  readonly drift: string;
}

const program = `
import { loadRules, MerchantRuleSet } from "pulumi-merchant-rules";
new MerchantRuleSet("payment-rules", { rules: loadRules("rules") });
`;

const before: Readonly<Record<string, JsonObject>> = {
  "blocked-countries": rule("blocked-countries", 5, "card.country", "in", ["KP", "IR"], "decline"),
  "domestic-cards": rule("domestic-cards", 50, "card.country", "in", ["NL", "BE", "DE"], "route"),
  "first-payments": rule("first-payments", 70, "payer.payments", "lt", 3, "review"),
  "gift-cards": rule("gift-cards", 60, "product", "eq", "gift-card", "review"),
  "high-amounts": rule("high-amounts", 100, "amount", "gt", 10_000, "decline"),
  "late-hours": rule("late-hours", 90, "hour", "lt", 5, "review"),
  "new-devices": rule("new-devices", 80, "device.ageDays", "lt", 1, "review"),
  "old-promotion": rule("old-promotion", 40, "promotion", "eq", "SPRING", "accept"),
  prepaid: rule("prepaid", 30, "card.type", "eq", "prepaid", "decline"),
  "trusted-payers": rule("trusted-payers", 10, "payer.trusted", "eq", true, "accept"),
  "velocity-card": rule("velocity-card", 20, "card.paymentsPerHour", "gt", 5, "decline"),
};

/** Returns the same rules as a pull request has them: one new, two changed, one under another name, one deleted. */
function after(): Record<string, JsonObject> {
  const { "old-promotion": _deleted, "late-hours": moved, ...rest } = before;
  return {
    ...rest,
    ...defined({ "night-limit": moved }),
    "domestic-cards": rule("domestic-cards", 50, "card.country", "in", ["NL", "BE", "DE", "LU"], "route"),
    "high-amounts": rule("high-amounts", 100, "amount", "gt", 7_500, "decline"),
    "velocity-payer": rule("velocity-payer", 25, "payer.paymentsPerHour", "gt", 8, "decline"),
  };
}

/**
 * Plays the story of the README against a local service, on the local engine, by the command as it is built: rules are
 * deployed, a pull request changes them, and somebody edits three by hand.
 */
export async function playStory(): Promise<Printed> {
  const folder = mkdtempSync(join(tmpdir(), "merchant-rules-pictures-"));
  const service = await startLocalService({ contract: loadPreset("illustrative") });
  try {
    mkdirSync(join(folder, "state"));
    writeFileSync(
      join(folder, "Pulumi.yaml"),
      "name: shop\nruntime: { name: nodejs, options: { typescript: false } }\n",
    );
    writeFileSync(join(folder, "package.json"), '{ "type": "module", "main": "index.js" }');
    writeFileSync(join(folder, "index.js"), program);
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    writeContract(folder);
    const run = (expected: number, ...words: string[]): Promise<string> =>
      merchantRules(folder, service.url, expected, words);

    declare(folder, before);
    await run(0, "local", "up", "--stack", stack, "--yes");
    declare(folder, after());
    const plan = await run(0, "plan", "--engine", "local", "--stack", stack, "--comment");

    for (const { ruleId, rule: stored } of service.rules()) {
      if (stored.name === "high-amounts") service.put(ruleId, { ...stored, priority: 1 });
      if (stored.name === "prepaid") service.remove(ruleId);
    }
    service.put(undefined, rule("test-by-anna", 1, "amount", "gt", 0, "accept"));
    const drift = await run(7, "drift", "--engine", "local", "--stack", stack, "--format", "html");
    return { plan, drift };
  } finally {
    await service.close();
    rmSync(folder, { recursive: true });
  }
}

function rule(
  name: string,
  priority: number,
  field: string,
  operator: string,
  value: JsonObject[string],
  type: string,
): JsonObject {
  return { name, priority, conditions: [{ field, operator, value }], actions: [{ type }] };
}

/** Writes the illustrative contract, with semantics that know the story's fields of a payment, and that a rule may route. */
function writeContract(folder: string): void {
  const presetOf = (kind: string) =>
    parse(readFileSync(join(root, `sdk/contract/presets/illustrative.${kind}.yaml`), "utf8"));
  const { outcome, payment, ...semantics } = presetOf("semantics");
  const fields = {
    "card.paymentsPerHour": { at: "/card/paymentsPerHour", type: "decimal" },
    "card.type": { at: "/card/type", type: "text" },
    "device.ageDays": { at: "/device/ageDays", type: "decimal" },
    hour: { at: "/hour", type: "decimal" },
    "payer.payments": { at: "/payer/payments", type: "decimal" },
    "payer.paymentsPerHour": { at: "/payer/paymentsPerHour", type: "decimal" },
    product: { at: "/product", type: "text" },
    promotion: { at: "/promotion", type: "text" },
  };
  const told = {
    ...semantics,
    outcome: { ...outcome, words: { ...outcome.words, route: "route" }, others: ["route"] },
    payment: { ...payment, fields: { ...payment.fields, ...fields } },
  };
  writeFileSync(join(folder, "semantics.json"), JSON.stringify(told));
  writeFileSync(
    join(folder, "contract.json"),
    JSON.stringify({ ...presetOf("contract"), semantics: "./semantics.json" }),
  );
}

function declare(folder: string, rules: Readonly<Record<string, JsonObject>>): void {
  rmSync(join(folder, "rules"), { recursive: true, force: true });
  mkdirSync(join(folder, "rules"));
  for (const [key, definition] of Object.entries(rules))
    writeFileSync(join(folder, "rules", `${key}.json`), JSON.stringify(definition));
}

function merchantRules(cwd: string, url: string, expected: number, words: readonly string[]): Promise<string> {
  const env = {
    ...process.env,
    MERCHANT_RULES_BASE_URL: url,
    MERCHANT_RULES_CONTRACT: "contract.json",
    MERCHANT_RULES_TOKEN: localCredentials.token,
    PULUMI_BACKEND_URL: pathToFileURL(join(cwd, "state")).href,
    PULUMI_CONFIG_PASSPHRASE: "pictures",
  };
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [join(root, "bin/merchant-rules.js"), ...words],
      { cwd, env },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        if (code === expected) resolve(stdout);
        else reject(new Error(`merchant-rules ${words.join(" ")} ended with ${code}:\n${stdout}\n${stderr}`));
      },
    );
  });
}
