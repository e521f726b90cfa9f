import { isDeepStrictEqual } from "node:util";
import { differences } from "../../../local/engine/deploy/property-diff.ts";
import { defaultConnection } from "../../../provider/settings/setting-names.ts";
import { linkField, ownerField } from "../../../provider/state/names.ts";
import { isJsonObject, type JsonObject } from "../../../sdk/json/index.ts";
import { HookFailure, type HookNames, type Host } from "./hosts.ts";

/** A resource in the state. */
export interface Kept {
  readonly kind: "owner" | "connection" | "rule" | "set";
  readonly name: string;
  /** The explicit provider by which it goes; "" for the default one. */
  provider: string;
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
  /** False: resources of rules get no Owner and no Connection: their inputs say which, or the host fills it in. */
  readonly connects?: boolean;
  /** Project and stack as the program has them now; default `shop/test`. The names of declared resources begin with them. */
  readonly names?: string;
  /** Explicit providers, each a process of its own, by name. */
  readonly providers?: Readonly<Record<string, Host>>;
  /** The names of explicit providers by the names of the resources that have one. */
  readonly providerOf?: Readonly<Record<string, string>>;
  /** As `--target`: the rules' resources that are come to. Owner and Connection are not. */
  readonly targets?: readonly string[] | undefined;
  /** The engine is killed when the Owner, or the first Connection, has been made: before its state has it, or after. */
  readonly dies?: { readonly with: "owner" | "connection"; readonly at: "before" | "after" } | undefined;
}

/** The engine was killed. */
export const killed = Symbol("killed");

