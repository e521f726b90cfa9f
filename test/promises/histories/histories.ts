import fc from "fast-check";
import { type JsonObject, withoutValueAt } from "../../../sdk/json/index.ts";
import type { Order } from "../../support/stack/engine-model.ts";
import {
  type Declared,
  type Fault,
  type Form,
  home,
  idsOf,
  type Letters,
  type Merchant,
  names,
  newStack,
  note,
  otherMerchant,
  type Program,
  type RunChoice,
  type RunResult,
  type StackModel,
  type Verb,
  type Way,
  type Words,
  World,
} from "./world-model.ts";

/** The most disturbances of each kind in a history, and what else may happen in it. */
export interface Scenario {
  readonly faults?: number;
  readonly wrongTokens?: number;
  readonly handActs?: number;
  readonly stackActs?: number;
  readonly mistakenWords?: number;
  /** A second stack of the same names, in another backend; its merchant. */
  readonly second?: Merchant;
  /** The stack may be pointed at the other merchant, or the merchant be migrated. */
  readonly moves?: true;
  /** Words that the user says rightly; of a pair of connections where the last run was refused for it. */
  readonly words?: readonly Word[];
  /** The setting `identity` is always there. */
  readonly isIdentitySet?: true;
  /** What may happen to the stack. Default: what may to any. */
  readonly acts?: "to its way" | "to its contract" | "to its names";
  /** Somebody gives the id of a rule to another one. */
  readonly givesIdsAgain?: true;
  /** The other merchant has rules under the same ids, of which the first is equal. */
  readonly isOneEqual?: true;
  /** Default: {@link programs}. */
  readonly programs?: readonly Program[];
}

type Disturbance = "faults" | "wrongTokens" | "handActs" | "stackActs" | "mistakenWords";
type Word = "adopt" | "recover" | "pair" | "formerNames";

const x = (priority: number): Declared => ({ name: "x", priority });
const y = (priority: number): Declared => ({ name: "y", priority });
const z = (priority: number): Declared => ({ name: "z", priority });
const programs: readonly Program[] = [
  { A: x(0) },
  { A: x(1) },
  { B: x(0) },
  { B: x(1) },
  { A: x(0), B: y(0) },
  { A: x(1), B: y(0) },
  {},
];
const threes: readonly Program[] = [
  { A: x(0), B: y(0), C: z(0) },
  { A: x(1), B: y(0), C: z(0) },
  { A: x(1), B: y(1), C: z(0) },
  { A: x(0), B: y(1) },
];
/** Names that are used again. */
const reusing: readonly Program[] = [
  { A: x(0) },
  { B: x(0) },
  { B: x(1) },
  { A: y(0), B: x(0) },
  { A: x(0), B: y(0) },
  { A: y(0), C: x(0) },
];
const secondPrograms: readonly Program[] = [{ A: x(0) }, { A: x(1) }, {}];

