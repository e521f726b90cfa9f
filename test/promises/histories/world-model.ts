import { isDeepStrictEqual } from "node:util";
import { type FaultInput, type LocalService, startLocalService } from "../../../local/service/index.ts";
import type { Session } from "../../../provider/hooks/session.ts";
import { connectionIdIn, hashOfIdentity } from "../../../provider/reconcile/identity.ts";
import { ownerOf } from "../../../provider/reconcile/mark.ts";
import { connectionIdField, ownerField } from "../../../provider/state/names.ts";
import { type ContractInput, defineContract } from "../../../sdk/contract/index.ts";
import { isJsonObject, type JsonObject } from "../../../sdk/json/index.ts";
import { newFile } from "../../support/folder.ts";
import { contractOf, merchants } from "../../support/stack/contracts.ts";
import { HookFailure, type Host, hooksHere, sessionOf } from "../../support/stack/hosts.ts";

/** A contract's means: a mark, a natural key, an identity, a list. */
export interface Letters {
  readonly M: boolean;
  readonly N: boolean;
  readonly I: boolean;
  readonly L: boolean;
}

/** `MN-L`, as the model of the protocol writes it. */
export function lettersText({ M, N, I, L }: Letters): string {
  return [M && "M", N && "N", I && "I", L && "L"].map((letter) => letter || "-").join("");
}

export function lettersOf(text: string): Letters {
  const has = (letter: string): boolean => text.includes(letter);
  return { M: has("M"), N: has("N"), I: has("I"), L: has("L") };
}

/** One of the two merchants. */
export type Merchant = 0 | 1;
export const home: Merchant = 0;
export const otherMerchant: Merchant = 1;

/** A declared rule; `note` is the field that rules by hand have and nobody declares at first. */
export interface Declared {
  readonly name: "x" | "y";
  readonly priority: number;
  readonly note?: string;
}

/** A stack's program: its resources A and B. */
export interface Program {
  readonly A?: Declared;
  readonly B?: Declared;
}

/** A rule each, or one set with the keys A and B. */
export type Form = "rules" | "set";

/** Words of the user and of the program for one run. */
export interface Words {
  readonly adopt?: boolean;
  /** `adopt: "<ruleId>"`, by name of the rule in the program. */
  readonly adoptIds?: Readonly<Record<string, string>>;
  readonly recover?: boolean;
  readonly moved?: boolean;
  readonly acceptAllGone?: boolean;
  readonly formerNames?: boolean;
  /** `--replace` of the connection. */
  readonly replace?: boolean;
  /** The setting `identity`. */
  readonly identity?: Merchant;
}

/** A fault in a run, at its n-th write. */
export interface Fault {
  readonly write: number;
  readonly how:
    | "killed before"
    | "killed after"
    | "killed after the connection"
    | "no answer, not done"
    | "no answer, done"
    | "500, done"
    | "503, not done";
}

/** When the engine begins with the second resource: the order of registrations, and what it waits for. */
export interface Order {
  readonly isReversed: boolean;
  readonly second: "after the first" | "beside the first" | "as soon as the first is compared";
}

export type Verb = "up" | "refresh" | "destroy";

export interface RunChoice {
  readonly verb: Verb;
  readonly token: Merchant;
  readonly words: Words;
  readonly order: Order;
  readonly fault?: Fault | undefined;
}

export interface RunResult {
  readonly isGood: boolean;
  readonly isKilled: boolean;
  /** The lines that the run printed, and the errors of its hooks. */
  readonly output: string;
  /** Errors by the resource that they came of. */
  readonly failures: readonly { readonly name: string; readonly message: string }[];
  /** The names of resources that a hook has made or changed in this run. */
  readonly applied: ReadonlySet<string>;
}

/** A resource in the state. */
interface Kept {
  readonly kind: "connection" | Form;
  name: string;
  id: string;
  inputs: JsonObject;
  outputs: JsonObject;
  /** The last run failed in part, so that the next one updates whatever diff says. */
  isPartial: boolean;
  /** Replaced already, and to be deleted. */
  isCondemned: boolean;
}

