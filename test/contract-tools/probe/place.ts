import type { Given, Told } from "../../../contract-tools/probe/known.ts";
import { type Probed, type ProbeOptions, probe } from "../../../contract-tools/probe/probe.ts";
import { type LocalService, type LocalServiceOptions, localCredentials } from "../../../local/service/index.ts";
import { type ContractInput, defineContract } from "../../../sdk/contract/index.ts";
import { rule } from "../../support/rules.ts";
import { type Front, startFront } from "../../support/stack/front.ts";
import { startService } from "../../support/stack/service.ts";

/** A service that can be probed through a front, which may misbehave in its name. */
export interface ProbedPlace {
  readonly service: LocalService;
  readonly front: Front;
  /** Probes it, as somebody does who knows no more than the specification and these paths. */
  probe(told?: Partial<Told>, options?: ProbeOptions): Promise<Probed>;
}

const path = "/api/v1/merchants/rules";
export const listed: Given = { method: "GET", path, query: {} };
export const byPath: Given = { method: "DELETE", path: `${path}/{ruleId}`, query: {} };
export const byQuery: Given = { method: "DELETE", path, query: {} };

/** What the service does, that is to be found. */
export const deletesByQuery: ContractInput = {
  version: 1,
  operations: {
    delete: { identifyBy: { in: "query", name: "ruleId" } },
    list: { path, items: "/rules", lagMs: 0 },
  },
};

export const deletesByPath: ContractInput = {
  version: 1,
  operations: { delete: { path: byPath.path, identifyBy: { in: "path" } }, list: { path, items: "/rules", lagMs: 0 } },
};

/** Starts a service for one test. @param others the number of rules that are there before */
export async function place(
  contract: ContractInput,
  { others = 0, ...options }: Omit<LocalServiceOptions, "contract"> & { readonly others?: number } = {},
): Promise<ProbedPlace> {
  const service = await startService({ contract: defineContract(contract), ...options });
  for (let k = 1; k <= others; k += 1) service.put(`other-${k}`, rule(100 + k));
  const front = await startFront(service.url);
  const connection = {
    name: "default",
    baseUrl: front.url,
    contract: defineContract({ version: 1 }),
    parameters: {},
    credentials: { kind: "token" as const, token: localCredentials.token },
  };
  return {
    service,
    front,
    probe: (told = {}, options = {}) => {
      return probe({ connection, definition: rule(1), list: listed, ...told }, { waitMs: 150, ...options });
    },
  };
}
