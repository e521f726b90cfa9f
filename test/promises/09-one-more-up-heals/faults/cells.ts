import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  type FaultInput,
  type LocalService,
  localCredentials,
  type RulesByHand,
  type ServedOperation,
  startLocalService,
} from "../../../../local/service/index.ts";
import { ownerOf } from "../../../../provider/merchant/mark.ts";
import { providerNameKey } from "../../../../provider/settings/setting-names.ts";
import { isJsonObject, type JsonObject } from "../../../../sdk/json/index.ts";
import { othersMarkBy, rule } from "../../../support/rules.ts";
import { EngineModel, isSameState, type RunChoices } from "../../../support/stack/engine-model.ts";
import { type HookNames, type Host, hooksHere, sessionOf } from "../../../support/stack/hosts.ts";
import { ProviderHost } from "../../../support/stack/provider-host.ts";
import { filesOf } from "./contract-files.ts";
import { type FaultKind, kinds } from "./kinds.ts";
import type { Row } from "./rows.ts";
import {
  type Change,
  type Definitions,
  declaredAs,
  type Intruder,
  type Resource,
  renamed,
  type Scenario,
  scenarios,
  tooLateMs,
} from "./scenarios.ts";

const ofShop = { [providerNameKey]: "shop" };

const hookNames: Record<Resource, HookNames> = { MerchantRule: "merchantRule", MerchantRuleSet: "merchantRuleSet" };

/** One fault at one request. */
export interface Cell {
  readonly name: string;
  /** None where the engine is killed and no request fails. */
  readonly fault: FaultInput | undefined;
  /** The provider host is killed when the fault has hit; without a fault the engine, at its Connection. */
  readonly isKill: boolean;
  /** What the engine has made when it is killed: before its state has that, or after. */
  readonly dies?: { readonly with: "owner" | "connection"; readonly at: "before" | "after" };
  /** A timeout ends the run: the answer comes too late, or says again and again when to come back. */
  readonly isTimed: boolean;
  /** The fault is at a request that reads. */
  readonly isRead?: boolean;
  /** See {@link FaultKind.isLikeAnother}. */
  readonly isLikeAnother?: boolean;
}

/**
 * The end of a run with a fault: nothing failed; something failed and the next `up` did it; the next `up` said what to set
 * for one run, and that run did it; an error said that a rule may exist.
 */
export type Ending = "went on" | "next up" | "said what to set" | "said what may exist";

/** The requests of a row's run without faults: the operation of each, in their order. */
export async function requestsOf(row: Row): Promise<ServedOperation[]> {
  return inBench(row, async (bench) => {
    await bench.prepare();
    await bench.run(bench.hooks());
    return bench.service.requests.map(({ operation }) => operation);
  });
}

/** Every fault at every request, once and from there on. */
export function faultCells(requests: readonly ServedOperation[]): Cell[] {
  return kinds.flatMap((kind) => kind.operations.flatMap((operation) => cellsAt(kind, operation, requests)));
}

function cellsAt(
  kind: FaultKind,
  operation: FaultKind["operations"][number],
  requests: readonly ServedOperation[],
): Cell[] {
  const count = requests.filter((each) => each === operation).length;
  // A fault of later pages counts those alone; how many there are is not told by the number of requests.
  const hits = kind.isOfLaterPages === true ? Math.min(1, count - 1) : count;
  return Array.from({ length: Math.max(0, hits) }, (_, index) => index + 1).flatMap((request) =>
    ([1, "always"] as const).map((times) => ({
      name: `${kind.name}, ${operation} request ${request}${times === 1 ? "" : " and on"}`,
      fault: withSelection(kind.fault, { operations: [operation], request, times }),
      isKill: false,
      isRead: isRead(operation),
      isLikeAnother: kind.isLikeAnother === true,
      isTimed:
        (kind.fault.kind === "latency" && kind.fault.ms === tooLateMs) ||
        (kind.fault.kind === "status" && kind.fault.retryAfterSeconds !== undefined),
    })),
  );
}

