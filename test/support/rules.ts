import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type LocalService,
  type LocalServiceOptions,
  localCredentials,
  startLocalService,
} from "../../local/service/index.ts";
import { markOf, markText, type Owner } from "../../provider/reconcile/mark.ts";
import { type ContractInput, defineContract, loadPreset } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";

/** A service of its own for one test, with a contract file and the environment that a provider finds it by. */
export interface ServedContract {
  readonly service: LocalService;
  readonly environment: Record<string, string>;
  close(): Promise<void>;
}

/** Serves a contract: the illustrative one, or one that is given. */
export async function serve(
  contract?: ContractInput,
  options: Omit<LocalServiceOptions, "contract"> = {},
): Promise<ServedContract> {
  const service = await startLocalService({
    ...options,
    contract: contract === undefined ? loadPreset("illustrative") : defineContract(contract),
  });
  const folder = mkdtempSync(join(tmpdir(), "served-"));
  const file = join(folder, "contract.json");
  if (contract !== undefined) writeFileSync(file, JSON.stringify(contract));
  return {
    service,
    environment: {
      MERCHANT_RULES_BASE_URL: service.url,
      MERCHANT_RULES_CONTRACT: contract === undefined ? "illustrative" : file,
      MERCHANT_RULES_TOKEN: localCredentials.token,
    },
    async close() {
      await service.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const preset = loadPreset("illustrative");

/** The illustrative contract of a service that keeps with each rule whose it is. */
export const marking: ContractInput = { ...preset, rule: { ...preset.rule, owner: { at: "/metadata/managedBy" } } };

/** A mark of another stack than that of the test. */
export function markBy(owner: Owner, key = ""): string {
  return markText(markOf("f".repeat(20), owner, key));
}

/** The rule number k of the workload that this product is measured by. */
export function rule(k: number, changes: JsonObject = {}): JsonObject {
  return {
    name: `rule-${k}`,
    priority: k,
    isActive: true,
    conditions: [{ field: "amount", operator: "gt", value: 10 * k }],
    actions: [{ type: "decline", reason: "limit 1" }],
    ...changes,
  };
}
