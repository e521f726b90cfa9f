import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadPreset } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { stubOf } from "../real/payments.ts";
import { contract, startWireMock } from "../real/wiremock.ts";
import { rule } from "../support/rules.ts";
import { type FrontRequest, startFront } from "../support/stack/front.ts";
import { serve } from "../support/stack/service.ts";
import type { RequestCounts } from "./steps.ts";
import type { ServiceName } from "./subjects.ts";

/** A service that the rules of a run are at, with none at the beginning. */
export interface MeasuredService {
  readonly url: string;
  readonly token: string;
  /** The variables by which a run finds it. */
  readonly environment: Record<string, string>;
  /** The rule number k as the service takes it; a change of the reason is a change of the rule. */
  definition(k: number, reason: string): JsonObject;
  /** It keeps whose a rule is, so that a destroy looks at its end for what is left. */
  readonly keepsMarks: boolean;
  /** The number of requests that read the list of so many rules. */
  listRequests(rules: number): number;
  resetRequests(): void;
  /** The requests since the last reset, by operation. */
  requests(): RequestCounts;
  /** All rules, by name. */
  rules(): Promise<Record<string, JsonObject>>;
  close(): Promise<void>;
}

export function startService(name: ServiceName): Promise<MeasuredService> {
  return name === "local" ? localService() : wireMock();
}

async function localService(): Promise<MeasuredService> {
  const { service, environment, close } = await serve();
  const { pageSize } = loadPreset("illustrative").limits;
  const operations = ["create", "get", "update", "delete", "list", "unknown"] as const;
  return {
    url: service.url,
    token: environment.MERCHANT_RULES_TOKEN ?? "",
    environment,
    definition: (k, reason) => rule(k, { actions: [{ type: "decline", reason }] }),
    keepsMarks: false,
    listRequests: (rules) => Math.ceil(rules / pageSize),
    resetRequests: () => service.resetRequests(),
    requests: () =>
      Object.fromEntries(
        operations.map((operation) => [operation, service.requestCount(operation)]).filter(([, count]) => count !== 0),
      ),
    rules: () => Promise.resolve(byName(service.rules())),
    close,
  };
}

const pageSize = 200;

/** Its requests come by a front in this process, which counts them. */
async function wireMock(): Promise<MeasuredService> {
  const service = await startWireMock();
  const front = await startFront(service.url);
  const folder = mkdtempSync(join(tmpdir(), "contract-"));
  const file = join(folder, "contract.json");
  writeFileSync(file, JSON.stringify({ ...contract, limits: { pageSize } }));
  return {
    url: front.url,
    token: service.token,
    environment: {
      MERCHANT_RULES_BASE_URL: front.url,
      MERCHANT_RULES_CONTRACT: file,
      MERCHANT_RULES_CLIENT_ID: service.user,
      MERCHANT_RULES_CLIENT_SECRET: service.password,
    },
    definition: (k, reason) => {
      const definition = stubOf({ name: `rule-${k}`, priority: k + 1, over: 10 * k, decision: "decline" });
      return { ...definition, response: { status: 200, jsonBody: { decision: "decline", reason } } };
    },
    keepsMarks: true,
    listRequests: (rules) => Math.max(1, Math.ceil(rules / pageSize)),
    resetRequests: () => void front.taken(),
    requests() {
      const counts: Record<string, number> = {};
      for (const request of front.taken()) counts[operationOf(request)] = (counts[operationOf(request)] ?? 0) + 1;
      return counts;
    },
    rules: async () => byName(await service.rules()),
    async close() {
      await front.close();
      await service.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const changing: Readonly<Record<string, keyof RequestCounts>> = { POST: "create", PUT: "update", DELETE: "delete" };

function operationOf({ method, path }: FrontRequest): keyof RequestCounts {
  return changing[method] ?? (path.startsWith("/__admin/mappings?") ? "list" : "get");
}

function byName(rules: readonly { readonly rule: JsonObject }[]): Record<string, JsonObject> {
  return Object.fromEntries(rules.map(({ rule: each }) => [String(each.name), each]));
}