/** The provider host killed before and after each request is carried out. */
export function killCells(requests: readonly ServedOperation[]): Cell[] {
  return requests.flatMap((operation, index) =>
    (["before", "after"] as const).map((at) => ({
      name: `killed ${at} request ${index + 1} (${operation})`,
      fault: { kind: "hold", at, request: index + 1 } as const,
      isKill: true,
      isRead: isRead(operation),
      isTimed: false,
    })),
  );
}

function isRead(operation: ServedOperation): boolean {
  return operation === "list" || operation === "get";
}

/** The engine killed before and after the state of its Owner, and of its Connection, is written, where the run makes them. */
export async function connectionCells(row: Row): Promise<Cell[]> {
  const isMade = await inBench(row, async (bench) => {
    await bench.prepare();
    return !bench.hasConnection;
  });
  if (!isMade) return [];
  return (["owner", "connection"] as const).flatMap((made) =>
    (["before", "after"] as const).map((at) => ({
      name: `engine killed ${at} the state has its ${made}`,
      fault: undefined,
      isKill: true,
      isTimed: false,
      dies: { with: made, at },
    })),
  );
}

function withSelection(fault: FaultInput, selection: object): FaultInput {
  return { ...fault, ...selection };
}

/** Runs a cell: the operation with the fault, then one more `up`. @throws Error saying what is not as it has to be. */
export function runCell(row: Row, cell: Cell): Promise<Ending> {
  return inBench(row, async (bench) => {
    await bench.prepare();
    const failures = await bench.runWith(cell);
    await bench.intrude(row.contract.meanwhile);
    const doubtful = row.contract.canLookUp ? [] : failures.filter((message) => message.includes("may exist"));
    if (doubtful.length === 0) {
      if (await bench.expectHealed(cell)) return "said what to set";
      return failures.length === 0 ? "went on" : "next up";
    }
    for (const message of doubtful)
      demand(message.includes("look at the service whether the rule is there"), `does not say how to look: ${message}`);
    await bench.expectAtMostDoubled(doubtful.join().split("; the rule may exist; ").length - 1);
    return "said what may exist";
  });
}

async function inBench<T>(row: Row, use: (bench: Bench) => Promise<T>): Promise<T> {
  const { allowsDuplicates, meanwhile } = row.contract;
  const service = await startLocalService({
    contract: filesOf(row.contract).contract,
    allowDuplicates: allowsDuplicates === true,
    ...(isOfTwo(meanwhile) ? { merchants, ruleIds: "sequential" } : {}),
  });
  try {
    return await use(new Bench(row, service));
  } finally {
    service.faults.clear();
    await service.close();
  }
}

const [merchant, otherMerchant] = [
  { name: "acme", token: "token-acme" },
  { name: "globex", token: "token-globex" },
];
const merchants = [merchant, otherMerchant];

/** True where there is another merchant beside the stack's. */
function isOfTwo(meanwhile: Intruder | undefined): boolean {
  return meanwhile === "other merchant" || meanwhile === "one equal";
}

/** The hosts of one run: of the stack's own provider, and of an explicit one where there is one. */
interface Hosts {
  readonly host: Host;
  readonly choices: RunChoices;
}

/** The same variables for a connection or provider of that name. */
function named(variables: Readonly<Record<string, string>>, name: string): Record<string, string> {
  const own = Object.entries(variables).map(([each, value]) => [
    each.replace("MERCHANT_RULES_", `MERCHANT_RULES_${name}__`),
    value,
  ]);
  return { ...variables, ...Object.fromEntries(own) };
}

const foreign = [900, 901, 902].map((k) => rule(k));

/** One service, with rules that are not the stack's, and one stack. */
class Bench {
  readonly service: LocalService;
  readonly #row: Row;
  readonly #scenario: Scenario;
  readonly #engine = new EngineModel();
  readonly #environment: Record<string, string>;
  /** By which the stack was before the change. */
  readonly #before: Record<string, string>;
  /** The same contract with short timeouts. */
  readonly #hurried: Record<string, string>;
  #isChanged = false;
  /** The rules of the merchant whose the stack is. */
  readonly #rules: RulesByHand;

