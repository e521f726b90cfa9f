import { isDeepStrictEqual } from "node:util";
import { type FaultInput, type LocalService, startLocalService } from "../../../local/service/index.ts";
import type { Session } from "../../../provider/hooks/session.ts";
import { hashOfIdentity } from "../../../provider/merchant/identity.ts";
import { siteIn } from "../../../provider/merchant/site.ts";
import { providerNameKey } from "../../../provider/settings/setting-names.ts";
import { type ContractInput, defineContract } from "../../../sdk/contract/index.ts";
import { getOrMake } from "../../../sdk/get-or-make.ts";
import { isJsonObject, type JsonObject } from "../../../sdk/json/index.ts";
import { newFile } from "../../support/folder.ts";
import { contractOf, merchants } from "../../support/stack/contracts.ts";
import { EngineRun, type Kept, killed, type Order } from "../../support/stack/engine-model.ts";
import { hooksHere, sessionOf } from "../../support/stack/hosts.ts";

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
  readonly name: "x" | "y" | "z";
  readonly priority: number;
  readonly note?: string;
}

/** The rules that a program may have, by name of the resource, in a set by key. */
export const names = ["A", "B", "C"] as const;
export type Name = (typeof names)[number];

/** A stack's program. */
export type Program = { readonly [name in Name]?: Declared };

/** A rule each, or one set with the keys A and B. */
export type Form = "rules" | "set";

/** Words of the user and of the program for one run. Those of the user are ids of cases, as refusals print them. */
export interface Words {
  readonly adopt?: boolean;
  /** `adopt: "<ruleId>"`, by name of the rule in the program. */
  readonly adoptIds?: Readonly<Record<string, string>>;
  readonly recover?: string;
  readonly same?: string;
  readonly moved?: string;
  readonly formerNames?: boolean;
  /** The setting `identity`. */
  readonly identity?: Merchant;
}

/** A fault in a run, at its n-th write. */
export interface Fault {
  readonly write: number;
  readonly how:
    | "killed before"
    | "killed after"
    | "killed after the owner"
    | "killed after the connection"
    | "no answer, not done"
    | "no answer, done"
    | "500, done"
    | "503, not done";
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

/** The way by which a stack reaches its merchant. All of it may change while the merchant is the same. */
export interface Way {
  /** The connection that the program names, where no explicit provider is one. */
  readonly connection: "default" | "main";
  readonly provider: "" | "shop";
  /** A parameter of the contract; it stands for all by which credentials can be others and the merchant the same. */
  readonly label: "1" | "2";
  readonly host: "127.0.0.1" | "localhost";
  /** A means of the service that the contract does not know yet. */
  readonly lacks?: "M" | "I" | undefined;
}

/** A stack: its name, its program, its state, and what the test alone knows of it. */
export interface StackModel {
  way: Way;
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
    parameters: { label: { default: "1" } },
    operations: { get: { headers: { "X-Label": "{label}" } } },
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
  readonly #contractFiles = new Map<Way["lacks"], string>();
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

