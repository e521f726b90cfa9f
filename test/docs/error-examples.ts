import type { LocalService } from "../../local/service/index.ts";
import { parseSemantics } from "../../meaning/index.ts";
import { PaymentsFile } from "../../meaning/payments/read-payments.ts";
import { HookError } from "../../provider/hooks/boundary.ts";
import { loadRules } from "../../provider/resources/load-rules.ts";
import { type ContractInput, defineContract, loadPreset, parseContract } from "../../sdk/contract/index.ts";
import { type ErrorCode, isMerchantRulesError } from "../../sdk/errors.ts";
import { RulesClient } from "../../sdk/index.ts";
import type { EngineErrorCode } from "../../stack/errors.ts";
import { newCrypter } from "../../stack/state/crypter.ts";
import { run } from "../cli/command.ts";
import { newFile, newFolder } from "../support/folder.ts";
import { rule } from "../support/rules.ts";
import { startHost } from "../support/stack/hooks.ts";
import { HookFailure, type Host, resource } from "../support/stack/hosts.ts";
import { serve } from "../support/stack/service.ts";

/** Gives the message of an error of this code, as a user sees it. */
type Produce = () => Promise<string>;

const preset = loadPreset("illustrative");
/** To compile the preset's JSON Schema of a definition takes longer than all else here. */
const full: ContractInput = { ...preset, rule: { ...preset.rule, schema: null } };
const patient: ContractInput = { ...full, limits: { maxAttempts: 2 } };

/** A short text of semantics, with a line of the outcome. */
function semanticsText(line: string): string {
  return [
    "version: 1",
    "applies:",
    "  at: /conditions",
    "  list: all",
    "  conditions: [{ field: /field, operator: { at: /operator }, value: /value }]",
    "  operators: { equals: eq }",
    "outcome:",
    "  at: /action",
    line,
    "wins: { by: listed }",
    "payment: { fields: { currency: { at: /currency, type: text } } }",
    "",
  ].join("\n");
}

/** One error of each code, by the way in which a user meets it. */
export const examples: Record<ErrorCode, Produce> = {
  CONTRACT_INVALID: () =>
    failureOf(() => parseContract("version: 1\noperations:\n  delete: { identifyBy: { in: querry } }\n", file)),
  SETTINGS_INVALID: () => failureOf(async () => (await startHost()).create({ definition: rule(1) })),
  UNSUPPORTED_BY_CONTRACT: () =>
    withHost({ version: 1 }, async (host, _, nextRun) => {
      const { id, outs } = await host.create(resource("limit", { definition: rule(1) }));
      await (await nextRun()).delete(id, outs);
    }),
  SEMANTICS_INVALID: () =>
    failureOf(() => parseSemantics(semanticsText("  words: { block: refuse }"), "merchant-rules.semantics.yaml")),
  PAYMENTS_INVALID: async () => {
    const payments = newFile("payments.csv", "amount,currency\n12.50,EUR\n");
    const columns = [{ name: "country", at: "/country", isNeeded: true }];
    const message = await failureOf(() => new PaymentsFile(payments, { columns }).batches().next());
    return message.replaceAll(payments, "payments.csv");
  },
  RULE_INVALID: async () => {
    const folder = newFolder({ "night-limit.yaml": "name: night-limit\npriority: 1\npriority: 2\n" });
    return (await failureOf(() => loadRules(folder))).replaceAll(folder, "rules");
  },
  RULE_NOT_FOUND: () => withHost(full, (host) => host.create(resource("limit", { definition: rule(1), adopt: "17" }))),
  RULE_CONFLICT: () =>
    withHost(full, async (host, service) => {
      service.put(undefined, rule(1));
      await host.create(resource("limit", { definition: rule(1) }));
    }),
  RULE_DIFFERS: () =>
    withHost(full, async (host, service) => {
      service.faults.set({ kind: "normalise" });
      await host.create(resource("limit", { definition: rule(1, { name: " rule-1 " }) }));
    }),
  RULE_OUTCOME_UNKNOWN: () =>
    withHost({ version: 1, limits: { maxAttempts: 1 } }, async (host, service) => {
      service.faults.set({ kind: "close", at: "after", operations: ["create"] });
      await host.create(resource("limit", { definition: rule(1) }));
    }),
  UNAUTHENTICATED: () => withHost(full, (host) => host.create({ definition: rule(1) }), { TOKEN: "wrong" }),
  FORBIDDEN: () => withStatus(full, 403),
  REJECTED: () => withStatus(full, 422),
  RATE_LIMITED: () => withStatus(patient, 429),
  SERVICE_FAILED: () =>
    withHost(patient, async (host, service) => {
      const { id, outs } = await host.create(resource("limit", { definition: rule(1) }));
      service.faults.set({ kind: "status", status: 503, operations: ["update"], times: "always" });
      await host.update(id, outs, resource("limit", { definition: rule(1, { priority: 5 }) }));
    }),
  RESPONSE_INVALID: () =>
    withHost(full, async (host, service) => {
      service.faults.set({ kind: "not-json", operations: ["list"], times: "always" });
      await host.create({ definition: rule(1) });
    }),
  CONNECTION_FAILED: () => withHost(patient, (host) => host.create({ definition: rule(1) }), { BASE_URL: nowhere }),
  TIMED_OUT: () =>
    withHost({ ...full, limits: { attemptTimeoutMs: 500, maxAttempts: 1 } }, async (host, service) => {
      service.faults.set({ kind: "silence", operations: ["list"] });
      await host.create({ definition: rule(1) });
    }),
  NOT_TRIED: async () => {
    const served = await serve(full);
    const connection = {
      name: "default",
      baseUrl: served.service.url,
      contract: defineContract(full),
      parameters: {},
      credentials: { kind: "token", token: "wrong" },
    } as const;
    const client = new RulesClient(connection);
    try {
      await client.get("1").catch(() => undefined);
      return await failureOf(() => client.get("2"));
    } finally {
      await client.close();
      await served.close();
    }
  },
  INTERNAL: async () => {
    const { create } = RulesClient.prototype;
    RulesClient.prototype.create = async function connect() {
      throw new TypeError("cannot read what is not there");
    };
    try {
      return await withHost(full, (host) => host.create(resource("limit", { definition: rule(1) })));
    } finally {
      RulesClient.prototype.create = create;
    }
  },
};

