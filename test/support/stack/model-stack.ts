import { expect } from "vitest";
import { siteIn } from "../../../provider/merchant/site.ts";
import { isJsonObject, type JsonObject } from "../../../sdk/json/index.ts";
import { EngineModel, type Kept, type RunChoices } from "./engine-model.ts";
import type { World } from "./hooks.ts";
import { type Host, hooksHere, sessionOf } from "./hosts.ts";

/** What one run is given beside the program. */
export interface RunSettings extends Omit<RunChoices, "providers"> {
  /** Variables beside those of the world. */
  readonly environment?: Record<string, string>;
  /** The stack's config, by whole keys. */
  readonly config?: Record<string, string>;
  /** The inputs of explicit providers beside address and contract, by name: `{ sandbox: { token } }`. */
  readonly providers?: Readonly<Record<string, Record<string, string>>>;
}

/** What came of a run. */
export interface Ended {
  /** Errors of hooks; none where the run ended with 0. */
  readonly failures: readonly string[];
  /** What was printed beside them. */
  readonly said: string;
  /** Both. */
  readonly text: string;
}

/** One stack with an Owner and Connections, each of whose runs is a process of its own: all is as in the state. */
export class ModelStack {
  readonly engine: EngineModel;
  readonly #world: World;
  readonly #settings: RunSettings;

  /** @param settings of every run, where a run does not say otherwise */
  constructor(world: World, settings: RunSettings = {}, engine: EngineModel = new EngineModel()) {
    this.#world = world;
    this.#settings = settings;
    this.engine = engine;
  }

  /** A stack whose backend is a copy of this one's. */
  copied(settings: RunSettings = {}): ModelStack {
    return new ModelStack(this.#world, { ...this.#settings, ...settings }, this.engine.copied());
  }

  up(declared: Readonly<Record<string, JsonObject>>, settings: RunSettings = {}): Promise<Ended> {
    return this.#run(settings, (host, choices) => this.engine.up(host, declared, choices));
  }

  refresh(settings: RunSettings = {}): Promise<Ended> {
    return this.#run(settings, (host, choices) => this.engine.refresh(host, choices));
  }

  /** `up --refresh`: both in one process. */
  refreshedUp(declared: Readonly<Record<string, JsonObject>>, settings: RunSettings = {}): Promise<Ended> {
    return this.#run(settings, async (host, choices) => {
      const failures = await this.engine.refresh(host, choices);
      return failures.length > 0 ? failures : await this.engine.up(host, declared, choices);
    });
  }

  destroy(settings: RunSettings = {}): Promise<Ended> {
    return this.#run(settings, (host, choices) => this.engine.destroy(host, choices));
  }

  /** The owner id: the id of the Owner. */
  get ownerId(): string {
    return this.#memory("owner").id;
  }

  /** What a Connection gives its rules. */
  linkOf(connection = "default"): string {
    return String(this.#memory("connection", connection).outputs.link);
  }

  #memory(kind: "owner" | "connection", name?: string): Kept {
    const found = this.engine.wholeState.find((kept) => kept.kind === kind && (name ?? kept.name) === kept.name);
    if (found === undefined) throw new Error(`no ${kind} ${name ?? ""} in the state`);
    return found;
  }

  /** The outputs of a resource of rules. */
  outputsOf(name: string): JsonObject {
    return this.engine.state.find((kept) => kept.name === name)?.outputs ?? {};
  }

  /** Where the state says that the rules of a resource are. */
  siteOf(name: string) {
    return siteIn(this.outputsOf(name).at);
  }

  /** The ruleIds of the state by resource, of a set by `resource.key`. */
  ids(): Record<string, unknown> {
    const entries = this.engine.state.flatMap(({ name, id, outputs: { ruleId, ruleIds } }): [string, unknown][] =>
      isJsonObject(ruleIds)
        ? Object.entries(ruleIds).map(([key, each]) => [`${name}.${key}`, each])
        : [[name, ruleId ?? id]],
    );
    return Object.fromEntries(entries);
  }

  async #run(settings: RunSettings, run: (host: Host, choices: RunChoices) => Promise<string[]>): Promise<Ended> {
    const { environment = {}, config = {}, providers = {}, ...choices } = { ...this.#settings, ...settings };
    const variables = { ...this.#world.environment, ...environment };
    const said: string[] = [];
    const hostOf = (own: Record<string, string>): Host => hooksHere("merchantRule", sessionOf(variables, own), said);
    const hosts = Object.entries(providers).map(([name, inputs]) => {
      const { MERCHANT_RULES_BASE_URL: baseUrl = "", MERCHANT_RULES_CONTRACT: contract = "" } = variables;
      const all = Object.entries({ baseUrl, contract, ...inputs, provider: name });
      return [name, hostOf(Object.fromEntries(all.map(([key, value]) => [`merchant-rules:${key}`, value])))] as const;
    });
    const failures = await run(hostOf(config), { ...choices, providers: Object.fromEntries(hosts) });
    return { failures, said: said.join("\n"), text: [...said, ...failures].join("\n") };
  }
}

/** Demands that a run ended with 0. */
export async function good(run: Promise<Ended>): Promise<Ended> {
  const ended = await run;
  expect(ended.failures).toEqual([]);
  return ended;
}

/** Demands that a run was refused, and said each of these. */
export async function refused(run: Promise<Ended>, ...says: readonly (string | RegExp)[]): Promise<Ended> {
  const ended = await run;
  expect(ended.failures, "a run that has to be refused ended with 0").not.toEqual([]);
  for (const each of says) expect(ended.text).toMatch(each);
  return ended;
}

/** Returns the variable by which a refusal lets the user say a word for its case, or its cases. @throws Error: it names none */
export function wordIn({ text }: Pick<Ended, "text">, word: "SAME" | "MOVED" | "RECOVER"): Record<string, string> {
  const name = `MERCHANT_RULES_${word}`;
  const ids = [...text.matchAll(new RegExp(`\\b${name}=([0-9a-f]{4})\\b`, "g"))].map(([, id]) => id);
  if (ids.length === 0) throw new Error(`names no ${name}: ${text}`);
  return { [name]: [...new Set(ids)].join() };
}

/** Stack config of connections beside the default one. */
export function connectionsIn(connections: Readonly<Record<string, JsonObject>>): Record<string, string> {
  return { "merchant-rules:connections": JSON.stringify(connections) };
}
