import { AssertionError } from "node:assert";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Session } from "../../provider/hooks/session.ts";
import { defaultConnection } from "../../provider/settings/setting-names.ts";
import { readStateDrift } from "../../report/drift/drift.ts";
import { driftReport } from "../../report/drift/drift-report.ts";
import { ownerIdsIn, stateResources } from "../../report/state/from-stack.ts";
import type { ContractInput } from "../../sdk/contract/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { readStack } from "../engine/index.ts";
import { type FaultInput, type LocalService, type LocalServiceOptions, startLocalService } from "../service/index.ts";
import type { RulesByHand } from "../service/merchants.ts";
import { byRule, type RuleChanges } from "./by-rule.ts";
import { type DecideOptions, decideBy, type PaymentDecision } from "./decide.ts";
import { type Program, programToRun } from "./program.ts";
import { type LiveRule, theRule, type WhichRule } from "./rules-by-hand.ts";
import { prepare, type RunOptions, type RunOutcome, run, type WorldStack } from "./runs.ts";
import { type Config, connectionConfig, contractOf, demandOwnService } from "./settings.ts";

/** The parts of a world. Only the program must be given. */
export interface WorldOptions {
  /** The Pulumi program: the folder of its `Pulumi.yaml`, its file, or a function whose result are the stack's outputs. */
  readonly program: Program;
  /**
   * The contract of the service and the program: a file, a preset's name, or the contract itself. Default:
   * `merchant-rules.contract.yaml` in the program's folder or project, else the preset `illustrative`.
   */
  readonly contract?: string | ContractInput;
  /** Stack config; a key without a namespace is the project's. The stack's own file is never read. Default: none. */
  readonly config?: Config;
  /** Stack config that is secret. Default: none. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Variables for the program's process and the provider's; a function does not see them. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /** The stack's name. Default: `test`. */
  readonly stack?: string;
  /** Values of the contract's parameters. Default: each is `test`. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** The names of further connections; each reaches the rules of a merchant of its own. Default: none. */
  readonly connections?: readonly string[];
  /** Folders of policy packs, for `preview` and `up`. Default: none. */
  readonly policyPacks?: readonly string[];
  /** A configuration file for each policy pack, in their order. Default: none. */
  readonly policyPackConfigs?: readonly string[];
  /** Other options of the service, as `startLocalService` takes them. `ruleIds` is `sequential`: "1", "2", … */
  readonly service?: Omit<LocalServiceOptions, "contract" | "merchants" | "parameters" | "credentials" | "dataFile">;
}

/**
 * A rules service and a stack of its own, for one test. Several may live at once. The runs of one world wait for each
 * other.
 */
export interface World extends AsyncDisposable {
  /** Says what `up` would do; nothing is written. @throws EngineError: it failed, with all that the run said */
  preview(options?: RunOptions): Promise<RunOutcome>;
  /** Brings the rules to what the program declares. @throws EngineError: it failed, with all that the run said */
  up(options?: RunOptions): Promise<RunOutcome>;
  /** Brings the state to what the rules are, as `pulumi refresh`. @throws EngineError */
  refresh(options?: RunOptions): Promise<void>;
  /** Deletes all that the stack declares. @throws EngineError */
  destroy(options?: RunOptions): Promise<RunOutcome>;
  /** Compares the live rules with the state, as `merchant-rules drift`; writes nothing. @throws MerchantRulesError */
  drift(): Promise<RuleChanges>;
  /** Previews. @throws AssertionError, with every rule and path: `up` would change something */
  expectNoChanges(options?: RunOptions): Promise<void>;
  /** Compares as `drift`. @throws AssertionError, with every rule and path: the service differs from the state */
  expectNoDrift(): Promise<void>;

  /**
   * Says what the rules at the service decide of a payment, as the semantics that the contract names say. @throws MerchantRulesError
   * UNSUPPORTED_BY_CONTRACT: it names none; SEMANTICS_INVALID; SETTINGS_INVALID: `at` is no instant
   */
  decide(payment: JsonObject, options?: DecideOptions): PaymentDecision;

  /** Returns the rules at the service, oldest first. */
  rules(connection?: string): LiveRule[];
  /** Adds a rule as somebody does by hand. Gives its ruleId. */
  add(rule: JsonObject, connection?: string): string;
  /**
   * Edits a rule as somebody does by hand: the given fields take the place of what the rule has, or the function gives the whole
   * rule anew. @throws AssertionError: not exactly one rule is meant
   */
  edit(which: WhichRule, change: JsonObject | ((rule: JsonObject) => JsonObject), connection?: string): void;
  /** Deletes a rule as somebody does by hand. @throws AssertionError: not exactly one rule is meant */
  remove(which: WhichRule, connection?: string): void;
  /** Sets faults beside those that are set, as docs/testing.md names them. @throws TypeError for a fault that is none */
  fault(...faults: readonly FaultInput[]): void;
  /** Takes all faults back: from now on the service responds as it should. */
  clearFaults(): void;
  /** The service itself: its address, the requests that it got, its faults. */
  readonly service: LocalService;
  /** Ends what runs, the service and the folder of the world. A second call does nothing. */
  close(): Promise<void>;
}

/**
 * Starts a rules service on a free port of this machine, and gives the program a stack of its own with it. Neither the
 * environment nor the working directory of this process is changed, and nothing of either leads the program to another
 * service.
 * @throws MerchantRulesError CONTRACT_INVALID; SETTINGS_INVALID: no such program, or a setting that leads elsewhere;
 * EngineError: a broken Pulumi.yaml
 */