const stateFile = ".pulumi/stacks/shop/dev.json";

/** One error of each code of the local engine that needs no program to run, with the command that ends so. */
export const engineExamples: Partial<Record<EngineErrorCode, Produce>> = {
  BAD_CALL: () => inProject({}, ["up"]),
  PROJECT_INVALID: () => inProject({ "Pulumi.yaml": "name: shop\nruntime: nodejs\nmain: src/index.js\n" }, ["preview"]),
  STACK_NOT_FOUND: () => inProject({}, ["refresh", "--yes", "--stack", "prod"]),
  STATE_INVALID: () => inProject({ [stateFile]: '{ "version": 3, "checkpo' }, ["refresh", "--yes"]),
  LOCKED: () => inProject({ ".pulumi/locks/organization/shop/dev/7.json": lockOfAnother }, ["up", "--yes"]),
  PASSPHRASE: async () => {
    const crypter = await newCrypter("right");
    const stack = `encryptionsalt: ${crypter.salt}\nconfig:\n  shop:key:\n    secure: ${crypter.encrypt("hush")}\n`;
    return await inProject({ "Pulumi.dev.yaml": stack }, ["preview"], { PULUMI_CONFIG_PASSPHRASE: "wrong" });
  },
  POLICY_PACK: () => inProject({}, ["preview", "--policy-pack", "payment-policies"]),
  UNSUPPORTED: () => inProject({}, ["up", "--yes", "--replace", "urn"]),
};

const project = "name: shop\nruntime: nodejs\n";
const lockOfAnother = JSON.stringify({
  pid: 4711,
  username: "anna",
  hostname: "build-7",
  timestamp: "2025-01-31T08:00:00.000Z",
});
const file = "merchant-rules.contract.yaml";
const nowhere = "http://127.0.0.1:9";

/** A message with what differs from run to run as the page has it. */
export function steady(message: string): string {
  return message
    .replace(/127\.0\.0\.1:\d{4,}/g, "127.0.0.1:4010")
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "6d78007d-1611-4c16-b78d-07ac2be03922")
    .replace(/\s+/g, " ");
}

/** Variables of a run, without `MERCHANT_RULES_`. */
type Variables = Readonly<Record<string, string>>;

/** Starts the host of the next run; it may have other variables. */
type NextRun = (changes?: Variables) => Promise<Host>;

/** Gives the message with which hooks fail at a service of a contract. */
export async function withHost(
  contract: ContractInput,
  act: (host: Host, service: LocalService, nextRun: NextRun) => unknown,
  changes: Variables = {},
): Promise<string> {
  const served = await serve(contract, { ruleIds: "sequential" });
  const nextRun: NextRun = (more = {}) => {
    const changed = Object.entries({ ...changes, ...more }).map(([name, value]) => [`MERCHANT_RULES_${name}`, value]);
    return startHost({ ...served.environment, ...Object.fromEntries(changed) });
  };
  const host = await nextRun();
  return await failureOf(async () => act(host, served.service, nextRun));
}

/** Gives the message with which a create fails that is always answered with a status. */
export function withStatus(contract: ContractInput, status: number): Promise<string> {
  return withHost(contract, async (host, service) => {
    service.faults.set({ kind: "status", status, operations: ["create"], times: "always" });
    await host.create(resource("limit", { definition: rule(1) }));
  });
}

/** Gives the message with which something fails. @throws Error: it did not */
export async function failureOf(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    if (isMerchantRulesError(error) || error instanceof HookFailure || error instanceof HookError) return error.message;
    throw error;
  }
  throw new Error("nothing failed");
}

/** Runs a verb of the local engine in a project of these files. */
async function inProject(
  files: Readonly<Record<string, string>>,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = newFolder({ "Pulumi.yaml": project, "index.js": "", ...files });
  const { code, stderr } = await run(["local", ...words, "--cwd", folder], environment);
  return `${stderr.replaceAll(folder, "/home/me/shop")}\nexit code ${code}`;
}