/** The scenarios of the model. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  kill: { faults: 1 },
  kill2: { faults: 2 },
  wrong: { wrongTokens: 1, second: otherMerchant },
  wrongk: { faults: 1, wrongTokens: 1 },
  hand: { handActs: 1 },
  handk: { faults: 1, handActs: 1 },
  stack: { stackActs: 1, second: home },
  stackk: { faults: 1, stackActs: 1 },
  mist: { wrongTokens: 1, mistakenWords: 1, second: home },
  mistk: { faults: 1, mistakenWords: 1 },
  two: { handActs: 1, stackActs: 1, second: home },
  handover: { second: home, words: ["adopt"] },
  adopt: { handActs: 1, words: ["adopt"] },
  rename: { stackActs: 1, second: home, words: ["formerNames"] },
  moved: { stackActs: 1, second: otherMerchant, words: ["pair"], moves: true },
  ident: { faults: 1, wrongTokens: 1, second: otherMerchant, isIdentitySet: true },
  way: { stackActs: 2, acts: "to its way", words: ["pair"] },
  wayk: { stackActs: 1, faults: 1, acts: "to its way", words: ["pair"] },
  wayh: { stackActs: 1, handActs: 1, acts: "to its way", words: ["pair"] },
  wayw: { stackActs: 1, wrongTokens: 1, acts: "to its way", words: ["pair"] },
  learn: { stackActs: 1, handActs: 1, acts: "to its contract" },
  learnk: { stackActs: 1, faults: 1, acts: "to its contract" },
  names: { stackActs: 2, acts: "to its names", programs: reusing },
  namesk: { stackActs: 1, faults: 1, acts: "to its names", programs: reusing },
  again: { handActs: 1, givesIdsAgain: true },
  againk: { handActs: 1, faults: 1, givesIdsAgain: true },
  equal: { wrongTokens: 2, isOneEqual: true, programs: threes },
};

/** One thing that happens, and a run after it. Numbers choose among what is possible there. */
export interface Step {
  readonly act: "run" | "fault" | "wrong token" | "hand" | "stack" | "word";
  /** Where the last run was refused and named a rule to adopt, the program does that, and is else as it was. */
  readonly isFollowing: boolean;
  readonly isSecond: boolean;
  readonly program: number;
  readonly verb: Verb;
  readonly order: Order;
  readonly fault: Fault;
  readonly pick: number;
}

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    act: fc.constantFrom<Step["act"]>("run", "run", "fault", "fault", "wrong token", "hand", "stack", "word"),
    isFollowing: fc.boolean(),
    isSecond: fc.nat(2).map((drawn) => drawn === 0),
    program: fc.nat(9),
    verb: fc.constantFrom<Verb>("up", "up", "up", "up", "up", "refresh", "destroy"),
    order: fc.record({
      isReversed: fc.boolean(),
      second: fc.constantFrom<Order["second"]>(
        "after the first",
        "beside the first",
        "as soon as the first is compared",
      ),
    }),
    fault: fc.record({
      write: fc.integer({ min: 1, max: 2 }),
      how: fc.constantFrom<Fault["how"]>(
        "killed before",
        "killed after",
        "killed after the owner",
        "killed after the connection",
        "no answer, not done",
        "no answer, done",
        "500, done",
        "503, not done",
      ),
    }),
    pick: fc.nat(1000),
  }),
  { minLength: 4, maxLength: 7 },
);

export type Property = "P1" | "P2a" | "P2b" | "P4" | "P5";

/** A property that does not hold, after what. */
export interface Violation {
  readonly property: Property;
  readonly text: string;
  readonly trace: readonly string[];
  /** The known limit that it is; undefined: none. */
  readonly limit: string | undefined;
}

/** A history under way: it carries out steps and holds every property against what comes of them. */
export class History {
  readonly world: World;
  readonly trace: string[] = [];
  readonly violations: Violation[] = [];
  readonly #scenario: Scenario;
  readonly #left: Record<Disturbance, number>;
  /** Events so far, by which the known limits are told. */
  readonly #past = new Set<string>();
  /** Somebody changed rules by hand, and no refresh has looked since. */
  #isDirty = false;
  readonly #advice: [Advice, Advice] = [new Advice(), new Advice()];

  constructor(world: World, scenario: Scenario) {
    const { faults = 0, wrongTokens = 0, handActs = 0, stackActs = 0, mistakenWords = 0 } = scenario;
    this.world = world;
    this.#scenario = scenario;
    this.#left = { faults, wrongTokens, handActs, stackActs, mistakenWords };
    const { M, I } = world.letters;
    const [stack] = world.stacks;
    if (scenario.acts === "to its contract") stack.way = { ...stack.way, lacks: M ? "M" : I ? "I" : undefined };
    if (scenario.isOneEqual) this.#past.add("one equal elsewhere");
    if (scenario.isOneEqual)
      for (const name of ["x", "v", "w"]) world.put(otherMerchant, undefined, { name, priority: 0 });
  }

