import { isDeepStrictEqual } from "node:util";
import { differences } from "../../../local/engine/deploy/property-diff.ts";
import { connectionIdField } from "../../../provider/state/names.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";
import { HookFailure, type Host } from "./hosts.ts";

/** A resource in the state. */
export interface Kept {
  readonly kind: "connection" | "rule" | "set";
  readonly name: string;
  id: string;
  inputs: JsonObject;
  outputs: JsonObject;
  /** The last run failed in part, so that the next one updates whatever diff says. */
  isPartial: boolean;
  /** Replaced already, and to be deleted. */
  isCondemned: boolean;
}

/** Decides whether two states are the same to the engine: in inputs, null and absent are. */
export function isSameState(one: readonly Kept[], other: readonly Kept[]): boolean {
  const rest = (state: readonly Kept[]) => state.map(({ inputs: _, ...kept }) => kept);
  return (
    isDeepStrictEqual(rest(one), rest(other)) &&
    one.every(({ inputs }, at) => differences(inputs, other[at]?.inputs ?? {}).length === 0)
  );
}

/** When the engine begins with the next resource: the order of registrations, and what it waits for. */
export interface Order {
  readonly isReversed: boolean;
  readonly second: "after the first" | "beside the first" | "as soon as the first is compared";
}

export interface RunChoices {
  readonly order?: Order;
  /** Resources of rules get no Connection: their inputs say which one it is, or that there is none. */
  readonly connects?: boolean;
  /** The Connection that the program declares. */
  readonly connection?: JsonObject;
  /** The Connection is replaced, as `--replace` does. */
  readonly replacesConnection?: boolean;
  /** The engine is killed when the Connection has been made: before its state has it, or after, and nothing else is begun. */
  readonly diesAtConnection?: "before" | "after" | undefined;
}

/** The engine was killed. */
export const killed = Symbol("killed");

/**
 * One run of the engine over the state of one stack: what the real one does, as far as hooks can tell. The Connection
 * comes first, and the others take its id; creates, updates and replacements as resources are compared; deletes
 * afterwards and only if all went well, the Connection's last; the state is kept up to date with every outcome.
 */
export class EngineRun {
  /** Errors by the resource that they came of. */
  readonly failures: { readonly name: string; readonly message: string }[] = [];
  /** The names of resources that a hook has made or changed in this run. */
  readonly applied = new Set<string>();
  readonly death = Promise.withResolvers<never>();
  isDead = false;
  readonly #state: Kept[];
  readonly #host: Host;
  readonly #choices: RunChoices;

  constructor(state: Kept[], host: Host, choices: RunChoices = {}) {
    this.#state = state;
    this.#host = host;
    this.#choices = choices;
    this.death.promise.catch(() => undefined);
  }

  /** Ends the engine's life: nothing more is begun or written to the state, and the run rejects with `killed`. */
  die(): void {
    this.isDead = true;
    this.death.reject(killed);
  }