/**
 * One run of the engine over the state of one stack: what the real one does, as far as hooks can tell. The Owner comes
 * first, a Connection before the first rule that uses it, and rules take its link; creates, updates and replacements as
 * resources are compared; deletes afterwards and only if all went well: rules, Connections that none uses, and in the
 * end the Owner; the state is kept up to date with every outcome.
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
  /** The Connections that the program uses, by provider and name; undefined of one that failed. */
  readonly #connections = new Map<string, Promise<Kept | undefined>>();

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
    const { connects = true, targets } = this.#choices;
    const isTarget = (name: string): boolean => targets?.includes(name) !== false;
    if (declared.length > 0) {
      const owner = connects ? await this.#tried("owner", () => this.#bringOwner()) : undefined;
      // What depends on it is not come to.
      if (connects && owner === undefined) return;
      await this.#bringAll(
        declared.filter(([name]) => isTarget(name)),
        owner,
      );
      if (this.failures.length > 0) return;
    }
    const names = new Set(declared.map(([name]) => name));
    await this.#removeAll((kept) => {
      if (kept.kind === "owner") return names.size === 0 && targets === undefined;
      if (kept.kind === "connection")
        return targets === undefined && (names.size === 0 || (connects && !this.#connections.has(keyOf(kept))));
      return isTarget(kept.name) && (kept.isCondemned || !names.has(kept.name));
    });
  }

  async refresh(): Promise<void> {
    // The engine reads in the order of the state; a run of many reads rules before their connection.
    const kept = this.#state.filter((each) => this.#isTarget(each));
    if (this.#choices.order?.isReversed) kept.reverse();
    await Promise.all(
      kept.map((each) =>
        this.#tried(each.name, async () => {
          const { id, props, inputs } = await this.#call(this.#of(each).read(each.id, each.outputs));
          if (id === "") this.#drop(each);
          else this.#save(() => Object.assign(each, { id, outputs: props, inputs, isPartial: false }));
        }),
      ),
    );
  }

  destroy(): Promise<void> {
    return this.#removeAll((kept) => this.#isTarget(kept));
  }

  #isTarget({ kind, name }: Kept): boolean {
    const { targets } = this.#choices;
    return targets === undefined || (hasRules(kind) && targets.includes(name));
  }

  /** Gives the hooks of a resource, in the process of its provider. */
  #of({ kind, provider }: Pick<Kept, "kind" | "provider">): Host {
    const host = provider === "" ? this.#host : this.#choices.providers?.[provider];
    if (host === undefined) throw new Error(`no host of provider ${provider}`);
    return host.as(hookNames[kind]);
  }

  /** Waits for a hook, until the engine dies. */
  #call<T>(hook: Promise<T>): Promise<T> {
    return Promise.race([hook, this.death.promise]);
  }

  /** Makes the Owner, or compares it, as the program's first resource. */
  async #bringOwner(): Promise<Kept> {
    const old = this.#state.find(({ kind }) => kind === "owner");
    if (this.#choices.targets !== undefined) return untargeted(old, "the Owner");
    return await this.#bringMemory({ kind: "owner", name: "owner", provider: "" }, { names: this.#names }, old);
  }

  /** Makes a Connection, or compares it, when its first resource is come to. */
  async #bringConnection(connection: string, provider: string, owner: Kept): Promise<Kept> {
    // The Connection of an explicit provider has its name.
    const made = { kind: "connection", name: provider === "" ? connection : provider, provider } as const;
    const old = this.#state.find((kept) => kept.kind === "connection" && keyOf(kept) === keyOf(made));
    if (this.#choices.targets !== undefined) return untargeted(old, `Connection ${connection}`);
    const { names: ownerNames = "" } = owner.outputs;
    const news = { connection, owner: owner.id, ownerNames, names: this.#names };
    return await this.#bringMemory(made, news, old);
  }

  get #names(): string {
    return this.#choices.names ?? "shop/test";
  }

  async #bringMemory(
    made: Pick<Kept, "name" | "provider"> & { readonly kind: "owner" | "connection" },
    news: JsonObject,
    old: Kept | undefined,
  ): Promise<Kept> {
    const hooks = this.#of(made);
    const inputs = await this.#checked(hooks, old?.inputs ?? {}, news);
    if (old !== undefined) {
      const { changes } = await this.#call(hooks.diff(old.id, old.outputs, inputs));
      const outputs = this.#isChange(changes, old, inputs)
        ? await this.#call(hooks.update(old.id, old.outputs, inputs))
        : old.outputs;
      this.#save(() => Object.assign(old, { inputs, outputs }));
      return old;
    }
    const { id, outs } = await this.#call(hooks.create(inputs));
    const { dies } = this.#choices;
    if (dies?.with === made.kind && dies.at === "before") this.die();
    const kept = this.#keep({ ...made, id, inputs, outputs: outs, isPartial: false });
    if (dies?.with === made.kind && dies.at === "after") this.die();
    if (this.isDead) throw killed;
    return kept;
  }

  /** Adds what the constructor of a resource adds: its names, and the link of its Connection. Undefined: that failed. */
  async #registered(name: string, news: JsonObject, owner: Kept | undefined): Promise<JsonObject | undefined> {
    if (owner === undefined) return news;
    const connection = typeof news.connection === "string" ? news.connection : defaultConnection;
    const provider = this.#providerOf(name);
    const key = keyOf({ provider, name: provider === "" ? connection : provider });
    const brought =
      this.#connections.get(key) ?? this.#tried(connection, () => this.#bringConnection(connection, provider, owner));
    this.#connections.set(key, brought);
    const link = (await brought)?.outputs.link;
    if (link === undefined) return undefined;
    const said = news[ownerField];
    const owners = isJsonObject(said) ? Object.entries(said) : [[`${this.#names}/${name}`, null] as const];
    const renamed = owners.map(([each, value]) => [each.startsWith("=") ? each : this.#renamed(each), value]);
    return { ...news, [ownerField]: Object.fromEntries(renamed), [linkField]: link };
  }

  /** The names of a resource, with project and stack as they are now. */
  #renamed(owner: string): string {
    return [this.#names, ...owner.split("/").slice(2)].join("/");
  }

  #providerOf(name: string): string {
    return this.#choices.providerOf?.[name] ?? "";
  }

  /** Checks and compares one resource after another; what is to be done goes on beside, unless the program waits. */
  async #bringAll(declared: readonly (readonly [string, JsonObject])[], owner: Kept | undefined): Promise<void> {
    const second = this.#choices.order?.second ?? "beside the first";
    const underWay: Promise<unknown>[] = [];
    const waiting: [string, () => Promise<void>][] = [];
    const begin = (name: string, step: () => Promise<void>): void => {
      const done = this.#tried(name, step);
      // It is waited for below, but for an engine that dies before.
      done.catch(() => undefined);
      underWay.push(done);
    };
    for (const [name, given] of declared) {
      const inputs = await this.#registered(name, given, owner);
      // What depends on it is not come to.
      if (inputs === undefined) break;
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
    const old = this.#state.find((kept) => hasRules(kept.kind) && kept.name === name && !kept.isCondemned);
    const kind = news.rules === undefined ? "rule" : "set";
    const provider = this.#providerOf(name);
    // The provider of now compares, whichever made the resource.
    const hooks = this.#of({ kind, provider });
    const inputs = await this.#checked(hooks, old?.inputs ?? {}, news);
    if (old === undefined) return () => this.#create({ kind, name, provider, inputs });
    const { changes, replaces, deleteBeforeReplace } = await this.#call(hooks.diff(old.id, old.outputs, inputs));
    if (replaces.length > 0) {
      const anew = await this.#checked(hooks, {}, news);
      return async () => {
        if (deleteBeforeReplace) await this.#remove(old);
        await this.#create({ kind, name, provider, inputs: anew }, old);
      };
    }
    if (this.#isChange(changes, old, inputs) || old.isPartial) return () => this.#update(old, inputs, provider);
    // The engine keeps the outputs of what is the same.
    return async () => this.#save(() => Object.assign(old, { inputs, provider }));
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

  async #create(made: Pick<Kept, "kind" | "name" | "provider" | "inputs">, replaced?: Kept): Promise<void> {
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

  async #update(old: Kept, inputs: JsonObject, provider: string): Promise<void> {
    try {
      const outputs = await this.#call(this.#of({ ...old, provider }).update(old.id, old.outputs, inputs));
      this.#save(() => Object.assign(old, { inputs, outputs, provider, isPartial: false }));
      this.applied.add(old.name);
    } catch (error) {
      const { partial } = error instanceof HookFailure ? error : {};
      if (partial !== undefined)
        this.#save(() => Object.assign(old, { inputs, outputs: partial.properties, provider, isPartial: true }));
      throw error;
    }
  }

  /** Deletes: rules first, then what all of them depend on; nothing more after a failure. */
  async #removeAll(isMeant: (kept: Kept) => boolean): Promise<void> {
    const meant = this.#state.filter(isMeant);
    const of = (...kinds: Kept["kind"][]): Kept[] => meant.filter(({ kind }) => kinds.includes(kind));
    const { isReversed = false, second = "beside the first" } = this.#choices.order ?? {};
    const rules = of("rule", "set");
    for (const kept of [isReversed ? rules.toReversed() : rules, of("connection"), of("owner")]) {
      const removing = (each: Kept): Promise<unknown> => this.#tried(each.name, () => this.#remove(each));
      if (second === "after the first") for (const each of kept) await removing(each);
      else await Promise.all(kept.map(removing));
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
  #keep(made: Omit<Kept, "isCondemned">, replaced?: Kept): Kept {
    const kept = { ...made, isCondemned: false };
    this.#save(() => {
      if (replaced !== undefined) replaced.isCondemned = true;
      this.#state.push(kept);
    });
    return kept;
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