  async step(step: Step): Promise<void> {
    const { act, pick } = step;
    const hasSecond = this.#scenario.second !== undefined;
    const who = hasSecond && step.isSecond ? 1 : 0;
    const stack = this.world.stacks[who];
    if (act === "hand" && this.#spend("handActs")) this.#handAct(pick);
    if (act === "stack" && this.#spend("stackActs")) this.#stackAct(pick);
    const { adoptIds } = this.#advice[who];
    const isFollowing = step.isFollowing && Object.keys(adoptIds).length > 0;
    const given = who === 0 ? (this.#scenario.programs ?? programs) : secondPrograms;
    if (!isFollowing) stack.program = given[step.program] ?? stack.program;
    let verb = step.verb;
    if (isFollowing || (verb !== "up" && stack.state.length === 0)) verb = "up";
    if (who === 1 && verb === "refresh") verb = "up";
    let choice: RunChoice = { verb, token: stack.home, words: this.#usual(stack), order: step.order };
    const about = new Set<string>();
    if (act === "fault" && who === 0 && this.#spend("faults")) choice = { ...choice, fault: step.fault };
    if (act === "wrong token" && who === 0 && this.#spend("wrongTokens")) {
      choice = { ...choice, token: stack.home === 0 ? 1 : 0 };
      about.add("wrong token");
    }
    if (act === "word" && who === 0) choice = this.#withWord(choice, pick, about);
    if (isFollowing) {
      choice = { ...choice, words: { ...choice.words, adoptIds } };
      about.add("adopt");
    }
    await this.run(who, choice, about);
  }

  /** A run, and what must be so after it. */
  async run(who: 0 | 1, choice: RunChoice, about: ReadonlySet<string> = new Set()): Promise<RunResult> {
    const { world } = this;
    const stack = world.stacks[who];
    const { verb, token, words, fault, order } = choice;
    for (const each of about) this.#past.add(each);
    if (who === 1) this.#past.add(`second ${verb}`);
    if (who === 1 && verb === "up" && Object.keys(stack.program).length === 0) this.#past.add("second up of nothing");
    const madeBefore = world.rules().length;
    const hadNothing = stack.state.length === 0;
    const result = await world.run(stack, choice);
    if (result.isKilled) this.#past.add("killed");
    if (token !== stack.home && world.rules().length > madeBefore) this.#past.add("added elsewhere");
    this.trace.push(
      [
        `S${who} ${verb} ${JSON.stringify(stack.program)}`,
        Object.keys(words).length > 0 ? JSON.stringify(words) : "",
        token === stack.home ? "" : "with the other token",
        fault === undefined ? "" : `${fault.how} write ${fault.write}`,
        `(${order.isReversed ? "B, A" : "A, B"}; ${order.second})`,
        `-> ${result.isKilled ? "KILLED" : result.isGood ? "good" : "failed"}`,
        `\n      ${result.output.replaceAll("\n", "\n      ")}`,
        `\n      rules: ${world
          .rules()
          .map(({ key, rule }) => `${key} ${JSON.stringify(rule)}`)
          .join("; ")}`,
        `\n      state: ${stack.state.map(({ name, id, outputs, isPartial, isCondemned }) => `${name} ${outputs.ruleId ?? id}${isPartial ? " partial" : ""}${isCondemned ? " condemned" : ""} ${JSON.stringify(outputs.definition ?? outputs.rules ?? "")}`).join("; ")}`,
      ].join(" "),
    );
    for (const { property, text } of world.violations.splice(0)) this.#violated(property, text, about);
    if (result.isGood && verb === "up" && token === stack.home) this.#demandInForce(stack, result, about);
    if (
      result.isGood &&
      verb !== "refresh" &&
      !this.#isDirty &&
      !(hadNothing && Object.keys(stack.program).length === 0)
    ) {
      const left = world.leftOf(stack).filter(({ key }) => !stack.told.includes(key));
      if (left.length > 0)
        this.#violated("P2b", `in force, in no state and unsaid: ${left.map(({ key }) => key).join()}`, about);
    }
    if (result.isGood && verb === "refresh" && token === stack.home && who === 0) this.#isDirty = false;
    this.#advice[who] = result.isGood ? new Advice() : new Advice(result);
    return result;
  }

  /** P4: some sequence of the words that refusals name ends in a good `up`. */
  async demandWayOut(): Promise<void> {
    const { world } = this;
    const [stack] = world.stacks;
    if (Object.keys(stack.program).length === 0) return;
    const start = world.snapshot();
    const said: string[] = [];
    const isOut = await this.#search(said);
    world.restore(start);
    world.violations.splice(0);
    if (!isOut) this.#violated("P4", `no way out: ${said.join(" | ")}`, new Set());
  }

  async #search(said: string[]): Promise<boolean> {
    const { world } = this;
    interface Node {
      readonly at: ReturnType<World["snapshot"]>;
      readonly path: readonly string[];
      readonly advice: Advice;
      readonly next: { verb: Verb; words: Words; note?: string };
    }
    const seen = new Set<string>();
    const [{ home: token }] = world.stacks;
    const usual = this.#usual(world.stacks[0]);
    const start = world.snapshot();
    const queue: Node[] = [
      { at: start, path: [], advice: new Advice(), next: { verb: "up", words: usual } },
      { at: start, path: [], advice: new Advice(), next: { verb: "refresh", words: usual } },
    ];
    for (let node = queue.shift(); node !== undefined; node = queue.shift()) {
      const { next, path } = node;
      world.restore(node.at);
      const [stack] = world.stacks;
      if (next.note !== undefined) stack.program = withNote(stack.program, next.note);
      const result = await world.run(stack, { ...next, token, order: usualOrder });
      const wasWrong = world.violations.splice(0).length > 0;
      if (next.verb === "up" && result.isGood && this.#isInForce(stack)) return true;
      const how = `${next.verb} ${JSON.stringify(next.words)}${next.note ?? ""} -> ${result.isGood ? "good, not in force" : result.output}`;
      const nextPath = [...path, how];
      if (path.length === 0) said.push(how);
      if (wasWrong || nextPath.length >= depth) continue;
      const advice = node.advice.with(result);
      const at = world.snapshot();
      const key = JSON.stringify([at.rules, at.stacks.map(({ state, program }) => [state, program])]);
      for (const choice of advice.choices(usual, isOneMerchant(stack, token))) {
        const id = key + JSON.stringify(choice);
        if (seen.has(id)) continue;
        seen.add(id);
        queue.push({ at, path: nextPath, advice, next: choice });
      }
    }
    return false;
  }

  #isInForce(stack: StackModel): boolean {
    const live = new Map(this.world.rules().map(({ key, rule }) => [key, rule]));
    return names.every((name) => {
      const declared = stack.program[name];
      const id = this.world.idOf(stack, name);
      if (declared === undefined || id === undefined) return declared === undefined && id === undefined;
      return (stack.whereIs[id] ?? stack.home) === stack.home && isAs(declared, live.get(`${stack.home}/${id}`));
    });
  }

  #demandInForce(stack: StackModel, { applied }: RunResult, about: ReadonlySet<string>): void {
    const { world } = this;
    const live = new Map(world.rules().map(({ key, rule }) => [key, rule]));
    for (const name of names) {
      const declared = stack.program[name];
      if (declared === undefined) continue;
      const id = world.idOf(stack, name);
      const at = id === undefined ? stack.home : (stack.whereIs[id] ?? stack.home);
      const saysHere = world.letters.I && world.identityOf(stack, name) === stack.home;
      // Limit 1: an unchanged run asks nobody. By hand: nobody has looked since.
      if ((at !== stack.home && !saysHere) || this.#isDirty) continue;
      // Limit 6: after a killed run, `up --refresh`.
      if (stack.isStale && !applied.has(name)) continue;
      const key = `${at}/${id}`;
      if (at === stack.home && isAs(declared, live.get(key))) continue;
      const ghost = world.ghosts.get(key) ?? world.graves.get(key);
      // Limit 9: the former owner of an adopted rule notices at its next change or refresh.
      if (ghost?.owners.some((each) => each !== stack.making)) continue;
      this.#violated(
        "P2a",
        `${name} is declared ${JSON.stringify(declared)}, in force is ${key} ${JSON.stringify(live.get(key))}`,
        about,
      );
    }
  }

  #violated(property: Property, text: string, about: ReadonlySet<string>): void {
    const limit = limitOf(property, { letters: this.world.letters, past: this.#past, about });
    this.violations.push({ property, text, limit, trace: [...this.trace] });
  }

  #spend(kind: Disturbance): boolean {
    if (this.#left[kind] === 0) return false;
    this.#left[kind] -= 1;
    return true;
  }

  #usual(stack: StackModel): Words {
    return this.#scenario.isIdentitySet && this.world.letters.I && stack === this.world.stacks[0]
      ? { identity: home }
      : {};
  }

  #withWord(choice: RunChoice, pick: number, about: Set<string>): RunChoice {
    const { words: rightly = [] } = this.#scenario;
    const isMistake = rightly.length === 0;
    if (isMistake && !this.#spend("mistakenWords")) return choice;
    const all: readonly Word[] = isMistake ? ["adopt", "recover", "pair", "pair", "formerNames"] : rightly;
    const word = all[pick % all.length] ?? "adopt";
    const { N, L } = this.world.letters;
    if (choice.verb !== "up" && (word === "adopt" || word === "recover")) return choice;
    // It is refused where the contract cannot look a rule up by its natural key.
    if (word === "adopt" && !(N && L)) return choice;
    // The other merchant's token and the word that lets it be.
    const isWrong = isMistake && word === "pair" && pick % 2 === 0 && this.#spend("wrongTokens");
    const token = isWrong ? (choice.token === 0 ? 1 : 0) : choice.token;
    const [stack] = this.world.stacks;
    const said = this.#advice[0].words(word, isOneMerchant(stack, token) !== isMistake);
    if (said === undefined) return choice;
    about.add(word);
    if (isMistake) about.add("mistaken word");
    if (isWrong) about.add("wrong token");
    return { ...choice, token, words: { ...choice.words, ...said } };
  }

  #handAct(pick: number): void {
    const { world } = this;
    const acts: [string, () => void][] = world.rules().flatMap((rule): [string, () => void][] => {
      const { merchant, ruleId, key, rule: live } = rule;
      const put = (changed: JsonObject): void => void world.put(merchant, ruleId, changed);
      const bare = withoutValueAt(live, "/metadata");
      return [
        [`hand edits ${key}`, () => put({ ...live, priority: live.priority === 0 ? 1 : 0 })],
        [`hand adds a field to ${key}`, () => put({ ...live, note })],
        ...("metadata" in live
          ? [[`hand strips the mark of ${key}`, () => put(bare)] satisfies [string, () => void]]
          : []),
        [`hand deletes ${key}`, () => world.remove(rule)],
        [`hand copies ${key}`, () => void world.put(merchant, undefined, live)],
        ...(this.#scenario.givesIdsAgain
          ? (["x", "y", "z"] as const).map((name): [string, () => void] => [
              `id given again of ${key}`,
              () => void world.put(merchant, ruleId, { name, priority: 0, note }, true),
            ])
          : []),
      ];
    });
    const made: [string, () => void][] = [
      ["hand makes x", () => void world.put(home, undefined, { name: "x", priority: 0 })],
      ["hand makes x with a note", () => void world.put(home, undefined, { name: "x", priority: 0, note })],
      ["hand makes x with a note", () => void world.put(home, undefined, { name: "x", priority: 1, note })],
    ];
    this.#do([...acts, ...made], pick);
    if (!this.trace.at(-1)?.startsWith("hand makes")) this.#isDirty = true;
  }

  #stackAct(pick: number): void {
    const { world } = this;
    const [stack, second] = world.stacks;
    const acts: [string, () => void][] = this.#namedActs(stack);
    if (this.#scenario.acts === undefined && stack.state.length > 0) {
      const forget = (): void => void Object.assign(stack, { state: [], isPending: false, isStale: false });
      acts.push(["state lost", forget]);
      acts.push(["renamed", () => void Object.assign(stack, { name: stack.name === "p" ? "q" : "p" })]);
      acts.push([
        "removed and made anew",
        () => {
          forget();
          Object.assign(stack, { making: stack.making + 2, whereIs: {}, told: [] });
        },
      ]);
      if (this.#scenario.moves) {
        acts.push([
          "pointed at the other merchant",
          () => void Object.assign(stack, { home: stack.home === 0 ? 1 : 0 }),
        ]);
        const mine = world.rules().filter(({ key }) => world.ghosts.get(key)?.maker === stack.making);
        const to = stack.home === 0 ? 1 : 0;
        if (mine.length > 0 && world.rules().every(({ merchant }) => merchant !== to))
          acts.push([
            "merchant migrated, same ids",
            () => {
              world.migrate(mine, to);
              const ids = Object.keys(stack.whereIs);
              Object.assign(stack, { home: to, whereIs: Object.fromEntries(ids.map((id) => [id, to])) });
            },
          ]);
      }
      // Under the same name it would be the same stack (limit 2).
      if (this.#scenario.second !== undefined && second.state.length === 0)
        acts.push([
          "state copied to another stack",
          () => {
            const { state, program, whereIs } = structuredClone(stack);
            const name = stack.name === "p" ? "q" : "p";
            Object.assign(second, newStack(second.making, name, stack.home), { state, program, whereIs });
          },
        ]);
    }
    this.#do(acts, pick);
  }

  /** The acts of the scenario's own kind. */
  #namedActs(stack: StackModel): [string, () => void][] {
    const { acts } = this.#scenario;
    const { way } = stack;
    const goBy = (changed: Partial<Way>) => (): void => void Object.assign(stack, { way: { ...way, ...changed } });
    if (acts === "to its contract")
      return way.lacks === undefined ? [] : [[`contract learns ${way.lacks}`, goBy({ lacks: undefined })]];
    if (acts === "to its names") {
      const own = stack.state.filter(({ kind, isCondemned }) => kind === "rule" && !isCondemned);
      const free = names.filter((name) => own.every((kept) => kept.name !== name));
      return own.flatMap((kept, at) =>
        free.map((name): [string, () => void] => [
          `alias of ${kept.name} is ${name}`,
          () => void stack.state.splice(stack.state.indexOf(own[at] ?? kept), 1, { ...kept, name }),
        ]),
      );
    }
    if (acts !== "to its way") return [];
    return [
      ["connection renamed", goBy({ connection: way.connection === "default" ? "main" : "default", provider: "" })],
      ["provider changed", goBy({ connection: "default", provider: way.provider === "" ? "shop" : "" })],
      ["credentials changed", goBy({ label: way.label === "1" ? "2" : "1" })],
      ["address respelt", goBy({ host: way.host === "localhost" ? "127.0.0.1" : "localhost" })],
    ];
  }

  #do(acts: readonly [string, () => void][], pick: number): void {
    const [name, act] = acts[pick % Math.max(1, acts.length)] ?? [];
    if (name === undefined || act === undefined) return;
    act();
    this.#past.add(name.replace(/ \d+\/\d+/, ""));
    this.trace.push(name);
  }
}