  /** Makes one `up` of the resources by name, in the order of their registration. */
  async up(declared: readonly (readonly [string, JsonObject])[]): Promise<void> {
    const { connects = true } = this.#choices;
    if (declared.length > 0) {
      const own = connects ? await this.#tried("default", () => this.#bringConnection()) : {};
      // What depends on it is not come to.
      if (own === undefined) return;
      await this.#bringAll(declared.map(([name, inputs]) => [name, { ...inputs, ...own }]));
      if (this.failures.length > 0) return;
    }
    const names = new Set(declared.map(([name]) => name));
    await this.#removeAll(
      ({ kind, name, isCondemned }) => isCondemned || (kind === "connection" ? names.size === 0 : !names.has(name)),
    );
  }

  async refresh(): Promise<void> {
    // The engine reads in the order of the state; a run of many reads rules before their connection.
    const kept = this.#choices.order?.isReversed ? this.#state.toReversed() : [...this.#state];
    await Promise.all(
      kept.map((each) =>
        this.#tried(each.name, async () => {
          const { id, props, inputs } = await this.#call(this.#of(each).read(each.id, each.outputs));
          if (each.kind === "connection") return;
          if (id === "") this.#drop(each);
          else this.#save(() => Object.assign(each, { id, outputs: props, inputs, isPartial: false }));
        }),
      ),
    );
  }

  destroy(): Promise<void> {
    return this.#removeAll(() => true);
  }

  /** Gives the hooks of a resource. */
  #of({ kind }: Pick<Kept, "kind">): Host {
    if (kind === "connection") return this.#host.as("connection");
    return this.#host.as(kind === "set" ? "merchantRuleSet" : "merchantRule");
  }

  /** Waits for a hook, until the engine dies. */
  #call<T>(hook: Promise<T>): Promise<T> {
    return Promise.race([hook, this.death.promise]);
  }

  /** Makes the Connection, or compares it. Gives what its resources take of it. */
  async #bringConnection(): Promise<JsonObject> {
    const { connection: news = { connection: "default", project: "shop", stack: "test" } } = this.#choices;
    const old = this.#state.find(({ kind, isCondemned }) => kind === "connection" && !isCondemned);
    const hooks = this.#of({ kind: "connection" });
    const checked = await this.#checked(hooks, old?.inputs ?? {}, news);
    if (old !== undefined && this.#choices.replacesConnection !== true) {
      const { changes } = await this.#call(hooks.diff(old.id, old.outputs, checked));
      if (this.#isChange(changes, old, checked)) {
        const outputs = await this.#call(hooks.update(old.id, old.outputs, checked));
        this.#save(() => Object.assign(old, { inputs: checked, outputs }));
      } else this.#save(() => Object.assign(old, { inputs: checked }));
      return { [connectionIdField]: old.id };
    }
    const anew = old === undefined ? checked : await this.#checked(hooks, {}, news);
    const { id, outs } = await this.#call(hooks.create(anew));
    const { diesAtConnection } = this.#choices;
    if (diesAtConnection === "before") this.die();
    this.#keep({ kind: "connection", name: "default", id, inputs: anew, outputs: outs, isPartial: false }, old);
    if (diesAtConnection === "after") this.die();
    if (this.isDead) throw killed;
    return { [connectionIdField]: id };
  }

  /** Checks and compares one resource after another; what is to be done goes on beside, unless the program waits. */
  async #bringAll(declared: readonly (readonly [string, JsonObject])[]): Promise<void> {
    const second = this.#choices.order?.second ?? "beside the first";
    const underWay: Promise<unknown>[] = [];
    const waiting: [string, () => Promise<void>][] = [];
    const begin = (name: string, step: () => Promise<void>): void => {
      const done = this.#tried(name, step);
      // It is waited for below, but for an engine that dies before.
      done.catch(() => undefined);
      underWay.push(done);
    };
    for (const [name, inputs] of declared) {
      const step = await this.#tried(name, () => this.#compared(name, inputs));
      if (step === undefined) break;
      if (second === "beside the first") waiting.push([name, step]);
      else begin(name, step);
      if (second === "after the first") await underWay.at(-1);
      if (second === "after the first" && this.failures.length > 0) return;
    }
    for (const [name, step] of waiting) begin(name, step);
    await Promise.all(underWay);
  }

  async #compared(name: string, news: JsonObject): Promise<() => Promise<void>> {
    const old = this.#state.find((kept) => kept.kind !== "connection" && kept.name === name && !kept.isCondemned);
    const kind = news.rules === undefined ? "rule" : "set";
    const hooks = this.#of({ kind });
    const inputs = await this.#checked(hooks, old?.inputs ?? {}, news);
    if (old === undefined) return () => this.#create({ kind, name, inputs });
    const { changes, replaces, deleteBeforeReplace } = await this.#call(hooks.diff(old.id, old.outputs, inputs));
    if (replaces.length > 0) {
      const anew = await this.#checked(hooks, {}, news);
      return async () => {
        if (deleteBeforeReplace) await this.#remove(old);
        await this.#create({ kind, name, inputs: anew }, old);
      };
    }
    if (this.#isChange(changes, old, inputs) || old.isPartial) return () => this.#update(old, inputs);
    // The engine keeps the outputs of what is the same.
    return async () => this.#save(() => Object.assign(old, { inputs }));
  }

  /** Decides what a diff comes to: where the hook leaves it open, the engine compares the inputs by itself. */
  #isChange(changes: "unknown" | "none" | "some", { inputs: olds }: Kept, inputs: JsonObject): boolean {
    return changes === "unknown" ? differences(olds, inputs).length > 0 : changes === "some";
  }

  async #checked(hooks: Host, olds: JsonObject, news: JsonObject): Promise<JsonObject> {
    const { inputs, failures } = await this.#call(hooks.check(news, olds));
    if (failures.length === 0) return inputs;
    throw new HookFailure(failures.map(({ property, reason }) => `${property} ${reason}`).join("; "));
  }

  async #create(made: Pick<Kept, "kind" | "name" | "inputs">, replaced?: Kept): Promise<void> {
    try {
      const { id, outs } = await this.#call(this.#of(made).create(made.inputs));
      this.#keep({ ...made, id, outputs: outs, isPartial: false }, replaced);
      this.applied.add(made.name);
    } catch (error) {
      const { partial } = error instanceof HookFailure ? error : {};
      if (partial !== undefined)
        this.#keep({ ...made, id: partial.id, outputs: partial.properties, isPartial: true }, replaced);
      throw error;
    }
  }

  async #update(old: Kept, inputs: JsonObject): Promise<void> {
    try {
      const outputs = await this.#call(this.#of(old).update(old.id, old.outputs, inputs));
      this.#save(() => Object.assign(old, { inputs, outputs, isPartial: false }));
      this.applied.add(old.name);
    } catch (error) {
      const { partial } = error instanceof HookFailure ? error : {};
      if (partial !== undefined)
        this.#save(() => Object.assign(old, { inputs, outputs: partial.properties, isPartial: true }));
      throw error;
    }
  }

  /** Deletes: rules first, then connections, which all of them depend on; nothing more after a failure. */
  async #removeAll(isMeant: (kept: Kept) => boolean): Promise<void> {
    const meant = this.#state.filter(isMeant);
    const [connections, rules] = [true, false].map((is) => meant.filter(({ kind }) => (kind === "connection") === is));
    const { isReversed = false, second = "beside the first" } = this.#choices.order ?? {};
    for (const kept of [isReversed ? rules?.toReversed() : rules, connections]) {
      const removing = (each: Kept): Promise<unknown> => this.#tried(each.name, () => this.#remove(each));
      if (second === "after the first") for (const each of kept ?? []) await removing(each);
      else await Promise.all((kept ?? []).map(removing));
      if (this.failures.length > 0) return;
    }
  }

  async #remove(kept: Kept): Promise<void> {
    await this.#call(this.#of(kept).delete(kept.id, kept.outputs));
    this.#drop(kept);
  }

  #drop(kept: Kept): void {
    this.#save(() => this.#state.splice(this.#state.indexOf(kept), 1));
  }

  /** Keeps what was made, also in part, and in place of what. */
  #keep(made: Omit<Kept, "isCondemned">, replaced?: Kept): void {
    this.#save(() => {
      if (replaced !== undefined) replaced.isCondemned = true;
      this.#state.push({ ...made, isCondemned: false });
    });
  }

  /** Changes the state. A dead engine writes none. */
  #save(change: () => unknown): void {
    if (!this.isDead) change();
  }

  /** Runs a part of the run; what fails is noted. */
  async #tried<T>(name: string, run: () => Promise<T>): Promise<T | undefined> {
    try {
      return await run();
    } catch (error) {
      // Anything but what a hook says is a defect.
      if (!(error instanceof HookFailure)) throw error;
      this.failures.push({ name, message: error.message });
      return undefined;
    }
  }
}