/** A stack: its name, its program, its state, and what the test alone knows of it. */
export interface StackModel {
  /** The number of this making of the stack, which ghosts of rules name. */
  making: number;
  name: string;
  home: Merchant;
  program: Program;
  state: Kept[];
  /** A killed run left operations pending, which the engine says. */
  isPending: boolean;
  /** The state may be wrong: a run was killed, and no refresh has looked since. */
  isStale: boolean;
  /** At which merchant a rule of the state was made, by ruleId. */
  whereIs: Record<string, Merchant>;
  /** Rules that a run has spoken of, `0/7`. */
  told: string[];
}

/** The test's knowledge of a live rule. */
interface Ghost {
  readonly maker: number | "hand";
  /** The makings of stacks that may write it: its maker, and those that a word gave it to. */
  readonly owners: readonly number[];
  /** It has a field that nobody declared, from before it was taken over. */
  readonly hasOldNote: boolean;
}

export interface Rule {
  readonly key: string;
  readonly merchant: Merchant;
  readonly ruleId: string;
  readonly rule: JsonObject;
}

/** All that a history changes. */
interface Snapshot {
  readonly rules: readonly Rule[];
  readonly ghosts: ReadonlyMap<string, Ghost>;
  readonly stacks: readonly [StackModel, StackModel];
}

/** A field that somebody adds by hand. */
export const note = "by hand";

const owner = { at: "/metadata/managedBy" } as const;

function contractFor({ M, N, I, L }: Letters): ContractInput {
  const base = contractOf({
    rule: { naturalKey: N ? "/name" : null, ...(M ? { owner } : {}) },
    limits: { maxAttempts: 2 },
    ...(I ? { auth: { identity: { path: "/me", at: "/account/id" } } } : {}),
  });
  return L ? base : { ...base, operations: { ...base.operations, list: null } };
}

/** Two merchants of one service, two stacks, and what the test knows of who made which rule. */
export class World {
  readonly letters: Letters;
  readonly form: Form;
  readonly service: LocalService;
  readonly #environment: Record<string, string>;
  stacks: [StackModel, StackModel];
  ghosts = new Map<string, Ghost>();
  /** Of rules that are gone. */
  readonly graves = new Map<string, Ghost>();
  /** Violations that runs have shown by themselves. */
  readonly violations: { property: "P1" | "P5"; text: string }[] = [];

  private constructor(letters: Letters, form: Form, service: LocalService, secondHome: Merchant, secondName: string) {
    this.letters = letters;
    this.form = form;
    this.service = service;
    const file = newFile("contract.json", JSON.stringify(contractFor(letters)));
    this.#environment = { MERCHANT_RULES_BASE_URL: service.url, MERCHANT_RULES_CONTRACT: file };
    this.stacks = [newStack(0, "p", home), newStack(1, secondName, secondHome)];
  }

  static async open(
    letters: Letters,
    form: Form,
    { secondHome = home, secondName = "p" }: { secondHome?: Merchant; secondName?: string } = {},
  ): Promise<World> {
    const contract = defineContract(contractFor(letters));
    const service = await startLocalService({ contract, merchants, ruleIds: "sequential", allowDuplicates: true });
    return new World(letters, form, service, secondHome, secondName);
  }

  close(): Promise<void> {
    return this.service.close();
  }

  rules(): Rule[] {
    return ([0, 1] as const).flatMap((merchant) =>
      this.#byHand(merchant)
        .rules()
        .map(({ ruleId, rule }) => ({ key: `${merchant}/${ruleId}`, merchant, ruleId, rule })),
    );
  }

  /** Somebody makes, changes (by ruleId) a rule by hand. Gives its key. */
  put(merchant: Merchant, ruleId: string | undefined, rule: JsonObject): string {
    const key = `${merchant}/${this.#byHand(merchant).put(ruleId, rule)}`;
    if (ruleId === undefined) this.ghosts.set(key, { maker: "hand", owners: [], hasOldNote: "note" in rule });
    return key;
  }