  /** Somebody makes, changes (by ruleId) a rule by hand. Gives its key. @param isNew another rule gets the id */
  put(merchant: Merchant, ruleId: string | undefined, rule: JsonObject, isNew = ruleId === undefined): string {
    const key = `${merchant}/${this.#byHand(merchant).put(ruleId, rule)}`;
    if (isNew) this.ghosts.set(key, { maker: "hand", owners: [], hasOldNote: "note" in rule });
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
    const run = new Run(this, stack, choice, this.#variables(stack, choice));
    const result = await run.go();
    this.#judge(stack, choice, before, knownBefore, result.isGood);
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
  identityOf(stack: StackModel, name: Name): Merchant | undefined {
    const identity = siteIn(this.#keptOf(stack, name)?.outputs.at)?.identity;
    return ([0, 1] as const).find((each) => hashOfIdentity(merchants[each]?.name ?? "") === identity);
  }

  /** The ruleId that the state of a stack knows by a name of its program. */
  idOf(stack: StackModel, name: Name): string | undefined {
    const kept = this.#keptOf(stack, name);
    // An update that makes a rule anew leaves the engine's own id as it was.
    const { ruleId, ruleIds } = kept?.outputs ?? {};
    const id = isJsonObject(ruleIds) ? ruleIds[name] : ruleId;
    return typeof id === "string" ? id : undefined;
  }

  #keptOf({ state }: StackModel, name: Name): Kept | undefined {
    return state.find(
      ({ kind, name: each, isCondemned }) => !isCondemned && (kind === "set" || (kind === "rule" && each === name)),
    );
  }

  #byHand(merchant: Merchant) {
    return this.service.of(merchants[merchant]?.name ?? "");
  }

  /** The settings of each connection and provider are the same. */
  #variables({ way }: StackModel, { token, words }: RunChoice): Record<string, string> {
    const { recover = "", same = "", moved = "", formerNames, identity } = words;
    const own = {
      BASE_URL: this.service.url.replace("127.0.0.1", way.host),
      CONTRACT: this.#contractFile(way),
      TOKEN: merchants[token]?.token ?? "",
      PARAM_LABEL: way.label,
      ...(identity === undefined ? {} : { IDENTITY: merchants[identity]?.name ?? "" }),
    };
    const named = ["", "MAIN__", "SHOP__"].flatMap((prefix) =>
      Object.entries(own).map(([name, value]) => [`MERCHANT_RULES_${prefix}${name}`, value]),
    );
    return {
      ...Object.fromEntries(named),
      MERCHANT_RULES_RECOVER: recover,
      MERCHANT_RULES_SAME: same,
      MERCHANT_RULES_MOVED: moved,
      ...(formerNames ? { MERCHANT_RULES_FORMER_NAMES: "shop/p,shop/q" } : {}),
    };
  }

  #contractFile({ lacks }: Way): string {
    return getOrMake(this.#contractFiles, lacks, () => {
      const known = lacks === undefined ? this.letters : { ...this.letters, [lacks]: false };
      return newFile("contract.json", JSON.stringify(contractFor(known)));
    });
  }

  /** Judges a run's writes: the makers of rules, the owners of those that it wrote (P1), and the fields that it erased (P5). */
  #judge(
    stack: StackModel,
    { token, words }: RunChoice,
    before: readonly Rule[],
    knownBefore: ReadonlySet<string>,
    isGood: boolean,
  ): void {
    const { making } = stack;
    const after = new Map(this.rules().map((rule) => [rule.key, rule]));
    const known = idsOf(stack);
    // Of a run that failed nobody can tell whether it came to the word, where the id was known before.
    const named = new Set(Object.values(words.adoptIds ?? {}).filter((id) => isGood || !knownBefore.has(id)));
    for (const { key, ruleId, rule, merchant } of before) {
      const ghost = this.ghosts.get(key) ?? { maker: "hand", owners: [], hasOldNote: false };
      const byWord =
        merchant === token &&
        (named.has(ruleId) || ((words.adopt || words.recover) && known.has(ruleId) && !knownBefore.has(ruleId)));
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
    way: { connection: "default", provider: "", label: "1", host: "127.0.0.1" },
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
    state.flatMap(({ kind, id, outputs: { ruleId, ruleIds } }) => {
      if (kind === "rule") return [typeof ruleId === "string" ? ruleId : id];
      return kind === "set" && isJsonObject(ruleIds) ? Object.values(ruleIds).map(String) : [];
    }),
  );
}

/** One run of the engine over one stack. */
class Run {
  readonly #world: World;
  readonly #stack: StackModel;
  readonly #choice: RunChoice;
  /** One of the stack, one of its explicit provider: processes of their own. */
  readonly #sessions: readonly Session[];
  readonly #said: string[] = [];
  readonly #engine: EngineRun;
  #writes = 0;
  /** Writes that were sent: what is under way when the engine dies still arrives. */
  readonly #sent: Promise<unknown>[] = [];

