import type { ContractInput } from "../../../sdk/contract/index.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { atEnd } from "../ends.ts";
import { contractOf } from "./contracts.ts";
import { EngineModel } from "./engine-model.ts";
import { type HookNames, type Host, hooksHere, sessionOf } from "./hosts.ts";
import { ProviderHost } from "./provider-host.ts";
import { type Served, type ServeOptions, serve } from "./service.ts";

/**
 * Gives the hooks as a provider host that has just started has them, until the test ends. `npm run test:all` runs the tests
 * that use it with a real host, which costs a second each; else the hooks run from the sources, in this process.
 */
export async function startHost(
  environment: Record<string, string> = {},
  hooks: HookNames = "merchantRule",
  config: Record<string, string> = {},
): Promise<Host> {
  if (process.env.TEST_HOOKS !== "host") return hooksHere(hooks, sessionOf(environment, config));
  const host = await ProviderHost.start(config, environment, hooks);
  atEnd(() => host.close());
  return host;
}

/** A service, and hosts of hooks that find it. */
export interface World extends Served {
  /** Starts a provider host as a new run has it. */
  host(hooks?: HookNames, environment?: Record<string, string>): Promise<Host>;
}

/** Opens a world for one test. Without a contract it has everything that finds a rule; "illustrative" is the preset. */
export async function openWorld({
  contract = contractOf(),
  ...options
}: ServeOptions & { readonly contract?: ContractInput | "illustrative" } = {}): Promise<World> {
  const served = await serve(contract === "illustrative" ? undefined : contract, options);
  return {
    ...served,
    host: (hooks = "merchantRule", more = {}) => startHost({ ...served.environment, ...more }, hooks),
  };
}

/** Opens a world of the illustrative contract, or another one, and a host in it. */
export async function openHost(
  contract?: ContractInput,
  environment: Record<string, string> = {},
  hooks: HookNames = "merchantRule",
) {
  const served = await openWorld({ contract: contract ?? "illustrative", environment });
  const another = () => served.host(hooks);
  return { host: await another(), served, another };
}

/** A stack whose every run is a provider host of its own. */
export class HookStack {
  readonly #engine = new EngineModel({ connects: false });
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
    return this.#engine.up(host, declared);
  }

  async refresh(environment: Record<string, string> = {}): Promise<string[]> {
    const host = await this.#world.host(this.#hooks, environment);
    return this.#engine.refresh(host);
  }
}

/** The operations that change something, of those that were requested. */
export function writesOf({ service }: World): string[] {
  return service.requests
    .map(({ operation }) => String(operation))
    .filter((operation) => ["create", "update", "delete"].includes(operation));
}