  remove({ merchant, ruleId, key }: Rule): void {
    this.#byHand(merchant).remove(ruleId);
    this.ghosts.delete(key);
  }

  /** The rules of a merchant go to another one, with their ids. */
  migrate(rules: readonly Rule[], to: Merchant): void {
    for (const { ruleId, rule, merchant, key } of rules) {
      const ghost = this.ghosts.get(key);
      this.#byHand(merchant).remove(ruleId);
      this.#byHand(to).put(ruleId, rule);
      this.ghosts.delete(key);
      if (ghost !== undefined) this.ghosts.set(`${to}/${ruleId}`, ghost);
    }
  }

  snapshot(): Snapshot {
    return { rules: this.rules(), ghosts: new Map(this.ghosts), stacks: structuredClone(this.stacks) };
  }

  restore({ rules, ghosts, stacks: [first, second] }: Snapshot): void {
    for (const { merchant, ruleId } of this.rules()) this.#byHand(merchant).remove(ruleId);
    for (const { merchant, ruleId, rule } of rules) this.#byHand(merchant).put(ruleId, rule);
    this.ghosts = new Map(ghosts);
    this.stacks = [structuredClone(first), structuredClone(second)];
  }

  async run(stack: StackModel, choice: RunChoice): Promise<RunResult> {
    const before = this.rules();
    const knownBefore = idsOf(stack);
    const run = new Run(this, stack, choice, sessionOf(this.#variables(choice)));
    const result = await run.go();
    this.#judge(stack, choice, before, knownBefore);
    const left = this.leftOf(stack);
    const isSaid = !result.isGood || stack.isPending;
    if (result.isGood) stack.isPending = false;
    if (result.isGood && choice.verb === "refresh") stack.isStale = false;
    for (const { key, ruleId } of left)
      if (isSaid || mentions(result.output, ruleId)) stack.told = [...new Set([...stack.told, key])];
    return result;
  }

  /** Rules of a stack's own making in force that its state does not know. */
  leftOf(stack: StackModel): Rule[] {
    const known = new Set([...idsOf(stack)].map((id) => `${stack.whereIs[id] ?? stack.home}/${id}`));
    return this.rules().filter(({ key }) => {
      const ghost = this.ghosts.get(key);
      const isOwn = ghost?.maker === stack.making && ghost.owners.every((each) => each === stack.making);
      return isOwn && !known.has(key);
    });
  }

  /** As which merchant the outputs of a resource say that it was made, where the contract can tell. */
  identityOf(stack: StackModel, name: "A" | "B"): Merchant | undefined {
    const identity = connectionIdIn(this.#keptOf(stack, name)?.outputs[connectionIdField])?.identity;
    return ([0, 1] as const).find((each) => hashOfIdentity(merchants[each]?.name ?? "") === identity);
  }

  /** The ruleId that the state of a stack knows by a name of its program. */
  idOf(stack: StackModel, name: "A" | "B"): string | undefined {
    const kept = this.#keptOf(stack, name);
    if (kept === undefined || this.form === "rules") return kept?.id;
    const { ruleIds } = kept.outputs;
    const id = isJsonObject(ruleIds) ? ruleIds[name] : undefined;
    return typeof id === "string" ? id : undefined;
  }

  #keptOf({ state }: StackModel, name: "A" | "B"): Kept | undefined {
    return state.find(
      (each) => !each.isCondemned && each.kind === this.form && (this.form === "set" || each.name === name),
    );
  }

  #byHand(merchant: Merchant) {
    return this.service.of(merchants[merchant]?.name ?? "");
  }

  #variables({ token, words }: RunChoice): Record<string, string> {
    const { recover, moved, acceptAllGone, formerNames, identity } = words;
    return {
      ...this.#environment,
      MERCHANT_RULES_TOKEN: merchants[token]?.token ?? "",
      ...(recover ? { MERCHANT_RULES_RECOVER: "true" } : {}),
      ...(moved ? { MERCHANT_RULES_MOVED: "true" } : {}),
      ...(acceptAllGone ? { MERCHANT_RULES_ACCEPT_ALL_GONE: "true" } : {}),
      ...(formerNames ? { MERCHANT_RULES_FORMER_NAMES: "shop/p,shop/q" } : {}),
      ...(identity === undefined ? {} : { MERCHANT_RULES_IDENTITY: merchants[identity]?.name ?? "" }),
    };
  }