  constructor(world: World, stack: StackModel, choice: RunChoice, variables: Record<string, string>) {
    this.#world = world;
    this.#stack = stack;
    this.#choice = choice;
    const [session, shop] = [sessionOf(variables), sessionOf(variables, { [providerNameKey]: "shop" })];
    this.#sessions = [session, shop];
    const { order, fault } = choice;
    const made = fault?.how === "killed after the owner" ? "owner" : "connection";
    const { provider } = stack.way;
    this.#engine = new EngineRun(stack.state, hooksHere("merchantRule", session, this.#said), {
      order,
      providers: { shop: hooksHere("merchantRule", shop, this.#said) },
      providerOf: Object.fromEntries([...names, "all"].map((name) => [name, provider])),
      names: `shop/${stack.name}`,
      dies: fault?.how === `killed after the ${made}` ? { with: made, at: "before" } : undefined,
    });
  }

  async go(): Promise<RunResult> {
    const { verb, fault } = this.#choice;
    const clients = await Promise.all(this.#sessions.map((session) => this.#killable(session)));
    const engine = this.#engine;
    this.#world.service.faults.set(faultsOf(fault));
    try {
      if (verb === "up") await engine.up(this.#declared());
      if (verb === "refresh") await engine.refresh();
      if (verb === "destroy") await engine.destroy();
    } catch (error) {
      if (error !== killed) throw error;
      await Promise.allSettled(this.#sent);
    } finally {
      this.#world.service.faults.clear();
      if (!engine.isDead) for (const client of clients) client.close().catch(() => undefined);
    }
    const { failures, applied, isDead } = engine;
    if (isDead) Object.assign(this.#stack, { isPending: true, isStale: true });
    return {
      isGood: !isDead && failures.length === 0,
      isKilled: isDead,
      output: [...this.#said, ...failures.map(({ message }) => message)].join("\n"),
      failures,
      applied,
    };
  }

  /** A session's client, whose writes end with the engine's life. Its connections share it. */
  async #killable(session: Session) {
    const client = await session.place("default").live.client();
    const { fault } = this.#choice;
    const engine = this.#engine;
    const guarded =
      <Arguments extends unknown[], Answer>(write: (...given: Arguments) => Promise<Answer>) =>
      async (...given: Arguments): Promise<Answer> => {
        this.#writes += 1;
        const isNow = fault?.write === this.#writes;
        if (isNow && fault.how === "killed before") engine.die();
        if (engine.isDead) return await engine.death.promise;
        const sent = write(...given);
        this.#sent.push(sent);
        const answer = await sent;
        if (isNow && fault.how === "killed after") engine.die();
        return engine.isDead ? await engine.death.promise : answer;
      };
    client.create = guarded(client.create.bind(client));
    client.update = guarded(client.update.bind(client));
    client.delete = guarded(client.delete.bind(client));
    return client;
  }

  /** The resources of the program, in the order of their registration. */
  #declared(): [string, JsonObject][] {
    const { program } = this.#stack;
    const { words, order } = this.#choice;
    const { connection } = this.#stack.way;
    const way = connection === "default" ? {} : { connection };
    const entries = Object.entries(program).filter(([, rule]) => rule !== undefined);
    if (order.isReversed) entries.reverse();
    if (this.#world.form === "rules")
      return entries.map(([name, definition]) => {
        const adopt = words.adoptIds?.[name] ?? (words.adopt ? true : undefined);
        return [name, { definition: { ...definition }, ...way, ...(adopt === undefined ? {} : { adopt }) }];
      });
    if (entries.length === 0) return [];
    const ids = Object.entries(words.adoptIds ?? {}).filter(([name]) => name in program);
    const adopt = ids.length > 0 ? Object.fromEntries(ids) : words.adopt;
    const rules = Object.fromEntries(entries.map(([name, definition]) => [name, { ...definition }]));
    return [["all", { rules, allowEmpty: true, ...way, ...(adopt === undefined ? {} : { adopt }) }]];
  }
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
