import { placeKey } from "../../../../provider/merchant/fingerprint.ts";
import { type Site, siteIn } from "../../../../provider/merchant/site.ts";
import type { ContractInput } from "../../../../sdk/contract/index.ts";
import { isJsonObject, type JsonObject } from "../../../../sdk/json/index.ts";
import { contractOf, identity, list, owner } from "../../../support/stack/contracts.ts";
import { EngineRun, type Kept, killed, type Order } from "../../../support/stack/engine-model.ts";
import { hooksHere, sessionOf } from "../../../support/stack/hosts.ts";
import { contractFileOf } from "../../../support/stack/service.ts";
import { type Budget, type Name, names, type Program, type Scenario, type Settings } from "./scenarios.ts";
import { type Ids, type LiveRule, type Merchant, type Rules, startService, tokenOf, type Write } from "./service.ts";
import { programFor, type Word } from "./words.ts";

/** What a contract can tell. What is learnt in a scenario, it cannot tell in the beginning. */
export interface Means {
  readonly marks: boolean;
  readonly identity: boolean;
  readonly key: boolean;
  readonly list: boolean;
  readonly update: boolean;
  readonly ids: Ids;
}

const kinds: Readonly<Record<0 | 1, readonly [Ids, Ids]>> = { 0: ["short", "opaque"], 1: ["again", "chosen"] };

/** 32 contracts: all of marks, identity, natural key and list, each with two kinds of ids; a third of them without update. */
export const contracts: readonly Means[] = Array.from({ length: 16 }, (_, bits) => {
  const [marks, identity, key, list] = [8, 4, 2, 1].map((bit) => (bits & bit) !== 0) as [
    boolean,
    boolean,
    boolean,
    boolean,
  ];
  const count = [marks, identity, key, list].filter(Boolean).length;
  return kinds[count % 2 === 0 ? 0 : 1].map((ids, at) => ({
    marks,
    identity,
    key,
    list,
    ids,
    update: (count + at) % 3 > 0,
  }));
}).flat();

/** `MINL short`, as the model writes it; `u`: no update. */
export function nameOf({ marks, identity, key, list, update, ids }: Means): string {
  const letters = [marks && "M", identity && "I", key && "N", list && "L"].map((each) => each || "-").join("");
  return `${letters}${update ? "" : "u"} ${ids}`;
}

function contractFor(means: Means): ContractInput {
  return contractOf({
    operations: {
      ...(means.list ? { list } : { list: null }),
      ...(means.update ? {} : { update: null }),
      ...(means.ids === "chosen" ? { create: { identifyBy: { in: "body", name: "id" } } } : {}),
    },
    rule: {
      naturalKey: means.key ? "/name" : null,
      ...(means.marks ? { owner } : {}),
      ...(means.ids === "opaque" ? { idScope: "service" } : {}),
    },
    ...(means.identity ? { auth: { identity } } : {}),
    limits: { maxAttempts: 2 },
  });
}

/** All that a walk changes: plain values, so that a copy is another world. */
export interface World extends Rules {
  state: Kept[];
  program: Program;
  settings: Settings;
  hasMarks: boolean;
  canAsk: boolean;
  /** `shop/other` once the stack was renamed, or its state copied, until the user has said which. */
  stack: "shop/test" | "shop/other";
  became: "copy" | "renamed" | undefined;
  budget: Budget;
  /** Rules (`0/7`) and rows (`row A`) of which somebody was told that they may not be as they should. */
  told: string[];
  /** Somebody has changed a rule by hand. */
  isDirty: boolean;
  /** A run was killed, and none has ended well since. */
  wasKilled: boolean;
  /** What the last refusals advise. */
  advice: Word[];
  /** Events and runs so far. */
  trace: string[];
}

export interface RunChoice {
  readonly verb: "up" | "refresh" | "destroy" | "up --target";
  /** The connection that has the other merchant's token in this run. */
  readonly wrong?: string | undefined;
  readonly words?: readonly Word[];
  readonly order: Order;
  readonly fault?:
    | { readonly write: number; readonly how: "dies before" | "dies after" | "lost, done" | "lost" }
    | undefined;
}