  /** Judges a run's writes: the makers of rules, the owners of those that it wrote (P1), and the fields that it erased (P5). */
  #judge(
    stack: StackModel,
    { token, words }: RunChoice,
    before: readonly Rule[],
    knownBefore: ReadonlySet<string>,
  ): void {
    const { making } = stack;
    const after = new Map(this.rules().map((rule) => [rule.key, rule]));
    const known = idsOf(stack);
    const named = new Set(Object.values(words.adoptIds ?? {}));
    for (const { key, ruleId, rule, merchant } of before) {
      const ghost = this.ghosts.get(key) ?? { maker: "hand", owners: [], hasOldNote: false };
      const byWord =
        merchant === token &&
        (named.has(ruleId) ||
          ((words.adopt || words.recover) === true && known.has(ruleId) && !knownBefore.has(ruleId)));
      const isOwn = ghost.owners.includes(making);
      const now = after.get(key);
      const isWritten = now === undefined || !isDeepStrictEqual(now.rule, rule);
      if (isWritten && !isOwn && !byWord)
        this.violations.push({
          property: "P1",
          text: `${now === undefined ? "deletes" : "writes"} rule ${key} made by ${ghost.maker}: ${JSON.stringify([rule, now?.rule])}`,
        });
      if (now !== undefined && ghost.hasOldNote && "note" in rule && !("note" in now.rule))
        this.violations.push({ property: "P5", text: `erases the note of rule ${key}` });
      if (now === undefined) {
        this.ghosts.delete(key);
        this.graves.set(key, ghost);
      } else if (byWord && known.has(ruleId) && (!isOwn || this.letters.M)) {
        // By a mark its former owner can tell that the rule is another's now; without one both take it for theirs.
        const isMarked = this.letters.M && "metadata" in now.rule;
        this.ghosts.set(key, { ...ghost, owners: isMarked ? [making] : [...ghost.owners, making] });
      }
    }
    const old = new Set(before.map(({ key }) => key));
    for (const { key, ruleId, merchant } of after.values()) {
      if (old.has(key)) continue;
      this.ghosts.set(key, { maker: making, owners: [making], hasOldNote: false });
      if (known.has(ruleId)) stack.whereIs[ruleId] = merchant;
    }
    for (const id of known) if (!knownBefore.has(id) || named.has(id)) stack.whereIs[id] = token;
  }
}

export function newStack(making: number, name: string, at: Merchant): StackModel {
  return {
    making,
    name,
    home: at,
    program: {},
    state: [],
    isPending: false,
    isStale: false,
    whereIs: {},
    told: [],
  };
}

export function mentions(output: string, ruleId: string): boolean {
  return new RegExp(`(?<![\\w.:/-])${ruleId}(?![\\w/-])`).test(output);
}

/** The ruleIds in a stack's state, those of replaced resources, too. */
export function idsOf({ state }: StackModel): Set<string> {
  return new Set(
    state.flatMap(({ kind, id, outputs: { ruleIds } }) => {
      if (kind === "rules") return [id];
      return kind === "set" && isJsonObject(ruleIds) ? Object.values(ruleIds).map(String) : [];
    }),
  );
}

/** The engine was killed. */
const killed = Symbol("killed");

/** One run of the engine over one stack: what the real one does with hooks and state, as far as hooks can tell. */
class Run {
  readonly #world: World;
  readonly #stack: StackModel;
  readonly #choice: RunChoice;
  readonly #session: Session;
  readonly #connections: Host;
  readonly #rules: Host;
  readonly #said: string[] = [];
  readonly #failures: { name: string; message: string }[] = [];
  readonly #applied = new Set<string>();
  readonly #death = Promise.withResolvers<never>();
  #isDead = false;
  #writes = 0;
  /** Writes that were sent: what is under way when the engine dies still arrives. */
  readonly #sent: Promise<unknown>[] = [];