/** One stack, and the engine's runs over it. Each gives what failed in it. */
export class EngineModel {
  readonly #state: Kept[] = [];
  readonly #choices: RunChoices;
  #diesAt: "before" | "after" | undefined;

  constructor(choices: RunChoices = {}) {
    this.#choices = choices;
  }

  /** The resources of rules. */
  get state(): readonly Kept[] {
    return this.#state.filter(({ kind }) => kind !== "connection");
  }

  /** True once the state has a Connection. */
  get hasConnection(): boolean {
    return this.#state.some(({ kind }) => kind === "connection");
  }

  /** Has the next run killed when its Connection has been made: see `diesAtConnection`. */
  dieAtConnection(at: "before" | "after"): void {
    this.#diesAt = at;
  }

  async up(host: Host, declared: Readonly<Record<string, JsonObject>>): Promise<string[]> {
    const run = new EngineRun(this.#state, host, { ...this.#choices, diesAtConnection: this.#diesAt });
    this.#diesAt = undefined;
    try {
      await run.up(Object.entries(declared));
    } catch (error) {
      if (error !== killed) throw error;
      return ["the engine was killed at its Connection"];
    }
    return run.failures.map(({ message }) => message);
  }

  async refresh(host: Host): Promise<string[]> {
    const run = new EngineRun(this.#state, host, this.#choices);
    await run.refresh();
    return run.failures.map(({ message }) => message);
  }
}