  constructor(row: Row, service: LocalService) {
    this.service = service;
    const isOneOfTwo = isOfTwo(row.contract.meanwhile);
    this.#rules = isOneOfTwo ? service.of(merchant.name) : service;
    this.#row = row;
    this.#scenario = scenarios[row.operation];
    const { file, hurriedFile, fileBefore } = filesOf(row.contract);
    const { token, clientId, clientSecret } = localCredentials;
    const { change } = row.contract;
    // By the token operation where the contract has one, so that its request is in the matrix, too.
    const credentials: Record<string, string> = isOneOfTwo
      ? { MERCHANT_RULES_TOKEN: merchant.token }
      : row.contract.contract.auth?.token
        ? { MERCHANT_RULES_CLIENT_ID: clientId, MERCHANT_RULES_CLIENT_SECRET: clientSecret }
        : { MERCHANT_RULES_TOKEN: token };
    const address = { MERCHANT_RULES_BASE_URL: service.url };
    this.#before = { ...address, MERCHANT_RULES_CONTRACT: fileBefore, ...credentials };
    const now = change === "credentials" ? { MERCHANT_RULES_TOKEN: token } : credentials;
    this.#environment = { ...address, MERCHANT_RULES_CONTRACT: file, ...now };
    this.#hurried = { ...this.#environment, MERCHANT_RULES_CONTRACT: hurriedFile };
  }

  hooks(words: Readonly<Record<string, string>> = {}): Hosts {
    return this.#hooksIn(this.#isChanged ? this.#environment : this.#before, words);
  }

  hurriedHooks(): Hosts {
    return this.#hooksIn(this.#hurried);
  }

  #hooksIn(environment: Record<string, string>, words: Readonly<Record<string, string>> = {}): Hosts {
    const hosted = (config = {}): Host =>
      hooksHere(hookNames[this.#row.resource], sessionOf({ ...this.#named(environment), ...words }, config));
    return this.#hosts(hosted(), this.#isBy("provider") ? hosted(ofShop) : undefined);
  }

  /** The settings of the connection, or the provider, by which the rules go now as well. */
  #named(environment: Record<string, string>): Record<string, string> {
    if (this.#isBy("connection")) return named(environment, "MAIN");
    return this.#isBy("provider") ? named(environment, "SHOP") : environment;
  }

  #hosts(host: Host, shop: Host | undefined): Hosts {
    if (shop === undefined) return { host, choices: {} };
    const resources = [...Object.keys(this.#scenario.before), ...Object.keys(this.#after), "all"];
    const providerOf = Object.fromEntries(resources.map((name) => [name, "shop"]));
    return { host, choices: { providers: { shop }, providerOf } };
  }

  /** True where this has changed by now. */
  #isBy(change: Change): boolean {
    return this.#isChanged && this.#row.contract.change === change;
  }

  /** What is to be declared in the end. */
  get #after(): Definitions {
    return this.#isBy("name") ? renamed(this.#scenario.after) : this.#scenario.after;
  }

  #declared(rules: Definitions): Record<string, JsonObject> {
    return declaredAs(this.#row.resource, rules, this.#isBy("connection") ? { connection: "main" } : {});
  }