  constructor(world: World, stack: StackModel, choice: RunChoice, session: Session) {
    this.#world = world;
    this.#stack = stack;
    this.#choice = choice;
    this.#session = session;
    this.#rules = hooksHere(world.form === "set" ? "merchantRuleSet" : "merchantRule", session, this.#said);
    this.#connections = this.#rules.as("connection");
    this.#death.promise.catch(() => undefined);
  }

  async go(): Promise<RunResult> {
    const { verb, fault } = this.#choice;
    const client = await this.#killable();
    this.#world.service.faults.set(faultsOf(fault));
    try {
      if (verb === "up") await this.#up();
      if (verb === "refresh") await this.#refresh();
      if (verb === "destroy") await this.#removeAll(() => true);
    } catch (error) {
      if (error !== killed) throw error;
      await Promise.allSettled(this.#sent);
    } finally {
      this.#world.service.faults.clear();
      if (!this.#isDead) client.close().catch(() => undefined);
    }
    if (this.#isDead) Object.assign(this.#stack, { isPending: true, isStale: true });
    return {
      isGood: !this.#isDead && this.#failures.length === 0,
      isKilled: this.#isDead,
      output: [...this.#said, ...this.#failures.map(({ message }) => message)].join("\n"),
      failures: this.#failures,
      applied: this.#applied,
    };
  }

  /** The session's client, whose writes end with the engine's life. */
  async #killable() {
    const client = await this.#session.place("default").live.client();
    const { fault } = this.#choice;
    const guarded =
      <Arguments extends unknown[], Answer>(write: (...given: Arguments) => Promise<Answer>) =>
      async (...given: Arguments): Promise<Answer> => {
        this.#writes += 1;
        const isNow = fault?.write === this.#writes;
        if (isNow && fault.how === "killed before") this.#die();
        if (this.#isDead) return await this.#death.promise;
        const sent = write(...given);
        this.#sent.push(sent);
        const answer = await sent;
        if (isNow && fault.how === "killed after") this.#die();
        return this.#isDead ? await this.#death.promise : answer;
      };
    client.create = guarded(client.create.bind(client));
    client.update = guarded(client.update.bind(client));
    client.delete = guarded(client.delete.bind(client));
    return client;
  }

  #die(): void {
    this.#isDead = true;
    this.#death.reject(killed);
  }

  /** A hook, until the engine dies. */
  #call<T>(hook: Promise<T>): Promise<T> {
    return Promise.race([hook, this.#death.promise]);
  }

  async #up(): Promise<void> {
    const declared = this.#declared();
    if (declared.length > 0) {
      const connection = await this.#tried("connection", () => this.#bringConnection());
      if (connection === undefined) return;
      await this.#bringAll(declared.map(([name, inputs]) => [name, { ...inputs, [connectionIdField]: connection }]));
      if (this.#failures.length > 0) return;
    }
    const names = new Set(declared.map(([name]) => name));
    await this.#removeAll(
      ({ kind, name, isCondemned }) => isCondemned || (kind === "connection" ? names.size === 0 : !names.has(name)),
    );
  }

  /** The resources of the program, in the order of their registration. */
  #declared(): [string, JsonObject][] {
    const { program, name: stack } = this.#stack;
    const { words, order } = this.#choice;
    const entries = Object.entries(program).filter(([, rule]) => rule !== undefined);
    if (order.isReversed) entries.reverse();
    const owned = (name: string): JsonObject => ({ [ownerField]: { [ownerOf("shop", stack, name)]: null } });
    if (this.#world.form === "rules")
      return entries.map(([name, definition]) => {
        const adopt = words.adoptIds?.[name] ?? (words.adopt ? true : undefined);
        return [name, { definition: { ...definition }, ...(adopt === undefined ? {} : { adopt }), ...owned(name) }];
      });
    if (entries.length === 0) return [];
    const ids = Object.entries(words.adoptIds ?? {}).filter(([name]) => name in program);
    const adopt = ids.length > 0 ? Object.fromEntries(ids) : words.adopt;
    const rules = Object.fromEntries(entries.map(([name, definition]) => [name, { ...definition }]));
    return [["all", { rules, allowEmpty: true, ...(adopt === undefined ? {} : { adopt }), ...owned("all") }]];
  }

  async #bringConnection(): Promise<string> {
    const { state, name: stack } = this.#stack;
    const old = state.find(({ kind, isCondemned }) => kind === "connection" && !isCondemned);
    const news = { connection: "default", project: "shop", stack };
    const checked = await this.#checked(this.#connections, old?.inputs ?? {}, news);
    if (old === undefined || this.#choice.words.replace === true) {
      const anew = old === undefined ? checked : await this.#checked(this.#connections, {}, news);
      const { id, outs } = await this.#call(this.#connections.create(anew));
      const { fault } = this.#choice;
      if (fault?.how === "killed after the connection") {
        this.#die();
        throw killed;
      }
      this.#save(() => {
        if (old !== undefined) old.isCondemned = true;
        state.push(keptOf("connection", "default", id, anew, outs, false));
      });
      return id;
    }
    const { changes } = await this.#call(this.#connections.diff(old.id, old.outputs, checked));
    if (changes === "unknown" ? !isDeepStrictEqual(old.inputs, checked) : changes === "some") {
      const outputs = await this.#call(this.#connections.update(old.id, old.outputs, checked));
      this.#save(() => Object.assign(old, { inputs: checked, outputs }));
    } else this.#save(() => Object.assign(old, { inputs: checked }));
    return old.id;
  }

