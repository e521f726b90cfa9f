import { OwnerHooks } from "../../provider/hooks/owner-hooks.ts";
import { hashOfIdentity } from "../../provider/merchant/identity.ts";
import { type ContractInput, loadPreset, parseContract } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { entryPointFault } from "../../stack/project/entry-point.ts";
import { newFolder } from "../support/folder.ts";
import { marking, rule } from "../support/rules.ts";
import { merchants } from "../support/stack/contracts.ts";
import { startHost } from "../support/stack/hooks.ts";
import { HookFailure, type Host, othersMarkBy, ownedBy, resource, sessionOf } from "../support/stack/hosts.ts";
import { serve } from "../support/stack/service.ts";
import { failureOf, withHost, withStatus } from "./error-examples.ts";

/** A mark of somebody else's. */
const othersMark = `${"f".repeat(32)}.0123456789abcdef.${"0".repeat(16)} billing/prod/limits#night-limit`;

const preset = loadPreset("illustrative");
/** To compile the preset's JSON Schema of a definition takes longer than all else here. */
const full: ContractInput = { ...preset, rule: { ...preset.rule, schema: null } };
const patient: ContractInput = { ...full, limits: { maxAttempts: 2 } };
const marks: ContractInput = { ...marking, rule: { ...marking.rule, schema: null } };
const declaring: ContractInput = {
  ...marks,
  operations: { ...marks.operations, update: { path: "/api/v1/merchants/rules/{ruleId}", body: "declared" } },
};

