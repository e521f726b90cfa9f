import type { RulesClient } from "../../sdk/client/index.ts";
import { getOrMake } from "../get-or-make.ts";
import { Place } from "../reconcile/index.ts";
import { type ConnectionSettings, connectionOf, connectionSettings, type SettingsSources } from "../settings.ts";

/**
 * What the hooks of one process share: the stack's config, and each place that the connections reach, so that all
 * resources use one token, one limiter and one reading of the list.
 */
export class Session {
  #sources: SettingsSources;
  readonly #places = new Map<string, Place>();
  readonly #placeOf = new Map<string, Place>();

  constructor(sources: SettingsSources) {
    this.#sources = sources;
  }

  /** Takes the stack's config; stores and returns at once, for the host does not wait. Faults wait for the first use. */
  configure(config: SettingsSources["config"]): void {
    this.#sources = { ...this.#sources, config };
  }

  /**
   * The place that a connection reaches; known in a preview too, without any I/O but reading the contract's file once.
   * Connections with the same address, parameters and credentials reach the same one: two merchants of one service may
   * both have a rule 1.
   * @throws MerchantRulesError as connectionSettings
   */
  place(connection: string): Place {
    return getOrMake(this.#placeOf, connection, () => {
      const settings = connectionSettings(this.#sources, connection);
      const { whereabouts, parameters, credentials = null, contract } = settings;
      const key = JSON.stringify([whereabouts, parameters, credentials, contract]);
      return getOrMake(this.#places, key, () => new Place(settings, () => connect(settings)));
    });
  }
}

async function connect(settings: ConnectionSettings): Promise<RulesClient> {
  const connection = connectionOf(settings);
  // Loaded on first use: check and diff, all that a preview calls, need no HTTP.
  const { RulesClient } = await import("../../sdk/client/index.ts");
  return new RulesClient(connection);
}