  /** Checks and compares one resource after another; what is to be done goes on beside, unless the program waits. */
  async #bringAll(declared: readonly (readonly [string, JsonObject])[]): Promise<void> {
    const { second } = this.#choice.order;
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
      if (second === "after the first" && this.#failures.length > 0) return;
    }
    for (const [name, step] of waiting) begin(name, step);
    await Promise.all(underWay);
  }

  async #compared(name: string, news: JsonObject): Promise<() => Promise<void>> {
    const { state } = this.#stack;
    const old = state.find((kept) => kept.kind !== "connection" && kept.name === name && !kept.isCondemned);
    const inputs = await this.#checked(this.#rules, old?.inputs ?? {}, news);
    if (old === undefined) return () => this.#create(name, inputs);
    const { changes, replaces, deleteBeforeReplace } = await this.#call(this.#rules.diff(old.id, old.outputs, inputs));
    if (replaces.length > 0) {
      const anew = await this.#checked(this.#rules, {}, news);
      return async () => {
        if (deleteBeforeReplace) await this.#remove(old);
        await this.#create(name, anew, old);
      };
    }
    const isChanged = changes === "unknown" ? !isDeepStrictEqual(old.inputs, inputs) : changes === "some";
    if (isChanged || old.isPartial) return () => this.#update(old, inputs);
    // The engine keeps the outputs of what is the same.
    return async () => this.#save(() => Object.assign(old, { inputs }));
  }

  async #checked(hooks: Host, olds: JsonObject, news: JsonObject): Promise<JsonObject> {
    const { inputs, failures } = await this.#call(hooks.check(news, olds));
    if (failures.length > 0) throw new HookFailure(failures.map(({ reason }) => reason).join());
    return inputs;
  }

  async #create(name: string, inputs: JsonObject, replaced?: Kept): Promise<void> {
    const { state } = this.#stack;
    const keep = (id: string, outputs: JsonObject, isPartial: boolean): void =>
      this.#save(() => {
        if (replaced !== undefined) replaced.isCondemned = true;
        state.push(keptOf(this.#world.form, name, id, inputs, outputs, isPartial));
      });
    try {
      const { id, outs } = await this.#call(this.#rules.create(inputs));
      keep(id, outs, false);
      this.#applied.add(name);
    } catch (error) {
      if (error instanceof HookFailure && error.partial !== undefined)
        keep(error.partial.id, error.partial.properties, true);
      throw error;
    }
  }

  async #update(old: Kept, inputs: JsonObject): Promise<void> {
    try {
      const outputs = await this.#call(this.#rules.update(old.id, old.outputs, inputs));
      this.#save(() => Object.assign(old, { inputs, outputs, isPartial: false }));
      this.#applied.add(old.name);
    } catch (error) {
      const { partial } = error instanceof HookFailure ? error : {};
      if (partial !== undefined)
        this.#save(() => Object.assign(old, { inputs, outputs: partial.properties, isPartial: true }));
      throw error;
    }
  }

  async #refresh(): Promise<void> {
    const { state } = this.#stack;
    const isConnection = ({ kind }: Kept): boolean => kind === "connection";
    // The engine reads in the order of the state; a run of many reads rules before their connection.
    const kept = this.#choice.order.isReversed ? state.toReversed() : [...state];
    await Promise.all(
      kept.map((each) =>
        this.#tried(each.name, async () => {
          if (isConnection(each)) {
            await this.#call(this.#connections.read(each.id, each.outputs));
            return;
          }
          const { id, props, inputs } = await this.#call(this.#rules.read(each.id, each.outputs));
          if (id === "") this.#drop(each);
          else this.#save(() => Object.assign(each, { id, outputs: props, inputs, isPartial: false }));
        }),
      ),
    );
  }

  /** Deletes: rules first, then connections, which all of them depend on; nothing more after a failure. */
  async #removeAll(isMeant: (kept: Kept) => boolean): Promise<void> {
    const meant = this.#stack.state.filter(isMeant);
    const [connections, rules] = [true, false].map((is) => meant.filter(({ kind }) => (kind === "connection") === is));
    const { isReversed, second } = this.#choice.order;
    for (const kept of [isReversed ? rules?.toReversed() : rules, connections]) {
      const removing = (each: Kept): Promise<unknown> => this.#tried(each.name, () => this.#remove(each));
      if (second === "after the first") for (const each of kept ?? []) await removing(each);
      else await Promise.all((kept ?? []).map(removing));
      if (this.#failures.length > 0) return;
    }
  }

  async #remove(kept: Kept): Promise<void> {
    await this.#call((kept.kind === "connection" ? this.#connections : this.#rules).delete(kept.id, kept.outputs));
    this.#drop(kept);
  }

  #drop(kept: Kept): void {
    this.#save(() => {
      const { state } = this.#stack;
      state.splice(state.indexOf(kept), 1);
    });
  }

  /** A dead engine writes no state. */
  #save(change: () => void): void {
    if (!this.#isDead) change();
  }

  /** Runs a part of the run; what fails is noted. */
  async #tried<T>(name: string, run: () => Promise<T>): Promise<T | undefined> {
    try {
      return await run();
    } catch (error) {
      if (error === killed) throw error;
      // Anything but what a hook says is a defect.
      if (!(error instanceof Error) || !/HookFailure|HookError/.test(error.constructor.name)) throw error;
      this.#failures.push({ name, message: error.message });
      return undefined;
    }
  }
}

function keptOf(
  kind: Kept["kind"],
  name: string,
  id: string,
  inputs: JsonObject,
  outputs: JsonObject,
  isPartial: boolean,
): Kept {
  return { kind, name, id, inputs, outputs, isPartial, isCondemned: false };
}

function faultsOf(fault: Fault | undefined): FaultInput[] {
  const at: Pick<FaultInput & { kind: "close" }, "operations" | "request"> = {
    operations: ["create", "update", "delete"],
    request: fault?.write ?? 1,
  };
  switch (fault?.how) {
    case "no answer, not done":
      return [{ kind: "close", at: "before", ...at }];
    case "no answer, done":
      return [{ kind: "close", at: "after", ...at }];
    case "500, done":
      return [{ kind: "status", status: 500, at: "after", ...at }];
    case "503, not done":
      return [{ kind: "status", status: 503, ...at }];
    default:
      return [];
  }
}