/** The most runs that may pass until all is as declared. */
const depth = 5;

const usualOrder: Order = { isReversed: false, second: "beside the first" };

/** True where all that a state knows is at the merchant of a token. */
function isOneMerchant(stack: StackModel, token: Merchant): boolean {
  return [...idsOf(stack)].every((id) => (stack.whereIs[id] ?? stack.home) === token);
}

/** The words that refusals have named. */
class Advice {
  readonly adoptIds: Readonly<Record<string, string>>;
  /** The ids of cases by the words that fit them. */
  readonly ids: Readonly<Record<"recover" | "same" | "moved", string>>;
  readonly isRenamed: boolean;
  readonly isToDeclare: boolean;

  constructor(result?: RunResult, before?: Advice) {
    const { failures = [], output = "" } = result ?? {};
    const found = failures.flatMap(({ name, message }) => adoptIdsIn(name, message));
    this.adoptIds = { ...before?.adoptIds, ...Object.fromEntries(found) };
    const ids = (word: "recover" | "same" | "moved"): string => {
      const named = output.matchAll(new RegExp(`MERCHANT_RULES_${word.toUpperCase()}=([0-9a-f]{4})`, "g"));
      const old = before?.ids[word] ?? "";
      return [...new Set([...old.split(",").filter(Boolean), ...[...named].map(([, id = ""]) => id)])].join();
    };
    this.ids = { recover: ids("recover"), same: ids("same"), moved: ids("moved") };
    this.isRenamed = /MERCHANT_RULES_FORMER_NAMES=/.test(output) || before?.isRenamed === true;
    this.isToDeclare = /declare these fields/.test(output) || before?.isToDeclare === true;
  }

