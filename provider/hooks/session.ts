import type { RulesClient } from "../../sdk/client/index.ts";
import type { ErrorCode, MerchantRulesError } from "../../sdk/errors.ts";
import { getOrMake } from "../get-or-make.ts";
import { Place } from "../reconcile/index.ts";
import { type ConnectionSettings, connectionOf, connectionSettings, type SettingsSources } from "../settings.ts";

/**
 * What the hooks of one process share: the stack's config, and each place that the connections reach, so that all
 * resources use one token, one limiter and one reading of the list.
 */
export class Session {
  #sources: SettingsSources;
  readonly #onListed: (rules: number) => void;
  readonly #places = new Map<string, Place>();
  readonly #placeOf = new Map<string, Place>();
  #noContract: string | undefined;

  /** @param onListed hears how many rules a reading of a list has seen so far */
  constructor(sources: SettingsSources, onListed: (rules: number) => void = () => {}) {
    this.#sources = sources;
    this.#onListed = onListed;
  }

  /** Takes the stack's config; stores and returns at once, for the host does not wait. Faults wait for the first use. */
  configure(config: SettingsSources["config"]): void {
    this.#sources = { ...this.#sources, config };
  }

  /** Says that no contract was found, and where it was looked for; undefined where there is one. */
  get noContract(): string | undefined {
    return this.#noContract;
  }

  /** An error as the user should see it: one that comes of a missing contract says that there is none. */
  explain(error: MerchantRulesError): MerchantRulesError {
    if (this.#noContract === undefined || !aboutContract.has(error.code)) return error;
    const advice = error.advice === undefined ? this.#noContract : `${error.advice}. Note: ${this.#noContract}`;
    return error.with({ advice });
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
      this.#noContract ??= settings.noContract;
      const key = JSON.stringify([whereabouts, parameters, credentials, contract]);
      return getOrMake(this.#places, key, () => new Place(settings, () => connect(settings), this.#onListed));
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

async function connect(settings: ConnectionSettings): Promise<RulesClient> {
  const connection = connectionOf(settings);
  // Loaded on first use: check and diff, all that a preview calls, need no HTTP, but for a set with onUnmanaged.
  const { RulesClient } = await import("../../sdk/client/index.ts");
  return new RulesClient(connection);
}