const hookNames = {
  owner: "owner",
  connection: "connection",
  rule: "merchantRule",
  set: "merchantRuleSet",
} as const satisfies Record<Kept["kind"], HookNames>;

function hasRules(kind: Kept["kind"]): boolean {
  return kind === "rule" || kind === "set";
}

/** Tells Connections apart: two providers may each have one of a name. */
function keyOf({ provider, name }: Pick<Kept, "provider" | "name">): string {
  return `${provider}\n${name}`;
}

/** What a run of targets needs and does not come to. @throws HookFailure: the state has it not */
function untargeted(old: Kept | undefined, what: string): Kept {
  if (old === undefined) throw new HookFailure(`${what} was not made, because it is no target`);
  return old;
}

/** One stack, and the engine's runs over it. Each gives what failed in it. */
export class EngineModel {
  readonly #state: Kept[] = [];
  readonly #choices: RunChoices;
  #dies: RunChoices["dies"];

  constructor(choices: RunChoices = {}) {
    this.#choices = choices;
  }

  /** The resources of rules. */
  get state(): readonly Kept[] {
    return this.#state.filter(({ kind }) => hasRules(kind));
  }

  /** All resources: the Owner, Connections, and those of rules. */
  get wholeState(): readonly Kept[] {
    return this.#state;
  }