  with(result: RunResult): Advice {
    return new Advice(result, this);
  }

  /** A word as a user says it; undefined where none of its ids was named. @param isOne the word for a pair is `same` */
  words(word: Word, isOne: boolean): Words | undefined {
    if (word === "adopt") return { adopt: true };
    if (word === "formerNames") return { formerNames: true };
    // Of two identities nobody says that they are one merchant.
    const name = word === "recover" ? word : isOne && this.ids.same !== "" ? "same" : "moved";
    return this.ids[name] === "" ? undefined : { [name]: this.ids[name] };
  }

  /** The next runs to try: with no word, with each word that was named and is true, and with two of them. */
  choices(usual: Words, isOne: boolean): { verb: Verb; words: Words; note?: string }[] {
    const named = (["recover", "pair"] as const).flatMap((word) => this.words(word, isOne) ?? []);
    const adopts = Object.entries(this.adoptIds).map(([name, id]): Words => ({ adoptIds: { [name]: id } }));
    const all = [...named, ...(this.isRenamed ? [{ formerNames: true }] : []), ...adopts];
    const pairs = all.flatMap((one, k) => all.slice(k + 1).map((two) => both(one, two)));
    const ups = [{}, ...all, ...pairs].map((words) => ({ verb: "up" as const, words: { ...usual, ...words } }));
    const refreshes = [{}, ...all].flatMap((words) =>
      "adoptIds" in words || "recover" in words ? [] : [{ verb: "refresh" as const, words: { ...usual, ...words } }],
    );
    return [...ups, ...refreshes, ...(this.isToDeclare ? ups.map((up) => ({ ...up, note })) : [])];
  }
}

