import type { Order } from "../../../support/stack/engine-model.ts";
import { judgeRun, judgeWrite, leftOf, limitOf, type Violation } from "./properties.ts";
import { type Act, type Hand, type Settings, scenarios } from "./scenarios.ts";
import { type LiveRule, type Merchant, newId } from "./service.ts";
import { type Followed, follow, isAsDeclared, type Word, wordsIn } from "./words.ts";
import { Lab, type Means, nameOf, type RunChoice, rowsOf, type World } from "./world.ts";

/** What a walk has found. */
export interface Walked {
  readonly runs: number;
  /** Violations that are known limits, by name. */
  readonly limits: readonly string[];
  /** Others, each as text with all that led to it. */
  readonly failures: readonly string[];
}

/** Gives a whole number below `below`. */
export type Random = (below: number) => number;

/** A generator of a seed: mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** One random walk: a few events and runs, each judged; then the way out is looked for. It ends at the first violation. */
export async function walk(means: Means, name: string, random: Random, steps: number): Promise<Walked> {
  const scenario = scenarios[name];
  if (scenario === undefined) throw new Error(`no scenario ${name}`);
  const lab = await Lab.open(means, scenario);
  const going = new Walk(lab, name, random);
  for (let step = 0; step < steps && going.found.length === 0; step += 1) await going.step();
  if (going.found.length === 0) await going.demandWayOut();
  const { world, found } = going;
  const limits = found.flatMap((each) => limitOf(each, means, name, world.trace) ?? []);
  const failures = found.filter((each) => limitOf(each, means, name, world.trace) === undefined);
  const about = failures.map(({ property, text }) => `${property}: ${text}`).join("; ");
  const lines = [`${about} (contract ${nameOf(means)}, scenario ${name})`, ...world.trace, ...shown(world)];
  return { runs: lab.runs, limits, failures: failures.length > 0 ? [lines.join("\n  - ")] : [] };
}

function shown(world: World): string[] {
  const rules = world.rules.map((all) => all.map(({ ruleId, rule, maker, isMine }) => [ruleId, rule, maker, isMine]));
  return [`rules: ${JSON.stringify(rules)}`, `rows: ${JSON.stringify(rowsOf(world))}`];
}

const orders = ["after the first", "beside the first", "as soon as the first is compared"] as const;
const faults = ["dies before", "dies after", "lost, done", "lost"] as const;

class Walk {
  readonly found: Violation[] = [];
  world: World;
  readonly #lab: Lab;
  readonly #name: string;
  readonly #random: Random;
  #isChanged = false;

  constructor(lab: Lab, name: string, random: Random) {
    this.#lab = lab;
    this.#name = name;
    this.#random = random;
    this.world = lab.begin();
  }

