import { expect } from "vitest";
import {
  type LocalService,
  type LocalServiceOptions,
  localCredentials,
  startLocalService,
} from "../../../local/service/index.ts";
import { type ContractInput, defineContract, loadPreset } from "../../../sdk/contract/index.ts";
import { type JsonObject, valueAt, withValueAt } from "../../../sdk/json/index.ts";
import { atEnd } from "../ends.ts";
import { newFile } from "../folder.ts";
import { owner } from "./contracts.ts";

export interface ServeOptions extends Omit<LocalServiceOptions, "contract"> {
  /** The contract that clients believe, where it is not the service's. */
  readonly spoken?: ContractInput | JsonObject;
  /** Variables beside those by which a client finds the service. */
  readonly environment?: Record<string, string>;
}

/** A service, and what a client needs to find it. */
export interface Served {
  readonly service: LocalService;
  /** The file with the clients' contract. */
  readonly contractFile: string;
  /** The variables by which a client finds the service: address, contract, and the token of the first merchant. */
  readonly environment: Record<string, string>;
  /** The names of all rules, in order. */
  names(): string[];
  /** The ruleIds of all rules, in order. */
  ids(): string[];
  /** The definitions of all rules, by name in order. */
  definitions(): JsonObject[];
  /** The one rule of a name, as it is now. */
  named(name: unknown): { readonly ruleId: string; readonly rule: JsonObject };
  /** The ruleId of the one rule of a name. */
  idOf(name: unknown): string;
  /** The mark of the one rule of a name. */
  markOf(name: unknown): string;
  /** Makes a rule with a mark, as a run does that no state knows of. Gives its ruleId. */
  putMarked(definition: JsonObject, mark: string): string;
  /** The rules as a list shows them. */
  shown(): JsonObject[];
  /** Changes fields of the one rule of a name by hand. */
  edit(name: unknown, changes: JsonObject): void;
  /** The operations that were requested since the last call, in order. */
  asked(): string[];
  /** How often each operation was requested since the last call. */
  counted(): Record<string, number>;
  /** Ends before the test does. */
  close(): Promise<void>;
}

/** Starts a service until the test ends. */
export async function startService(options: LocalServiceOptions): Promise<LocalService> {
  const service = await startLocalService(options);
  atEnd(() => service.close());
  return service;
}

/** Serves a contract, or the illustrative one, until the test ends. */
export async function serve(
  contract?: ContractInput,
  { spoken, environment = {}, ...options }: ServeOptions = {},
): Promise<Served> {
  const service = await startService({
    ...options,
    contract: contract === undefined ? loadPreset("illustrative") : defineContract(contract),
  });
  const told = spoken ?? contract;
  const contractFile = told === undefined ? "illustrative" : contractFileOf(told);
  const named = (name: unknown) => {
    const found = service.rules().filter(({ rule }) => rule.name === name);
    expect(found, `rules named ${name}`).toHaveLength(1);
    return found[0] ?? { ruleId: "", rule: {} };
  };
  const asked = () => {
    const operations = service.requests.map(({ operation }) => String(operation));
    service.resetRequests();
    return operations;
  };
  return {
    service,
    contractFile,
    environment: {
      MERCHANT_RULES_BASE_URL: service.url,
      MERCHANT_RULES_CONTRACT: contractFile,
      MERCHANT_RULES_TOKEN: options.merchants?.[0]?.token ?? options.credentials?.token ?? localCredentials.token,
      ...environment,
    },
    names: () => namesOf(service.rules()),
    ids: () => idsOf(service.rules()),
    definitions: () =>
      service
        .rules()
        .map(({ rule }) => rule)
        .sort((one, other) => String(one.name).localeCompare(String(other.name))),
    named,
    idOf: (name) => named(name).ruleId,
    markOf: (name) => String(valueAt(named(name).rule, owner.at)),
    putMarked: (definition, mark) => service.put(undefined, Object(withValueAt(definition, owner.at, mark))),
    shown: () => service.rules().map(({ ruleId, rule }) => ({ id: ruleId, ...rule })),
    edit(name, changes) {
      const { ruleId, rule } = named(name);
      service.put(ruleId, { ...rule, ...changes });
    },
    asked,
    counted: () =>
      Object.fromEntries(
        Map.groupBy(asked(), (each) => each)
          .entries()
          .map(([name, all]) => [name, all.length]),
      ),
    close: () => service.close(),
  };
}

/** Gives the names of rules, in order. */
export function namesOf(rules: readonly { readonly rule: JsonObject }[]): string[] {
  return rules.map(({ rule }) => String(rule.name)).sort();
}

/** Gives the ruleIds of rules, in order. */
export function idsOf(rules: readonly { readonly ruleId: string }[]): string[] {
  return rules.map(({ ruleId }) => ruleId).sort();
}

/** Writes a contract into a file, for clients of any service. Gives its path. */
export function contractFileOf(contract: ContractInput | JsonObject): string {
  return newFile("contract.json", JSON.stringify(contract));
}

/** Gives the marks of the rules at the service; undefined where a rule has none. */
export function marksOf({ service }: Pick<Served, "service">): unknown[] {
  return service.rules().map(({ rule }) => valueAt(rule, owner.at));
}
