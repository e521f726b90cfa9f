import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  type LocalService,
  type LocalServiceOptions,
  localCredentials,
  startLocalService,
} from "../../../local/service/index.ts";
import { markOf, markText as textOf } from "../../../provider/reconcile/mark.ts";
import { type ContractInput, defineContract } from "../../../sdk/contract/index.ts";
import { type JsonObject, valueAt } from "../../../sdk/json/index.ts";
import { contractOf, owner } from "./contracts.ts";
import { EngineModel, hooksOf } from "./engine-model.ts";
import { type HookNames, type Host, ownerIdOf, startHost } from "./hosts.ts";

export { failureOf, ownedBy } from "./hosts.ts";

/** The mark that a resource (`project/stack/name`) gives its rules, as a service keeps it. */
export function markText(of: string, key = ""): string {
  return textOf(markOf(ownerIdOf(of), of, key));
}

/** The marks of the rules at the service; undefined where a rule has none. */
export function marksOf({ service }: World): unknown[] {
  return service.rules().map(({ rule }) => valueAt(rule, owner.at));
}

export interface World {
  readonly service: LocalService;
  readonly environment: Record<string, string>;
  /** A provider host as a new run has it. It ends with the test. */
  host(hooks?: HookNames, environment?: Record<string, string>): Promise<Host>;
  /** The operations that were requested since the last call, in order. */
  asked(): string[];
}

/** A service of its own for one test. `spoken`: the contract that the provider believes, where it is another one. */
export async function open({
  contract = contractOf(),
  spoken = contract,
  environment = {},
  ...options
}: {
  contract?: ContractInput;
  spoken?: ContractInput;
  environment?: Record<string, string>;
} & Omit<LocalServiceOptions, "contract"> = {}): Promise<World> {
  const service = await startLocalService({ ...options, contract: defineContract(contract) });
  onTestFinished(() => service.close());
  const folder = mkdtempSync(join(tmpdir(), "world-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "contract.json");
  writeFileSync(file, JSON.stringify(spoken));
  const own = {
    MERCHANT_RULES_BASE_URL: service.url,
    MERCHANT_RULES_CONTRACT: file,
    MERCHANT_RULES_TOKEN: options.merchants?.[0]?.token ?? localCredentials.token,
    ...environment,
  };
  return {
    service,
    environment: own,
    host: (hooks = "merchantRule", more = {}) => hostFor(hooks, { ...own, ...more }),
    asked() {
      const operations = service.requests.map(({ operation }) => String(operation));
      service.resetRequests();
      return operations;
    },
  };
}

/** A provider host that ends with the test. */
export async function hostFor(
  hooks: HookNames,
  environment: Record<string, string>,
  config: Record<string, string> = {},
): Promise<Host> {
  const host = await startHost(config, environment, hooks);
  onTestFinished(() => host.close());
  return host;
}

/** A stack whose every run is a provider host of its own. */
export class Stack {
  readonly #engine = new EngineModel();
  readonly #world: World;
  readonly #hooks: HookNames;
  #last: Host | undefined;

  constructor(world: World, hooks: HookNames = "merchantRule") {
    this.#world = world;
    this.#hooks = hooks;
  }

  get state() {
    return this.#engine.state;
  }

  /** What the last run printed. */
  get said(): string {
    return this.#last?.stderr ?? "";
  }

  /** One `up`. Gives what failed. */
  async up(declared: Record<string, JsonObject>, environment: Record<string, string> = {}): Promise<string[]> {
    const host = await this.#world.host(this.#hooks, environment);
    this.#last = host;
    return this.#engine.up(hooksOf(host), declared);
  }

  async refresh(environment: Record<string, string> = {}): Promise<string[]> {
    const host = await this.#world.host(this.#hooks, environment);
    return this.#engine.refresh(hooksOf(host));
  }
}

/** The operations that change something, of those that were requested. */
export function writesOf({ service }: World): string[] {
  return service.requests
    .map(({ operation }) => String(operation))
    .filter((operation) => ["create", "update", "delete"].includes(operation));
}

/** The names of the rules that there are. */
export function namesOf(rules: readonly { readonly rule: JsonObject }[]): string[] {
  return rules.map(({ rule }) => String(rule.name)).sort();
}