function both(one: Words, two: Words): Words {
  const adoptIds = { ...one.adoptIds, ...two.adoptIds };
  return { ...one, ...two, ...(Object.keys(adoptIds).length === 0 ? {} : { adoptIds }) };
}

/** `adopt: "7"`, or of a set `adopt: { "A": "7" }`. */
function adoptIdsIn(name: string, message: string): [string, string][] {
  const ofRule = [...message.matchAll(/adopt: "(\w+)"/g)].map(([, id = ""]): [string, string] => [name, id]);
  const ofSet = [...message.matchAll(/adopt: \{ "(\w+)": "(\w+)" \}/g)].map(
    ([, key = "", id = ""]): [string, string] => [key, id],
  );
  return [...ofRule, ...ofSet];
}

function withNote(program: Program, text: string): Program {
  return Object.fromEntries(Object.entries(program).map(([name, declared]) => [name, { ...declared, note: text }]));
}

function isAs(declared: Declared, live: JsonObject | undefined): boolean {
  return live !== undefined && Object.entries(declared).every(([field, value]) => live[field] === value);
}

interface Circumstances {
  readonly letters: Letters;
  readonly past: ReadonlySet<string>;
  /** The circumstances of the run that showed it. */
  readonly about: ReadonlySet<string>;
}

