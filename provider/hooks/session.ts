import type { Contract } from "../../sdk/contract/index.ts";
import { Holders, LiveRules } from "../reconcile/index.ts";
import { type ConnectionSettings, connectionOf, connectionSettings, type SettingsSources } from "../settings.ts";

/**
 * What the hooks of one process share: the stack's config, and for each connection its settings and its live rules,
 * so that all resources use one token, one limiter and one reading of the list.
 */
export class Session {
  #sources: SettingsSources;
  readonly #settings = new Map<string, ConnectionSettings>();
  readonly #live = new Map<string, Promise<LiveRules>>();
  readonly #holders = new Map<string, Holders>();

  constructor(sources: SettingsSources) {
    this.#sources = sources;
  }

  /** Takes the stack's config; stores and returns at once, for the host does not wait. Faults wait for the first use. */
  configure(config: SettingsSources["config"]): void {
    this.#sources = { ...this.#sources, config };
  }

  /** A connection's contract, without any I/O but reading its file once. @throws MerchantRulesError as connectionSettings. */
  contract(connection: string): Contract {
    return this.#settingsOf(connection).contract;
  }

  /** A connection's rules, once its credentials are there too. @throws MerchantRulesError as connectionOf. */
  async live(connection: string): Promise<LiveRules> {
    let live = this.#live.get(connection);
    if (live === undefined) {
      live = this.#connect(connection);
      this.#live.set(connection, live);
      live.catch(() => this.#live.delete(connection));
    }
    return live;
  }

  /** Who holds which rule; known in a preview too. Connections that reach the same place share it. */
  holders(connection: string): Holders {
    const { baseUrl, parameters } = this.#settingsOf(connection);
    const place = JSON.stringify([baseUrl.replace(/\/+$/, ""), parameters]);
    let holders = this.#holders.get(place);
    if (holders === undefined) {
      holders = new Holders();
      this.#holders.set(place, holders);
    }
    return holders;
  }

  async #connect(connection: string): Promise<LiveRules> {
    const settings = this.#settingsOf(connection);
    const connected = connectionOf(settings);
    // Loaded on first use: check and diff, all that a preview calls, need no HTTP.
    const { RulesClient } = await import("../../sdk/client/index.ts");
    return new LiveRules(new RulesClient(connected), {
      ...settings,
      holders: this.holders(connection),
    });
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
