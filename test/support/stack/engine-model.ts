import { isDeepStrictEqual } from "node:util";
import { differences } from "../../../local/engine/deploy/property-diff.ts";
import { connectionIdField } from "../../../provider/state/names.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { HookFailure, type Host } from "./hosts.ts";

/** The hooks of one kind of resource, in this process or in a provider host of their own. */
export interface Hooks {
  /** Gives the inputs that every later hook gets. Throws what is wrong with them. */
  check(olds: JsonObject, news: JsonObject): Promise<JsonObject>;
  diff(
    id: string,
    olds: JsonObject,
    news: JsonObject,
  ): Promise<{ changes: boolean | undefined; replaces: readonly string[]; deleteBeforeReplace: boolean }>;
  create(news: JsonObject): Promise<{ id: string; outs: JsonObject }>;
  read(id: string, props: JsonObject): Promise<{ id: string; props: JsonObject; inputs: JsonObject }>;
  update(id: string, olds: JsonObject, news: JsonObject): Promise<JsonObject>;
  delete(id: string, props: JsonObject): Promise<void>;
  /** The hooks of the resources' Connection. Without them, the declared inputs say which one it is, or that there is none. */
  readonly connection?: Hooks;
}

/** The Connection that the resources of a stack register. */
export const connectionInputs = { connection: "default", project: "shop", stack: "test" };

const killed = "the engine was killed at its Connection";

/** A resource in the state. */
export interface Kept {
  readonly name: string;
  id: string;
  inputs: JsonObject;
  outputs: JsonObject;
  /** The last run failed in part, so that the next one updates whatever diff says. */
  isPartial: boolean;
  /** Replaced already, and to be deleted. */
  isCondemned: boolean;
}

/** True where two states are the same to the engine: in inputs, null and absent are. */
export function isSameState(one: readonly Kept[], other: readonly Kept[]): boolean {
  const rest = (state: readonly Kept[]) => state.map(({ inputs: _, ...kept }) => kept);
  return (
    isDeepStrictEqual(rest(one), rest(other)) &&
    one.every(({ inputs }, at) => differences(inputs, other[at]?.inputs ?? {}).length === 0)
  );
}

/**
 * The engine's work on the resources of one stack, as far as hooks can tell: their Connection first, of which they
 * take the id; creates, updates and replacements at once; deletes afterwards and only if all went well, the Connection's
 * last; the state kept up to date with every outcome. A run gives what failed in it.
 */
export class EngineModel {
  #state: Kept[] = [];
  #connection: Kept | undefined;
  #diesAt: "before" | "after" | undefined;

  /** The resources of rules. */
  get state(): readonly Kept[] {
    return this.#state;
  }

  /** True once the state has a Connection. */
  get hasConnection(): boolean {
    return this.#connection !== undefined;
  }

  /** The next run is killed when its Connection has been made: before its state has it, or after, and nothing else is begun. */
  dieAtConnection(at: "before" | "after"): void {
    this.#diesAt = at;
  }

