import type { RulesClient } from "../../sdk/client/index.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import { Place } from "../reconcile/index.ts";
import { type ConnectionSettings, connectionOf, connectionSettings, type SettingsSources } from "../settings.ts";

/**
 * What the hooks of one process share: the stack's config, the settings of each connection, and each place that the
 * connections reach, so that all resources use one token, one limiter and one reading of the list.
 */
export class Session {
  #sources: SettingsSources;
  readonly #settings = new Map<string, ConnectionSettings>();
  readonly #places = new Map<string, Place>();
  readonly #placeOf = new Map<string, Place>();

  constructor(sources: SettingsSources) {
    this.#sources = sources;
  }

  /** Takes the stack's config; stores and returns at once, for the host does not wait. Faults wait for the first use. */
  configure(config: SettingsSources["config"]): void {
    this.#sources = { ...this.#sources, config };
  }

  /** A connection's contract, without any I/O but reading its file once. @throws MerchantRulesError as connectionSettings */
  contract(connection: string): Contract {
    return this.#settingsOf(connection).contract;
  }

  /**
   * The place that a connection reaches; known in a preview too. Connections with the same address, parameters and
   * credentials reach the same one: two merchants of one service may both have a rule 1.
   */
  place(connection: string): Place {
    let place = this.#placeOf.get(connection);
    if (place !== undefined) return place;
    const settings = this.#settingsOf(connection);
    const { whereabouts, contract, credentials = null } = settings;
    const key = JSON.stringify([whereabouts, settings.parameters, credentials, contract]);
    place = this.#places.get(key) ?? new Place({ ...settings, connection, connect: () => connect(settings) });
    this.#places.set(key, place);
    this.#placeOf.set(connection, place);
    return place;
  }

  #settingsOf(connection: string): ConnectionSettings {
    let settings = this.#settings.get(connection);
    if (settings === undefined) {
      settings = connectionSettings(this.#sources, connection);
      this.#settings.set(connection, settings);
    }
    return settings;
  }
}

async function connect(settings: ConnectionSettings): Promise<RulesClient> {
  const connection = connectionOf(settings);
  // Loaded on first use: check and diff, all that a preview calls, need no HTTP.
  const { RulesClient } = await import("../../sdk/client/index.ts");
  return new RulesClient(connection);
}