  /** An event or a run; after an event mostly a run. */
  async step(): Promise<void> {
    const { world } = this;
    const isRun = this.#isChanged ? this.#random(4) > 0 : this.#random(3) === 0;
    if (isRun && world.state.length + Object.keys(world.program).length > 0) return await this.#anyRun();
    const events = [...this.#programs(), ...this.#acts(), ...this.#hands()];
    this.#one(events)?.();
    this.#isChanged = true;
    world.advice = [];
  }

  #one<T>(all: readonly T[]): T | undefined {
    return all[this.#random(all.length)];
  }

  async #anyRun(): Promise<void> {
    const { world } = this;
    this.#isChanged = false;
    const ways = world.advice.flatMap((word) => follow(world, word) ?? []);
    const isAdvised = ways.length > 0 && this.#random(2) === 0;
    const way = isAdvised ? this.#one(ways) : undefined;
    const verb = this.#one(["up", "up", "up", "up", "destroy", "refresh"] as const) ?? "up";
    const choice: RunChoice = { verb, order: this.#order() };
    if (way !== undefined) {
      this.world = way.world;
      await this.#run({ ...choice, words: way.words, verb: this.#random(4) > 0 ? "up" : "refresh" });
      return;
    }
    const { budget } = world;
    const connections = Object.keys(world.settings).filter((each) => world.settings[each] !== undefined);
    const wrong = budget.wrong > 0 && this.#random(2) === 0 ? this.#one(connections) : undefined;
    const how = budget.fault > 0 && this.#random(2) === 0 ? this.#one(faults) : undefined;
    const fault = how === undefined ? undefined : { how, write: 1 + this.#random(3) };
    const hasTargets = this.#lab.scenario.acts.includes("target") && verb === "up" && this.#random(3) === 0;
    await this.#run({ ...choice, wrong, fault, verb: hasTargets ? "up --target" : choice.verb });
  }

  #order(): Order {
    return { isReversed: this.#random(2) === 0, second: this.#one(orders) ?? "beside the first" };
  }

  /** One run, judged. */
  async #run(choice: RunChoice): Promise<boolean> {
    const { world } = this;
    const { verb, wrong, fault, words = [] } = choice;
    const before = structuredClone(world);
    const ended = await this.#lab.run(world, choice, (write) => {
      this.found.push(...judgeWrite(before, world, choice, write));
    });
    const { budget } = world;
    world.budget = {
      ...budget,
      ...(ended.hadFault ? { fault: budget.fault - 1 } : {}),
      ...(wrong === undefined ? {} : { wrong: 0 }),
    };
    this.#own(words);
    if (world.became === "renamed" && ended.isGood && verb === "up") world.became = undefined;
    world.advice = wordsIn(ended);
    const with_ = [
      ...words.map(({ is, of, ruleId = "" }) => `${is} ${of} ${ruleId}`.trim()),
      ...(wrong === undefined ? [] : [`the other merchant's token for ${wrong}`]),
      ...(fault === undefined || !ended.hadFault ? [] : [`${fault.how} at write ${fault.write}`]),
      `${choice.order.second}${choice.order.isReversed ? ", reversed" : ""}`,
    ];
    const end = ended.isKilled ? "KILLED" : ended.isGood ? "OK" : "refused";
    world.trace.push(`${verb} (${with_.join("; ")}): ${end} ${ended.text.replaceAll("\n", "\n      ").slice(0, 3000)}`);
    this.found.push(...judgeRun(before, world, choice, ended));
    return ended.isGood;
  }

  /** What a word named and a resource has now, is ours. */
  #own(words: readonly Word[]): void {
    for (const { is, of, ruleId } of words) {
      const row = rowsOf(this.world).find((each) => each.name === of && each.ruleId === ruleId);
      if (!is.startsWith("adopt") || row?.merchant === undefined) continue;
      this.world.rules[row.merchant] = this.world.rules[row.merchant].map((each) =>
        each.ruleId === ruleId ? { ...each, isMine: true } : each,
      );
    }
  }

  #programs(): (() => void)[] {
    return this.#lab.scenario.programs
      .filter((each) => JSON.stringify(each) !== JSON.stringify(this.world.program))
      .map((each) => () => {
        this.world.program = each;
        this.#note(`program ${JSON.stringify(each)}`);
      });
  }

  #note(text: string): void {
    this.world.trace.push(text);
  }

  #acts(): (() => void)[] {
    const { world } = this;
    if (world.budget.act === 0) return [];
    return this.#lab.scenario.acts.flatMap((act) => {
      const done = this.#act(act);
      return done === undefined
        ? []
        : [
            () => {
              world.budget = { ...world.budget, act: world.budget.act - 1 };
              this.#note(done());
            },
          ];
    });
  }

  /** What an act does, where it can be done now; it gives what to say of it. */
  #act(act: Act): (() => string) | undefined {
    const { world } = this;
    const rows = rowsOf(world);
    if (typeof act === "object")
      return () => {
        const settings: Settings = { ...world.settings, [act.set]: act.to };
        world.settings = settings;
        return `settings of ${act.set}: ${act.to}`;
      };
    const { means } = this.#lab;
    const isHome = rows.length > 0 && world.became === undefined && world.stack === "shop/test";
    switch (act) {
      case "learn marks":
        return means.marks && !world.hasMarks ? () => this.#with({ hasMarks: true }, act) : undefined;
      case "learn the identity":
        return means.identity && !world.canAsk ? () => this.#with({ canAsk: true }, act) : undefined;
      case "copy":
        return isHome ? () => this.#copied() : undefined;
      case "stack name":
        return isHome ? () => this.#with({ stack: "shop/other", became: "renamed" }, act) : undefined;
      case "lost":
        return rows.length > 0 ? () => this.#lost() : undefined;
      case "rename":
        return rows.some(({ name }) => name === "A") && world.program.A && !world.program.B && rows.length === 1
          ? () => this.#renamed()
          : undefined;
      case "target":
        return undefined;
    }
  }

  #with(change: Partial<World>, said: string): string {
    Object.assign(this.world, change);
    return said;
  }

  #copied(): string {
    const { world } = this;
    for (const merchant of [0, 1] as const)
      world.rules[merchant] = world.rules[merchant].map((each) =>
        each.maker === "ours" ? { ...each, maker: "another stack", isMine: false } : each,
      );
    Object.assign(world, { stack: "shop/other", became: "copy" });
    return "the state is copied to another stack";
  }

  #lost(): string {
    const { world } = this;
    world.state = world.state.filter(({ kind, name }) => kind !== "rule" || name !== "A");
    world.told = [...new Set([...world.told, ...leftOf(world)])];
    return "row A is lost";
  }

  #renamed(): string {
    const { world } = this;
    const { A: B } = world.program;
    for (const kept of world.state) if (kept.name === "A" && kept.kind === "rule") Object.assign(kept, { name: "B" });
    const A = this.#one([undefined, { key: "y", value: 0, connection: "k" }, { key: "y", value: 1, connection: "k" }]);
    world.program = { ...(A && { A }), ...(B && { B }) };
    world.told = world.told.map((each) => (each === "row A" ? "row B" : each));
    return `A is renamed B by an alias, program ${JSON.stringify(world.program)}`;
  }

  #hands(): (() => void)[] {
    const { world } = this;
    if (world.budget.hand === 0) return [];
    return this.#lab.scenario.hands.flatMap((hand) =>
      ([0, 1] as const).flatMap((merchant) => {
        const all = world.rules[merchant];
        const meant: readonly (LiveRule | undefined)[] = hand === "make" ? [undefined] : all;
        return meant.map((live) => () => {
          world.budget = { ...world.budget, hand: world.budget.hand - 1 };
          this.#note(this.#byHand(hand, merchant, live));
        });
      }),
    );
  }

  /** Somebody does something by hand at a merchant. */
  #byHand(hand: Hand, merchant: Merchant, live: LiveRule | undefined): string {
    const { world } = this;
    const { means } = this.#lab;
    const ids = means.ids === "chosen" ? "opaque" : means.ids;
    const rules = world.rules[merchant];
    const made = (rule: LiveRule["rule"], maker: LiveRule["maker"], ruleId = newId(world, merchant, ids)): void =>
      void rules.push({ ruleId, rule, maker, isMine: false });
    if (live === undefined) {
      const isOther = world.hasMarks && this.#random(2) === 0;
      const mark = `${"e".repeat(32)}.${"0".repeat(16)}.${"0".repeat(16)} shop/prod/A`;
      made(
        { name: "x", priority: 0, ...(isOther ? { metadata: { managedBy: mark } } : {}) },
        isOther ? "another stack" : "hand",
      );
      return `${isOther ? "another stack" : "hand"} makes x0 at ${merchant}`;
    }
    world.isDirty = true;
    const { ruleId, rule } = live;
    const { metadata: _, ...bare } = rule;
    const at = rules.indexOf(live);
    const becomes = (now: LiveRule["rule"]): void => void rules.splice(at, 1, { ...live, rule: now });
    if (hand === "field") becomes({ ...rule, note: "by hand" });
    if (hand === "strip") becomes(bare);
    if (hand === "edit") becomes({ ...rule, priority: 1 - Number(rule.priority) });
    if (hand === "copy") made(rule, "hand");
    if (hand === "delete" || hand === "again") rules.splice(at, 1);
    if (hand !== "again") return `hand ${hand === "copy" ? "copies" : hand} ${merchant}/${ruleId}`;
    const isEqual = this.#random(2) === 0;
    made(isEqual ? bare : { name: "w", priority: 0 }, "hand", ruleId);
    return `hand deletes ${merchant}/${ruleId}, the id is given again${isEqual ? ", equal" : ""}`;
  }

  /** From here the user wants the present program, and does only what refusals name: it must be possible. */
  async demandWayOut(): Promise<void> {
    const { world, found } = this;
    const isMeant = Object.values(world.program).some(
      (each) => each !== undefined && world.settings[each.connection] === undefined,
    );
    if (Object.keys(world.program).length === 0 || isMeant) return;
    const start: World = { ...structuredClone(world), budget: { fault: 0, wrong: 0, act: 0, hand: 0 }, advice: [] };
    const open: (Followed & { readonly depth: number })[] = [{ world: start, words: [], depth: 0 }];
    let last = start;
    for (const next of open) {
      for (const verb of ["up", "refresh"] as const) {
        if (this.#lab.runs > mostRuns || (verb === "refresh" && next.world.state.length === 0)) continue;
        this.world = structuredClone(next.world);
        const order = { isReversed: false, second: "beside the first" } as const;
        const isGood = await this.#run({ verb, words: next.words, order });
        if (verb === "up" && isGood && isAsDeclared(this.world)) found.length = 0;
        if (verb === "up" && isGood && isAsDeclared(this.world)) return;
        if (verb === "up") last = this.world;
        if (next.depth < deepest)
          open.push(...this.#ways(next.words).map((each) => ({ ...each, depth: next.depth + 1 })));
      }
    }
    this.world = last;
    found.splice(0, found.length, { property: "P4", text: "no way out" });
  }

  /** What the user may do next: run again; follow all words at once; or one of them, with those before or alone. */
  #ways(before: readonly Word[]): Followed[] {
    const { world } = this;
    const followed = world.advice.flatMap((word) => follow(world, word) ?? []);
    const words = followed.flatMap((each) => each.words);
    const all = words.length > 1 ? [{ world: structuredClone(world), words }] : [];
    const both = followed.flatMap((each) => {
      const isNew = before.length > 0 && each.words.every(({ is }) => before.every((word) => word.is !== is));
      return isNew ? [{ ...each, words: [...before, ...each.words] }] : [];
    });
    return [...all, ...both, ...followed, { world: structuredClone(world), words: [] }];
  }
}

const deepest = 6;
const mostRuns = 400;
