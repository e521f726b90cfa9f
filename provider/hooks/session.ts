import type { RulesClient } from "../../sdk/client/index.ts";
import type { ErrorCode, MerchantRulesError } from "../../sdk/errors.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import { print, warn } from "../host/print.ts";
import { type ConnectionId, Holders, Place } from "../reconcile/index.ts";
import {
  type ClientSettings,
  type ConnectionSettings,
  connectionOf,
  connectionSettings,
} from "../settings/connection-settings.ts";
import { warnOfMisspeltVariables } from "../settings/misspelt-variables.ts";
import { variableName } from "../settings/setting-names.ts";
import { type SettingsSources, sameVariables } from "../settings/sources.ts";

/**
 * What the hooks of one process share: the stack's config, and each place that the connections reach, so that all
 * resources use one token, one limiter and one reading of the list.
 */
export class Session {
  #sources: SettingsSources;
  readonly #onListed: (rules: number) => void;
  readonly #places = new Map<string, Place>();
  readonly #holders = new Map<string, Holders>();
  readonly #connections = new Map<string, { readonly settings: ConnectionSettings; readonly place: Place }>();
  /** The ids of connections as their own hooks said them in this run. */
  readonly #connectionIds = new Map<string, ConnectionId>();
  /** The stack's name now, `project/stack`, where a hook has said it in this run. */
  stackName: string | undefined;
  /** The ids that a refresh has read, by connection: one that was replaced and is not deleted yet is read, too. */
  readonly #readIds = new Map<string, Map<string, ConnectionId>>();
  #noContract: string | undefined;
  readonly #said = new Set<string>();
  readonly #planned = new Map<string, string>();

  /** @param onListed hears how many rules a reading of a list has seen so far */
  constructor(sources: SettingsSources, onListed: (rules: number) => void = () => {}) {
    this.#sources = sources;
    this.#onListed = onListed;
  }

  /** Takes the stack's config; stores and returns at once, for the host does not wait. Faults wait for the first use. */
  configure(config: SettingsSources["config"]): void {
    this.#sources = { ...this.#sources, config };
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

  /** Returns the id of a connection, where its own hooks have said it in this run: in a refresh rules may be read before. */
  connectionId(connection: string): ConnectionId | undefined {
    const [read, ...others] = this.#readIds.get(connection)?.values() ?? [];
    return this.#connectionIds.get(connection) ?? (others.length > 0 ? undefined : read);
  }

  /** Takes the id of a connection from its own hooks. */
  hearConnection(connection: string, id: ConnectionId): void {
    this.#connectionIds.set(connection, id);
  }

  /** Takes the id of a connection that a refresh reads. Of several ids nobody can tell which one is that of now. */
  hearRead(connection: string, id: ConnectionId): void {
    getOrMake(this.#readIds, connection, () => new Map<string, ConnectionId>()).set(id.ownerId, id);
  }

  #connection(name: string) {
    return getOrMake(this.#connections, name, () => {
      // What is misspelt may be what is missing.
      warnOfMisspeltVariables(this.#sources.environment);
      const settings = connectionSettings(this.#sources, name);
      const twin = this.#connections.keys().find((each) => each !== name && variableName(each) === variableName(name));
      if (twin !== undefined) throw sameVariables(name, twin);
      const { parameters, credentials = null, contract, noContract } = settings.client;
      this.#noContract ??= noContract;
      const reached = JSON.stringify([settings.place.address, parameters, credentials]);
      const holders = getOrMake(this.#holders, reached, () => new Holders());
      const key = JSON.stringify([reached, contract, settings.place.identity]);
      const connect = (): Promise<RulesClient> => connectTo(settings.client);
      const place = getOrMake(this.#places, key, () => new Place(settings.place, holders, connect, this.#onListed));
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