/** Gives a message of docs/troubleshooting.md by the way in which a user meets it; by the heading of its section. */
export const firstMessages: Readonly<Record<string, () => Promise<string>>> = {
  "The program has no entry point": async () => {
    const folder = newFolder({ "index.ts": "", "package.json": "{}" });
    const fault = entryPointFault({ programFolder: folder, entryPoint: ".", typescript: false });
    return `${fault?.reason}. What to do: ${fault?.advice}`;
  },
  "No address": async () => {
    const host = await startHost();
    return failureOf(() => host.create({ definition: rule(1) }));
  },
  "No token": () => withHost(full, (host) => host.create({ definition: rule(1) }), { TOKEN: "" }),
  "A field of the contract is unknown": () =>
    failureOf(() => parseContract("version: 1\nrule:\n  naturalkey: /name\n", "merchant-rules.contract.yaml")),
  "No contract": () =>
    withHost(
      full,
      async (host, _, nextRun) => {
        const { id, outs } = await host.create(resource("limit", { definition: rule(1) }));
        await (await nextRun()).delete(id, outs);
      },
      { CONTRACT: "" },
    ),
  "401": () => withHost(full, (host) => host.create({ definition: rule(1) }), { TOKEN: "wrong" }),
  "403": () => withStatus(patient, 403),
  "429": () => withStatus(patient, 429),
  "The service cannot be reached": () =>
    withHost(
      { ...full, limits: { maxAttempts: 2 } },
      (host) => host.create(resource("limit", { definition: rule(1) })),
      { BASE_URL: "http://127.0.0.1:9" },
    ),
  "The answer is not JSON": () =>
    withHost(full, async (host, service) => {
      service.faults.set({ kind: "not-json", operations: ["list"], times: "always" });
      await host.create(resource("limit", { definition: rule(1) }));
    }),
  "The rule exists already": () =>
    withHost(full, async (host, service) => {
      service.put(undefined, rule(1));
      await host.create(resource("limit", { definition: rule(1) }));
    }),
  "The rule is somebody else's": () =>
    withHost(marks, async (host, service) => {
      service.put(undefined, rule(1, { metadata: { managedBy: othersMark } }));
      await host.create(resource("limit", { definition: rule(1) }));
    }),
  "The mark has the names of this stack": () =>
    withHost(marks, async (host, service) => {
      service.put(undefined, rule(1, { metadata: { managedBy: othersMarkBy("shop/prod/limit") } }));
      await host.create(resource("limit", { definition: rule(1) }));
    }),
  "The write would erase something": () =>
    withHost(declaring, async (host, service) => {
      service.put(undefined, rule(1, { metadata: { ticket: "PAY-7" } }));
      const { conditions: _, ...definition } = rule(1);
      const { id, outs } = await host.create(resource("limit", { definition, adopt: true }));
      await host.update(id, outs, resource("limit", { definition: { ...definition, priority: 5 }, adopt: true }));
    }),
  "The set has no rules": () => withHost(full, async (host) => checked(host, { rules: {} })),
  "The set loses every rule": () =>
    withHost(full, async (host) => {
      const sets = host.as("merchantRuleSet");
      const { id, outs } = await sets.create(resource("all", { rules: { a: rule(1), b: rule(2) } }));
      await sets.diff(id, outs, resource("all", { rules: { c: rule(3) } }));
    }),
  "Another place": () =>
    withHost(full, async (host) => {
      const { id, outs } = await host.create(resource("limit", { definition: rule(1) }));
      const other = await serve(full);
      const there = await startHost(other.environment);
      await there.update(id, outs, resource("limit", { definition: rule(1, { priority: 5 }) }));
    }),
  "A rule is not as the state knows it": () =>
    withHost(full, async (host, service, nextRun) => {
      const sets = host.as("merchantRuleSet");
      const declared = (priority: number) =>
        resource("all", { rules: { a: rule(1, { priority }), b: rule(2), c: rule(3) } });
      const { id, outs } = await sets.create(declared(1));
      service.put("1", rule(1, { priority: 9 }));
      const next = (await nextRun(otherKey)).as("merchantRuleSet");
      await next.diff(id, outs, declared(5));
      await next.update(id, outs, declared(5));
    }),
  "The id was given again": () =>
    withHost(full, async (host, service) => {
      const { id, outs } = await host.create(resource("limit", { definition: rule(1) }));
      service.put(id, rule(9));
      await host.update(id, outs, resource("limit", { definition: rule(1, { priority: 5 }) }));
    }),
  "Other credentials": async () => {
    const asking = { ...full, auth: { identity: { path: "/me", at: "/account/id" } } };
    const { environment } = await serve(asking, { merchants });
    const host = await startHost({ ...environment, MERCHANT_RULES_TOKEN: "token-globex" });
    const asAcme = ownedBy("shop/prod/limit", hashOfIdentity("acme"));
    return await failureOf(() => host.create({ definition: rule(1), ...asAcme }));
  },
  "The identity stands elsewhere": () =>
    failureOf(async () => {
      const { environment } = await serve(full);
      const host = await startHost(environment, "merchantRule", { "merchant-rules:identity": "m-17" });
      await host.create(resource("limit", { definition: rule(1) }));
    }),
  "The stack has another name": () => ownerDiff({ names: "shop/dev", stateVersion: 3 }),
  "The state has another version": () => ownerDiff({ names: "shop/prod", stateVersion: 2 }),
  "The rule may exist": () =>
    withHost({ version: 1, limits: { maxAttempts: 1 } }, async (host, service) => {
      service.faults.set({ kind: "close", at: "after", operations: ["create"] });
      await host.create(resource("limit", { definition: rule(1) }));
    }),
};

/** Other credentials of the same merchant, of which nothing tells that they are that. */
const otherKey = { TOKEN: "", CLIENT_ID: "local-client", CLIENT_SECRET: "local-secret" };

/** Gives the message with which the Owner of the stack shop/prod is compared with a state. */
function ownerDiff(olds: JsonObject): Promise<string> {
  const hooks = new OwnerHooks(sessionOf({}));
  return failureOf(() => hooks.diff("0".repeat(32), olds, { names: "shop/prod" }));
}

async function checked(host: Host, inputs: Parameters<Host["check"]>[0]): Promise<never> {
  const { failures } = await host.as("merchantRuleSet").check(resource("all", inputs));
  throw new HookFailure(failures.map(({ property, reason }) => `${property} ${reason}`).join("\n"));
}