/** The known limit of every protocol that it is, by its number in docs; undefined: it must not happen. */
function limitOf(property: Property, { letters: { M, N, I, L }, past, about }: Circumstances): string | undefined {
  const isForgotten = past.has("state lost") || past.has("removed and made anew");
  if (property === "P2b" && !(M && L) && isForgotten) return "7: without list or mark, a lost state means orphans";
  if (past.has("state copied to another stack") && (past.has("second destroy") || past.has("second up of nothing")))
    return "2: destroy, and an up of an empty program, over a copied state";
  if (past.has("hand copies") && (property === "P1" || property === "P4"))
    return "4: a copy whose original is gone is taken as ours";
  if (past.has("one equal elsewhere") && past.has("wrong token") && !I && !M)
    return "3: another merchant's rule that equals a known one under the same id is taken for it";
  if (past.has("id given again of") && (N || !M)) return "5: an id given again to a rule with the same natural key";
  if (property === "P2a" && past.has("adopt") && !M)
    return "8: a rule adopted from a resource that still has it in its state can be lost by that one's delete";
  if (past.has("added elsewhere") && !I) return "1: a stack's first run trusts the token";
  if (about.has("mistaken word") && property !== "P5") return "9: a word said by mistake";
  return undefined;
}

/** Carries out a history from nothing. Gives what did not hold. */
export async function explore(
  scenario: Scenario,
  letters: Letters,
  form: Form,
  history: readonly Step[],
): Promise<Violation[]> {
  const world = await World.open(letters, form, scenario.second === undefined ? {} : { secondHome: scenario.second });
  try {
    const going = new History(world, scenario);
    for (const step of history) await going.step(step);
    await going.demandWayOut();
    return going.violations;
  } finally {
    await world.close();
  }
}

/** A violation, and every run before it, as lines. */
export function shown({ property, text, trace }: Violation, about: string): string {
  return [`${property}: ${text} (${about})`, ...trace.map((line) => `  - ${line}`)].join("\n");
}
