import type { RulesClient } from "../../sdk/client/index.ts";
import type { ErrorCode, MerchantRulesError } from "../../sdk/errors.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import { print, warn } from "../host/print.ts";
import type { Owner } from "../merchant/mark.ts";
import { Audits } from "../run/audits.ts";
import { Claims } from "../run/claims.ts";
import { Live } from "../run/live.ts";
import { Paper } from "../run/paper.ts";
import { Place, type Reached } from "../run/place.ts";
import type { Resource } from "../run/resource.ts";
import {
  type ClientSettings,
  type ConnectionSettings,
  connectionOf,
  connectionSettings,
} from "../settings/connection-settings.ts";
import { contractName } from "../settings/contract-source.ts";
import { warnOfMisspeltVariables } from "../settings/misspelt-variables.ts";
import { variableName } from "../settings/setting-names.ts";
import { providerName, type SettingsSources, sameVariables } from "../settings/sources.ts";
import { type StackWords, stackWords } from "../settings/words.ts";

/** A resource whose rule the engine replaces, as it was, and what is to come. Its create knows no rule. */
export interface Replaced {
  readonly of: Resource;
  /** Its names in the state, by which its delete is called. */
  readonly before: Owner;
  readonly next: JsonObject;
}

/**
 * What the hooks of one process share: the stack's config, who has which rule, and each place that the connections reach,
 * so that all resources use one token, one limiter and one reading of the list.
 */
export class Session {
  #sources: SettingsSources;
  readonly #onListed: (rules: number) => void;
  readonly #reached = new Map<string, Reached>();
  readonly #connections = new Map<string, { readonly settings: ConnectionSettings; readonly place: Place }>();
  readonly #made = new Set<string>();
  readonly claims = new Claims();
  /** Resources whose rule the engine replaces, by holder. */
  readonly replaced = new Map<string, Replaced>();
  #words: StackWords | undefined;
  #noContract: string | undefined;
  readonly #said = new Set<string>();
  readonly #planned = new Map<string, string>();

  /** @param onListed hears how many rules a reading of a list has seen so far */
  constructor(sources: SettingsSources, onListed: (rules: number) => void = () => {}) {
    this.#sources = sources;
    this.#onListed = onListed;
  }

  /** The words of the user for one run. */
  get words(): StackWords {
    this.#words ??= stackWords(this.#sources);
    return this.#words;
  }

  /** The explicit provider whose session this is; "" for the default one. */
  get provider(): string {
    return providerName(this.#sources.config) ?? "";
  }

  /** Notes that a connection was made in this run. */
  madeConnection(name: string): void {
    this.#made.add(name);
  }

  /** Takes the stack's config; stores and returns at once, for the host does not wait. Faults wait for the first use. */
  configure(config: SettingsSources["config"]): void {
    this.#sources = { ...this.#sources, config };
  }

  /** Notes which stack the run is of, `project/stack`: its own variables come before others. The first that says it decides. */
  isOfStack(names: string | undefined): void {
    const stack = names?.split("/")[1];
    if (this.#sources.stack === undefined && stack !== undefined) this.#sources = { ...this.#sources, stack };
  }

  /** Returns the session of an explicit provider: its settings stand in place of the stack's config. */
  under(config: SettingsSources["config"]): Session {
    return new Session({ ...this.#sources, config }, this.#onListed);
  }

  /** Says that no contract was found, and where it was looked for; undefined where there is one. */
  get noContract(): string | undefined {
    return this.#noContract;
  }

  /** Prints a sentence, once a run for each subject. */
  sayOnce(subject: string, sentence: string | undefined): void {
    if (sentence === undefined || this.#said.has(subject)) return;
    this.#said.add(subject);
    warn(sentence);
  }

  /**
   * Prints which contract a connection has, each once a run; warns where none was found.
   * @throws MerchantRulesError as connectionSettings
   */
  sayContract(connection: string): void {
    const { noContract } = this.settings(connection).client;
    const name = contractName(this.#sources, connection);
    this.sayOnce(`contract ${name}`, noContract);
    if (noContract === undefined) this.sayPlan(`contract ${name}`, [`contract: ${name}`]);
  }

  /** Prints what a run will do to a resource: once, though a preview with a refresh compares twice. */
  sayPlan(resource: string, lines: readonly string[]): void {
    const text = lines.join("\n");
    if (this.#planned.get(resource) === text) return;
    this.#planned.set(resource, text);
    print(...lines);
  }

  /** Forgets the plan of a resource, which is being carried out. */
  planIsDone(resource: string): void {
    this.#planned.delete(resource);
  }

  /** Returns an error as the user should see it: one that comes of a missing contract says that there is none. */
  explain(error: MerchantRulesError): MerchantRulesError {
    if (this.#noContract === undefined || !aboutContract.has(error.code)) return error;
    const advice = error.advice === undefined ? this.#noContract : `${error.advice}. Note: ${this.#noContract}`;
    return error.with({ advice });
  }

  /**
   * Returns the place that a connection reaches, in a preview too: without any I/O but reading the contract's file once.
   * Connections with the same address, parameters and credentials reach the same one: two merchants of one service may
   * both have a rule 1.
   * @throws MerchantRulesError as connectionSettings
   */
  place(connection: string): Place {
    return this.#connection(connection).place;
  }

  /** Returns the settings of a connection. @throws MerchantRulesError as connectionSettings */
  settings(connection: string): ConnectionSettings {
    return this.#connection(connection).settings;
  }

  #connection(name: string) {
    return getOrMake(this.#connections, name, () => {
      // What is misspelt may be what is missing.
      warnOfMisspeltVariables(this.#sources, [...this.#connections.keys(), name]);
      const settings = connectionSettings(this.#sources, name);
      const twin = this.#connections.keys().find((each) => each !== name && variableName(each) === variableName(name));
      if (twin !== undefined) throw sameVariables(name, twin);
      const { contract, noContract, insecureTls = null, clientCertificate = null } = settings.client;
      const { address, parameters, credentials = null } = settings.place;
      this.#noContract ??= noContract;
      const key = JSON.stringify([address, parameters, credentials, contract, insecureTls, clientCertificate]);
      const reached = getOrMake(this.#reached, key, () => {
        const paper = new Paper(contract);
        const live = new Live(paper, () => connectTo(settings.client), this.#onListed);
        return { live, paper, audits: new Audits(live, this.claims) };
      });
      const { claims, words } = this;
      const place = new Place(settings.place, reached, { claims, words, isMade: (each) => this.#made.has(each) });
      return { settings, place };
    });
  }
}

/** The errors that a contract would have prevented. */
const aboutContract: ReadonlySet<ErrorCode> = new Set([
  "UNSUPPORTED_BY_CONTRACT",
  "RESPONSE_INVALID",
  "REJECTED",
  "RULE_NOT_FOUND",
]);

async function connectTo(settings: ClientSettings): Promise<RulesClient> {
  const connection = connectionOf(settings);
  // Loaded on first use: check and diff, all that a preview calls, need no HTTP, but for a set with onUnmanaged.
  const { RulesClient } = await import("../../sdk/client/index.ts");
  return new RulesClient(connection);
}