  #engineUp({ host, choices }: Hosts, rules: Definitions): Promise<string[]> {
    return this.#engine.up(host, this.#declared(rules), choices);
  }

  #refresh({ host, choices }: Hosts): Promise<string[]> {
    return this.#engine.refresh(host, choices);
  }

  async prepare(): Promise<void> {
    for (const each of foreign) this.#rules.put(undefined, each);
    if (this.#rules !== this.service) this.#makeOthersRules();
    const { before, edit } = this.#scenario;
    await this.#up(before);
    if (edit !== undefined && this.#row.contract.isFixed !== true) {
      const ruleId = this.#rules.rules().find((each) => each.rule.name === edit.rule.name)?.ruleId;
      demand(ruleId !== undefined, "the rule to edit is not there");
      this.#rules.put(ruleId, edit.rule);
    }
    this.#isChanged = true;
    if (this.#isBy("name")) this.#engine.alias("a", "d");
    this.service.resetRequests();
  }

  get hasConnection(): boolean {
    return this.#engine.hasConnection;
  }

  /** The other merchant has the rules that this one has or will have, in the same order and so with the same ids. */
  #makeOthersRules(): void {
    const { before, after } = this.#scenario;
    const others = Object.values(Object.keys(before).length === 0 ? after : before);
    const metadata = { managedBy: othersMarkBy(ownerOf("shop", "test", "all")) };
    const isOneEqual = this.#row.contract.meanwhile === "one equal";
    const othersRule = (each: JsonObject, k: number): JsonObject =>
      isOneEqual ? (k === 0 ? each : rule(700 + k)) : { ...each, metadata };
    for (const each of [...foreign, ...others.map(othersRule)])
      this.service.of(otherMerchant.name).put(undefined, each);
  }

  /** The operation of the row with a cell's fault, to the end of all that it asked the service for; gives what failed. */
  async runWith({ fault, isKill, isTimed, isRead, dies }: Cell): Promise<string[]> {
    if (dies !== undefined) this.#engine.dieAtConnection(dies.at, dies.with);
    if (fault === undefined) return this.run(this.hooks());
    const { faults } = this.service;
    faults.set(fault);
    const failures = isKill ? await this.killed() : await this.run(isTimed ? this.hurriedHooks() : this.hooks());
    // A look at a rule that is deleted by then is no look at a rule that was just made. Where each GET finds no rule, as one
    // before a create does, no answer has an id that could be left out.
    const looks = this.service.requests.filter(({ operation }) => operation === "get").slice((fault.request ?? 1) - 1);
    const findsNothing = looks.length > 0 && looks.every(({ status }) => status === 404);
    // Looks that wait at one moment share a reading, so that a run may read less than the one without faults.
    const { operations = [], request = 1 } = fault;
    const meant = this.service.requests.filter(
      ({ operation }) => operations.length === 0 || operations.some((each) => each === operation),
    );
    const isBeyond = isRead === true && meant.length < request;
    const isVoid = isBeyond || fault.kind === "late-get" || (fault.kind === "without-id" && findsNothing);
    demand(
      faults.injected.length > 0 || isVoid,
      `the fault was not injected: no request matched; the run: ${failures.join("; ")}`,
    );
    faults.clear();
    // A service that carries a request out after the next run has looked makes the rule twice, and nobody can tell. The
    // hooks run faster than any engine starts, so the next run waits until the service has done what it was asked.
    await sleep(delayMs(fault));
    return failures;
  }

  /** Somebody else runs in between: whatever that run says, what was there stays as it was. */
  async intrude(who: Intruder | undefined): Promise<void> {
    const declared = this.#declared(this.#after);
    if (who === "copy" && this.#engine.hasConnection) {
      const before = this.service.rules();
      const { host } = this.hooks();
      const failures = await this.#engine.copied({ names: "shop/copy" }).up(host, declared);
      demand(failures.length > 0, "a copied state is used under other names");
      demand(isDeepStrictEqual(this.service.rules(), before), `by a copied state: ${text(this.service.rules())}`);
    }
    if (who === "namesake") {
      const before = this.service.rules();
      const namesake = new EngineModel();
      await namesake.up(this.hooks().host, declared);
      const now = new Map(this.service.rules().map(({ ruleId, rule }) => [ruleId, rule]));
      for (const { ruleId, rule } of before)
        demand(
          isDeepStrictEqual(now.get(ruleId), rule),
          `a namesake's up made of ${text(rule)}: ${text(now.get(ruleId))}`,
        );
      await this.#expectAll(namesake.up(this.hooks().host, {}), "a namesake's destroy");
      const left = this.service.rules();
      demand(isDeepStrictEqual(left, before), `after a namesake's destroy: ${text(left)}; before: ${text(before)}`);
    }
    // A first run trusts its token.
    if (isOfTwo(who) && this.#engine.hasConnection) {
      const theirs = this.service.of(otherMerchant.name);
      const before = theirs.rules();
      const hooks = this.#hooksIn({ ...this.#environment, MERCHANT_RULES_TOKEN: otherMerchant.token });
      await this.#refresh(hooks);
      await this.#engineUp(hooks, this.#after);
      const now = theirs.rules();
      demand(isDeepStrictEqual(now, before), `at the other merchant: ${text(now)}; before: ${text(before)}`);
    }
  }

  /** The operation of the row; gives what failed. */
  run(hooks: Hosts): Promise<string[]> {
    return this.#row.operation === "refresh" ? this.#refresh(hooks) : this.#engineUp(hooks, this.#after);
  }

  /** The operation in a provider host that is killed once a request is held. */
  async killed(): Promise<string[]> {
    const isOfShop = this.#isBy("provider");
    const environment = this.#named(this.#environment);
    const host = await ProviderHost.start(isOfShop ? ofShop : {}, environment, hookNames[this.#row.resource]);
    const hosts = isOfShop ? this.#hosts(this.hooks().host, host) : this.#hosts(host, undefined);
    try {
      const running = this.run(hosts);
      const held = await Promise.race([this.service.faults.nextHeld(), running.then(() => undefined)]);
      await host.close();
      held?.release();
      const failures = await running;
      // What was on its way is still carried out.
      await new Promise((resolve) => setTimeout(resolve, 30));
      return failures;
    } finally {
      await host.close();
    }
  }

  /** One more `up` (after a refresh, where that was the operation), and all is as declared. True where a word had to be set. */
  async expectHealed(cell: Cell): Promise<boolean> {
    const after = this.#after;
    if (this.#row.operation === "refresh") await this.#expectAll(this.#refresh(this.hooks()), "the refresh after it");
    const isAdvised = await this.#upAsAdvised(cell);
    const expected = [...foreign, ...Object.values(after)];
    const live = this.#live().map((each) => each.rule);
    const [tooMany, missing] = [difference(live, expected), difference(expected, live)];
    demand(
      tooMany.length + missing.length === 0,
      `at the service after one more up, beside what is declared: ${text(tooMany)}; missing: ${text(missing)}`,
    );
    this.#expectTrueState();
    this.service.resetRequests();
    await this.#up(after);
    const writes = this.service.requests.filter(({ method, operation }) => method !== "GET" && operation !== "token");
    demand(writes.length === 0, `one up more writes again: ${text(writes)}`);
    // It notes the place that it has proven by other credentials.
    if (this.#isBy("credentials")) await this.#expectAll(this.#refresh(this.hooks()), "a refresh at the new place");
    const before = structuredClone(this.#engine.state);
    await this.#expectAll(this.#refresh(this.hooks()), "a refresh at the end");
    // Where updates give other ids, a refresh is what brings one into the engine's own id of a rule.
    for (const kept of before)
      if (this.#row.contract.hasNewIds && typeof kept.outputs.ruleId === "string") kept.id = kept.outputs.ruleId;
    demand(isSameState(this.#engine.state, before), `a refresh at the end finds drift: ${text(this.#engine.state)}`);
    return isAdvised;
  }

  /**
   * An `up` without faults. A killed create without a mark is nobody's until the user says so, and other credentials are the
   * merchant's where no known rule is left: where it says what to set for one run, that is set. Where it says that it has
   * learnt of a rule that differs and is to be run again, it is, once.
   */
  async #upAsAdvised({ isKill, fault }: Cell): Promise<boolean> {
    let words: Readonly<Record<string, string>> | undefined;
    let isRunAgain = false;
    for (;;) {
      const failures = await this.#engineUp(this.hooks(words), this.#after);
      if (failures.length === 0) return words !== undefined;
      const said = failures.join("\n");
      if (!isRunAgain && /run `pulumi up` again, which (makes it as declared|replaces it)/.test(said)) {
        isRunAgain = true;
        continue;
      }
      const word = this.#isBy("credentials") ? "MERCHANT_RULES_SAME" : "MERCHANT_RULES_RECOVER";
      const [, id = ""] = new RegExp(`\\b${word}=([0-9a-f]{4})\\b`).exec(said) ?? [];
      demand(id !== "" && words === undefined, `an up without faults fails: ${said}`);
      // A create that was held up may be carried out after the run has looked for it.
      const isHeldUp = (isKill || delayMs(fault) > 0) && !this.#row.contract.isMarked;
      demand(isHeldUp || this.#isBy("credentials"), `must be recovered: ${said}`);
      words = { [word]: id };
    }
  }

  /** The rules at the service, without marks. */
  #live(): { ruleId: string; rule: JsonObject }[] {
    return this.#rules
      .rules()
      .map(({ ruleId, rule: { metadata: _, ...definition } }) => ({ ruleId, rule: definition }));
  }

  /** Where nobody can know: every rule is there, none more often than the errors said, and none was deleted that should not. */
  async expectAtMostDoubled(doubtful: number): Promise<void> {
    const after = this.#after;
    const failures = await this.#engineUp(this.hooks(), after);
    for (const message of failures) demand(/exist|natural key/.test(message), `the next up fails with: ${message}`);
    const live = this.#live().map((each) => each.rule);
    for (const each of [...foreign, ...Object.values(after)])
      demand(
        live.some((other) => isDeepStrictEqual(other, each)),
        `${text(each)} is not at the service`,
      );
    const expected = foreign.length + Object.values(after).length + doubtful;
    demand(live.length <= expected, `${live.length} rules at the service, ${expected} at most: ${text(live)}`);
  }

  #up(rules: Definitions): Promise<void> {
    return this.#expectAll(this.#engineUp(this.hooks(), rules), "an up without faults");
  }

  async #expectAll(run: Promise<string[]>, what: string): Promise<void> {
    const failures = await run;
    demand(failures.length === 0, `${what} fails: ${failures.join("\n")}`);
  }

  /** Every rule that the state names is there under that id, and is what the state says. */
  #expectTrueState(): void {
    const live = Object.fromEntries(this.#live().map((each) => [each.ruleId, each.rule]));
    const known = this.#engine.state.flatMap(({ outputs: { definition, rules, ruleId, ruleIds } }) =>
      isJsonObject(ruleIds) && isJsonObject(rules)
        ? Object.entries(ruleIds).map(([key, ruleId]) => [ruleId, rules[key]] as const)
        : [[ruleId, definition] as const],
    );
    demand(known.length === Object.keys(this.#after).length, `the state has ${known.length} rules`);
    for (const [ruleId, definition] of known)
      demand(isDeepStrictEqual(live[String(ruleId)], definition), `the state says of ${ruleId}: ${text(definition)}`);
  }
}

/** The time after a request, or after its answer, at which it is carried out; 0: at once, or never. */
function delayMs(fault: FaultInput | undefined): number {
  if (fault?.kind === "latency" && fault.at !== "after") return fault.ms;
  if (fault?.kind === "status" || fault?.kind === "close") return fault.at === "later" ? (fault.laterMs ?? 0) : 0;
  return 0;
}

/** The rules that are in the one more often than in the other. */
function difference(one: readonly JsonObject[], other: readonly JsonObject[]): JsonObject[] {
  const rest = [...other];
  return one.filter((each) => {
    const index = rest.findIndex((candidate) => isDeepStrictEqual(candidate, each));
    if (index >= 0) rest.splice(index, 1);
    return index < 0;
  });
}

function demand(isTrue: boolean, otherwise: string): asserts isTrue {
  if (!isTrue) throw new Error(otherwise);
}

function text(value: unknown): string {
  return JSON.stringify(value);
}