export async function startWorld(options: WorldOptions): Promise<World> {
  const { program, parameters = {}, connections = [], config = {}, env = {} } = options;
  demandOwnService({ config, env });
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "merchant-rules-world-")));
  try {
    const { project } = await programToRun(program, folder);
    const named = contractOf(options.contract, project.programFolder, folder);
    const tokens = new Map([defaultConnection, ...connections].map((name) => [name, `token-of-${name}`]));
    const service = await startLocalService({
      ruleIds: "sequential",
      ...options.service,
      contract: named.contract,
      merchants: [...tokens].map(([name, token]) => ({ name, token })),
    });
    const ended = new AbortController();
    return new RunningWorld(service, ended, {
      program,
      contract: named.contract,
      contractFile: named.file,
      connection: connectionConfig({ ...named, url: service.url, tokens, parameters }),
      config,
      secrets: options.secrets ?? {},
      env,
      stack: options.stack ?? "test",
      projectName: project.name,
      folder,
      policyPacks: options.policyPacks ?? [],
      policyPackConfigs: options.policyPackConfigs ?? [],
      killSignal: ended.signal,
    });
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

class RunningWorld implements World {
  readonly service: LocalService;
  readonly #ended: AbortController;
  readonly #stack: WorldStack;
  /** The last of the runs, which wait for each other. */
  #last: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(service: LocalService, ended: AbortController, stack: WorldStack) {
    this.service = service;
    this.#ended = ended;
    this.#stack = stack;
  }

  preview(options?: RunOptions): Promise<RunOutcome> {
    return this.#queued("preview", () => run("preview", this.#stack, options));
  }

  up(options?: RunOptions): Promise<RunOutcome> {
    return this.#queued("up", () => run("up", this.#stack, options));
  }

  async refresh(options?: RunOptions): Promise<void> {
    await this.#queued("refresh", () => run("refresh", this.#stack, options));
  }

  destroy(options?: RunOptions): Promise<RunOutcome> {
    return this.#queued("destroy", () => run("destroy", this.#stack, options));
  }

  drift(): Promise<RuleChanges> {
    return this.#queued("drift", () => driftOf(this.#stack));
  }

  async expectNoChanges(options?: RunOptions): Promise<void> {
    const { hasChanges, rules, text } = await this.preview(options);
    if (hasChanges) throw unexpected("changes", rules, text);
  }

  async expectNoDrift(): Promise<void> {
    const { rules, text } = await this.drift();
    if (rules.length > 0) throw unexpected("drift", rules, text);
  }

  decide(payment: JsonObject, options: DecideOptions = {}): PaymentDecision {
    return decideBy(this.rules(options.connection), payment, this.#stack, options);
  }

  rules(connection?: string): LiveRule[] {
    return this.#of(connection).rules();
  }

  add(rule: JsonObject, connection?: string): string {
    return this.#of(connection).put(undefined, rule);
  }

  edit(which: WhichRule, change: JsonObject | ((rule: JsonObject) => JsonObject), connection?: string): void {
    const byHand = this.#of(connection);
    const { ruleId, rule } = theRule(byHand, which);
    byHand.put(ruleId, typeof change === "function" ? change(rule) : { ...rule, ...change });
  }

  remove(which: WhichRule, connection?: string): void {
    const byHand = this.#of(connection);
    byHand.remove(theRule(byHand, which).ruleId);
  }

  fault(...faults: readonly FaultInput[]): void {
    this.service.faults.add(faults);
  }

  clearFaults(): void {
    this.service.faults.clear();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #of(connection = defaultConnection): RulesByHand {
    return this.service.of(connection);
  }

  /** Begins work when all work before it has ended: two runs of a stack at once would refuse each other by its lock. */
  #queued<T>(what: string, work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(() => {
      if (this.#closed === undefined) return work();
      throw new MerchantRulesError("SETTINGS_INVALID", "the world is closed", {
        attempted: what,
        advice: "wait for what it does before you close it",
      });
    });
    this.#last = next.catch(() => {});
    return next;
  }

  async #close(): Promise<void> {
    this.#ended.abort();
    await this.service.close();
    await this.#last;
    rmSync(this.#stack.folder, { recursive: true, force: true });
  }
}

async function driftOf(world: WorldStack): Promise<RuleChanges> {
  const { choice } = await prepare(world);
  const { config, resources, name } = await readStack(choice);
  const sources = { config: (key: string) => config.get(key)?.text, environment: choice.env ?? {} };
  const session = new Session({ ...sources, folder: choice.cwd ?? world.folder, checksDefinitions: false });
  const ofRules = stateResources(resources);
  const looksForUnmanaged = world.contract.operations.list !== null;
  const ownerIds = ownerIdsIn(resources);
  const drift = await readStateDrift(ofRules, session, { looksForUnmanaged, ownerIds }).catch((error: unknown) => {
    throw isMerchantRulesError(error) ? session.explain(error) : error;
  });
  const about = { subject: `stack ${name}`, hasRules: ofRules.length > 0, looksForUnmanaged, ignoring: [] };
  return byRule(driftReport(drift, about));
}

function unexpected(what: "changes" | "drift", rules: RuleChanges["rules"], text: string): AssertionError {
  const operator = what === "changes" ? "expectNoChanges" : "expectNoDrift";
  return new AssertionError({
    message: `expected no ${what}, found:\n\n${text}`,
    actual: rules,
    expected: [],
    operator,
  });
}