/** What came of a run. */
export interface Ended {
  readonly isGood: boolean;
  readonly isKilled: boolean;
  /** What it printed, and what it failed with. */
  readonly text: string;
  readonly failures: readonly { readonly name: string; readonly message: string }[];
  readonly applied: ReadonlySet<string>;
  readonly hadFault: boolean;
}

/** A row of the state. */
export interface Row {
  readonly name: string;
  readonly ruleId: string;
  readonly definition: JsonObject;
  readonly connection: string;
  readonly site: Site | undefined;
  /** The merchant whose place the row has. */
  readonly merchant: Merchant | undefined;
  readonly isCondemned: boolean;
  readonly isNotOurs: boolean;
}

export function rowsOf(world: World): Row[] {
  return world.state.flatMap((kept): Row[] => {
    if (kept.kind !== "rule") return [];
    const { name, isCondemned, outputs } = kept;
    // An update may have made another rule: the id of the resource is that of the first.
    const ruleId = String(outputs.ruleId ?? kept.id);
    const site = siteIn(outputs.at);
    const definition = isJsonObject(outputs.definition) ? outputs.definition : {};
    const connection = site?.connection ?? "";
    const isNotOurs = Array.isArray(outputs.notOurs) && outputs.notOurs.length > 0;
    return [{ name, ruleId, definition, connection, site, merchant: merchantOf(site, world), isCondemned, isNotOurs }];
  });
}

/** The merchant whose credentials a place has. */
export function merchantOf(site: Site | undefined, { state }: World): Merchant | undefined {
  const ownerId = state.find(({ kind }) => kind === "owner")?.id ?? "";
  const isOf = (merchant: Merchant) => (credentials: number) => keyOf(ownerId, merchant, credentials) === site?.key;
  return ([0, 1] as const).find((merchant) => [0, 1, wrongOnes].some(isOf(merchant)));
}

const wrongOnes = 9;
function keyOf(ownerId: string, merchant: Merchant, credentials: number): string | null {
  const token = tokenOf(merchant, credentials, 0);
  return placeKey(ownerId, { parameters: {}, secretParameters: new Set(), credentials: { kind: "token", token } });
}

export function liveOf(world: Rules, merchant: Merchant | undefined, ruleId: string): LiveRule | undefined {
  return merchant === undefined ? undefined : world.rules[merchant].find((each) => each.ruleId === ruleId);
}

/** True of a rule that is as declared: its natural key and value. */
export function isAs(
  definition: JsonObject | undefined,
  declared: { key: string; value: number } | undefined,
): boolean {
  return declared !== undefined && definition?.name === declared.key && definition.priority === declared.value;
}

export function isProvider(connection: string): boolean {
  return connection === connection.toUpperCase();
}

/** Runs of the real hooks over worlds, at a service of both merchants. One after another. */
export class Lab {
  readonly means: Means;
  readonly scenario: Scenario;
  readonly #service: Awaited<ReturnType<typeof startService>>;
  readonly #files = new Map<string, string>();
  #runs = 0;

  private constructor(means: Means, scenario: Scenario, service: Awaited<ReturnType<typeof startService>>) {
    this.means = means;
    this.scenario = scenario;
    this.#service = service;
  }

  static async open(means: Means, scenario: Scenario): Promise<Lab> {
    return new Lab(means, scenario, await startService(contractFor(means)));
  }

  get runs(): number {
    return this.#runs;
  }

  /** The world in the beginning. */
  begin(): World {
    const { scenario, means } = this;
    const learns = (what: "learn marks" | "learn the identity"): boolean => scenario.acts.includes(what);
    const others = scenario.others.map((key, at): LiveRule => {
      const ruleId = means.ids === "short" || means.ids === "again" ? String(at + 1) : `hand-${at}`;
      return { ruleId, rule: { name: key, priority: 0 }, maker: "hand", isMine: false };
    });
    return {
      rules: [[], others],
      last: [0, others.length],
      state: [],
      program: {},
      settings: scenario.settings,
      hasMarks: means.marks && !learns("learn marks"),
      canAsk: means.identity && !learns("learn the identity"),
      stack: "shop/test",
      became: undefined,
      budget: scenario.budget,
      told: [],
      isDirty: false,
      wasKilled: false,
      advice: [],
      trace: [],
    };
  }