  async up(hooks: Hooks, declared: Readonly<Record<string, JsonObject>>): Promise<string[]> {
    const failures: string[] = [];
    let own: JsonObject;
    try {
      own = Object.keys(declared).length === 0 ? {} : await this.#connect(hooks.connection);
    } catch (error) {
      // What depends on it is not come to.
      return [messageOf(error)];
    }
    await Promise.all(
      Object.entries(declared).map(([name, inputs]) =>
        this.#bring(hooks, name, { ...inputs, ...own }).catch((error: Error) => failures.push(error.message)),
      ),
    );
    if (failures.length > 0) return failures;
    const unwanted = this.#state.filter(({ name, isCondemned }) => isCondemned || !Object.hasOwn(declared, name));
    await Promise.all(
      unwanted.map((kept) => this.#remove(hooks, kept).catch((error: Error) => failures.push(error.message))),
    );
    const { connection } = hooks;
    if (failures.length > 0 || Object.keys(declared).length > 0 || this.#connection === undefined) return failures;
    await connection?.delete(this.#connection.id, this.#connection.outputs);
    this.#connection = undefined;
    return failures;
  }

  async refresh(hooks: Hooks): Promise<string[]> {
    const failures: string[] = [];
    const { connection } = hooks;
    if (connection !== undefined && this.#connection !== undefined)
      await connection.read(this.#connection.id, this.#connection.outputs);
    await Promise.all(
      this.#state.map(async (kept) => {
        try {
          const { id, props, inputs } = await hooks.read(kept.id, kept.outputs);
          if (id === "") this.#drop(kept);
          else Object.assign(kept, { id, outputs: props, inputs, isPartial: false });
        } catch (error) {
          failures.push(messageOf(error));
        }
      }),
    );
    return failures;
  }

  /** Makes the Connection, or compares it; gives what its resources take of it. */
  async #connect(hooks: Hooks | undefined): Promise<JsonObject> {
    if (hooks === undefined) return {};
    const inputs = await hooks.check(this.#connection?.inputs ?? {}, connectionInputs);
    if (this.#connection === undefined) {
      const { id, outs } = await hooks.create(inputs);
      const diesAt = this.#diesAt;
      this.#diesAt = undefined;
      if (diesAt === "before") throw new Error(killed);
      this.#connection = { name: "default", id, inputs, outputs: outs, isPartial: false, isCondemned: false };
      if (diesAt === "after") throw new Error(killed);
    } else await hooks.diff(this.#connection.id, this.#connection.outputs, inputs);
    return { [connectionIdField]: this.#connection.id };
  }

  async #bring(hooks: Hooks, name: string, declared: JsonObject): Promise<void> {
    const old = this.#state.find((kept) => kept.name === name && !kept.isCondemned);
    const inputs = await hooks.check(old?.inputs ?? {}, declared);
    if (old === undefined) return this.#create(hooks, name, inputs);
    const { changes, replaces, deleteBeforeReplace } = await hooks.diff(old.id, old.outputs, inputs);
    if (replaces.length > 0) return this.#replace(hooks, old, inputs, deleteBeforeReplace);
    // Where the hook leaves it open, the engine compares the inputs by itself.
    const isChanged = changes ?? differences(old.inputs, inputs).length > 0;
    if (isChanged || old.isPartial) return this.#update(hooks, old, inputs);
    old.inputs = inputs;
  }

  async #create(hooks: Hooks, name: string, inputs: JsonObject): Promise<void> {
    const keep = (id: string, outputs: JsonObject, isPartial: boolean): void => {
      this.#state.push({ name, id, inputs, outputs, isPartial, isCondemned: false });
    };
    try {
      const { id, outs } = await hooks.create(inputs);
      keep(id, outs, false);
    } catch (error) {
      if (error instanceof HookFailure && error.partial !== undefined) {
        keep(error.partial.id, error.partial.properties, true);
      }
      throw error;
    }
  }

  async #update(hooks: Hooks, old: Kept, inputs: JsonObject): Promise<void> {
    try {
      Object.assign(old, { outputs: await hooks.update(old.id, old.outputs, inputs), inputs, isPartial: false });
    } catch (error) {
      if (error instanceof HookFailure && error.partial !== undefined) {
        Object.assign(old, { outputs: error.partial.properties, inputs, isPartial: true });
      }
      throw error;
    }
  }

  async #replace(hooks: Hooks, old: Kept, inputs: JsonObject, deleteFirst: boolean): Promise<void> {
    if (deleteFirst) await this.#remove(hooks, old);
    try {
      await this.#create(hooks, old.name, inputs);
    } finally {
      // Also where the new one came about in part.
      old.isCondemned = this.#state.some((kept) => kept !== old && kept.name === old.name && !kept.isCondemned);
    }
  }

  async #remove(hooks: Hooks, kept: Kept): Promise<void> {
    await hooks.delete(kept.id, kept.outputs);
    this.#drop(kept);
  }

  #drop(kept: Kept): void {
    this.#state = this.#state.filter((each) => each !== kept);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The hooks of a host, as the model of the engine calls them. */
export function hooksOf(host: Host): Hooks {
  const changes = { none: false, some: true, unknown: undefined };
  return {
    async check(olds, news) {
      const { inputs, failures } = await host.check(news, olds);
      if (failures.length === 0) return inputs;
      throw new Error(failures.map(({ property, reason }) => `${property} ${reason}`).join("; "));
    },
    async diff(id, olds, news) {
      const diff = await host.diff(id, olds, news);
      return { ...diff, changes: changes[diff.changes] };
    },
    create: (news) => host.create(news),
    read: (id, props) => host.read(id, props),
    update: (id, olds, news) => host.update(id, olds, news),
    delete: (id, props) => host.delete(id, props),
  };
}

/** The same with the hooks of a Connection, which the model of the engine makes and asks like any resource's. */
export function hooksWithConnection(host: Host): Hooks {
  return { ...hooksOf(host), connection: hooksOf(host.as("connection")) };
}

/** Gives the hooks of rules, sets and connections of a host: a set is told from a rule by what it declares, or has. */
export function hooksOfAll(host: Host): Hooks {
  const [rules, sets] = [hooksOf(host.as("merchantRule")), hooksOf(host.as("merchantRuleSet"))];
  const of = (properties: JsonObject): Hooks => (properties.rules === undefined ? rules : sets);
  return {
    check: (olds, news) => of(news).check(olds, news),
    diff: (id, olds, news) => of(news).diff(id, olds, news),
    create: (news) => of(news).create(news),
    read: (id, props) => of(props).read(id, props),
    update: (id, olds, news) => of(news).update(id, olds, news),
    delete: (id, props) => of(props).delete(id, props),
    connection: hooksOf(host.as("connection")),
  };
}