  /** True once the state has a Connection. */
  get hasConnection(): boolean {
    return this.#state.some(({ kind }) => kind === "connection");
  }

  /** Gives the same stack's runs over a copy of its state, as of a backend that was copied. */
  copied(choices: RunChoices = {}): EngineModel {
    const copy = new EngineModel({ ...this.#choices, ...choices });
    copy.#state.push(...structuredClone(this.#state));
    return copy;
  }

  /** Takes a resource out of the state, as `pulumi state delete` does. */
  forget(name: string): void {
    const at = this.#state.findIndex((kept) => hasRules(kept.kind) && kept.name === name);
    if (at >= 0) this.#state.splice(at, 1);
  }

  /** Gives a resource another name, as `aliases` in the program do. */
  alias(from: string, to: string): void {
    const at = this.#state.findIndex((kept) => hasRules(kept.kind) && kept.name === from);
    const kept = this.#state[at];
    if (kept !== undefined) this.#state[at] = { ...kept, name: to };
  }

  /** Gives a resource to another stack, as `pulumi state move` does: with its Connection and Owner where that stack has none. */
  moveTo(other: EngineModel, name: string): void {
    const kept = this.state.find((each) => each.name === name);
    if (kept === undefined) throw new Error(`no resource ${name}`);
    for (const each of this.#state)
      if (!hasRules(each.kind) && !other.#state.some(({ kind, name }) => kind === each.kind && name === each.name))
        other.#state.push(structuredClone(each));
    other.#state.push(kept);
    this.forget(name);
  }

  /** Has the next run killed when its Connection, or its Owner, has been made: see `dies`. */
  dieAtConnection(at: "before" | "after", resource: "owner" | "connection" = "connection"): void {
    this.#dies = { with: resource, at };
  }

  /** @param choices of this run alone */
  async up(host: Host, declared: Readonly<Record<string, JsonObject>>, choices: RunChoices = {}): Promise<string[]> {
    const run = this.#run(host, choices);
    try {
      await run.up(Object.entries(declared));
    } catch (error) {
      if (error !== killed) throw error;
      return ["the engine was killed"];
    }
    return run.failures.map(({ message }) => message);
  }

  async refresh(host: Host, choices: RunChoices = {}): Promise<string[]> {
    const run = this.#run(host, choices);
    await run.refresh();
    return run.failures.map(({ message }) => message);
  }

  async destroy(host: Host, choices: RunChoices = {}): Promise<string[]> {
    const run = this.#run(host, choices);
    await run.destroy();
    return run.failures.map(({ message }) => message);
  }

  #run(host: Host, choices: RunChoices): EngineRun {
    const dies = this.#dies;
    this.#dies = undefined;
    return new EngineRun(this.#state, host, { ...this.#choices, ...choices, dies: dies ?? choices.dies });
  }
}