  /** One run. `heard` hears of each write before it is carried out. */
  async run(world: World, choice: RunChoice, heard: (write: Write) => void): Promise<Ended> {
    const { verb, order, words = [], fault } = choice;
    this.#runs += 1;
    const said: string[] = [];
    const environment = this.#environment(world, choice);
    const host = hooksHere("merchantRule", sessionOf(environment), said);
    const connections = Object.keys(world.settings);
    const providers = connections.filter(isProvider).map((name) => {
      return [
        name,
        hooksHere("merchantRule", sessionOf(environment, { "merchant-rules:provider": name }), said),
      ] as const;
    });
    const declared = declaredIn(programFor(world, words), words, order.isReversed);
    const engine = new EngineRun(world.state, host, {
      order,
      names: world.stack,
      providers: Object.fromEntries(providers),
      providerOf: Object.fromEntries(
        Object.entries(world.program).flatMap(([name, each]) =>
          each !== undefined && isProvider(each.connection) ? [[name, each.connection]] : [],
        ),
      ),
      targets: verb === "up --target" ? declared.map(([name]) => name) : undefined,
    });
    let writes = 0;
    const write = (each: Write): { isDone: boolean; isAnswered: boolean } => {
      writes += 1;
      const how = engine.isDead ? "dies before" : writes === fault?.write ? fault.how : undefined;
      const isDone = how !== "dies before" && how !== "lost";
      if (isDone) heard(each);
      if (how?.startsWith("dies")) engine.die();
      return { isDone, isAnswered: how === undefined };
    };
    this.#service.serving = { run: this.#runs, at: world, ids: this.means.ids, write };
    try {
      if (verb === "refresh") await engine.refresh();
      else if (verb === "destroy") await engine.destroy();
      else await engine.up(declared);
    } catch (error) {
      if (error !== killed) throw error;
    }
    const { failures, isDead: isKilled, applied } = engine;
    const text = [...said, ...failures.map(({ name, message }) => `${name}: ${message}`)].join("\n");
    const isGood = !isKilled && failures.length === 0;
    return { isGood, isKilled, text, failures, applied, hadFault: fault !== undefined && writes >= fault.write };
  }

  #environment({ settings, hasMarks, canAsk }: World, { wrong, words = [] }: RunChoice): Record<string, string> {
    const means = { ...this.means, marks: hasMarks, identity: canAsk };
    const name = nameOf(means);
    const file = this.#files.get(name) ?? contractFileOf(contractFor(means));
    this.#files.set(name, file);
    const entries = Object.entries(settings).flatMap(([connection, setting]): [string, string][] => {
      if (setting === undefined) return [];
      const [host, merchant, credentials] = setting;
      const other: Merchant = merchant === 0 ? 1 : 0;
      const token =
        wrong === connection ? tokenOf(other, wrongOnes, this.#runs) : tokenOf(merchant, credentials, this.#runs);
      const variables = { BASE_URL: this.#service.url.replace("127.0.0.1", host), CONTRACT: file, TOKEN: token };
      const label = this.scenario.isLabelled && !canAsk ? { IDENTITY: `merchant-${merchant}` } : {};
      return Object.entries({ ...variables, ...label }).map(([each, value]) => [
        `MERCHANT_RULES_${connection.toUpperCase()}__${each}`,
        value,
      ]);
    });
    const ids = (is: Word["is"]): string => words.flatMap((word) => (word.is === is ? [word.of] : [])).join();
    return {
      ...Object.fromEntries(entries),
      MERCHANT_RULES_SAME: ids("same"),
      MERCHANT_RULES_MOVED: ids("moved"),
      MERCHANT_RULES_RECOVER: ids("recover"),
      MERCHANT_RULES_FORMER_NAMES: ids("former"),
    };
  }
}

function declaredIn(program: Program, words: readonly Word[], isReversed: boolean): [string, JsonObject][] {
  const entries = names.flatMap((name: Name): [string, JsonObject][] => {
    const each = program[name];
    if (each === undefined) return [];
    const adopt = words.find((word) => word.is.startsWith("adopt") && word.of === name)?.ruleId;
    return [
      [
        name,
        {
          definition: { name: each.key, priority: each.value },
          ...(isProvider(each.connection) ? {} : { connection: each.connection }),
          ...(adopt === undefined ? {} : { adopt }),
        },
      ],
    ];
  });
  return isReversed ? entries.reverse() : entries;
}
