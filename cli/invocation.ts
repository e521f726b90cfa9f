import { Session } from "../provider/hooks/session.ts";
import type { Place } from "../provider/run/place.ts";
import { ProvenPlace } from "../provider/run/proven-place.ts";
import { contractsBy } from "../provider/settings/contract-source.ts";
import type { SettingsSources } from "../provider/settings/sources.ts";
import { type RuleSide, readLiveSide } from "../report/sides/index.ts";
import { stateResources } from "../report/state/from-stack.ts";
import { readResources } from "../report/state/state-resource.ts";
import type { Contract } from "../sdk/contract/index.ts";
import { isMerchantRulesError } from "../sdk/errors.ts";
import { getOrMake } from "../sdk/get-or-make.ts";
import { isEngineError } from "../stack/errors.ts";
import { memoryIn } from "./export/connection.ts";
import { GivenCredentials } from "./given-credentials.ts";
import { type OnProgress, withProgress } from "./progress.ts";
import { hasProject, LocalStack, readSettings, readState, type Stack, type StackOptions } from "./stack.ts";

/**
 * One run of a command, for one side: the stack that it is about, and whose rules those are. Each part is read at its first
 * use, and once: settings, state, contracts, the list of each connection.
 */
export class Invocation {
  readonly options: StackOptions;
  readonly #quiet: boolean;
  readonly #given: GivenCredentials;
  readonly #local: LocalStack;
  #settings: Promise<SettingsSources> | undefined;
  #state: Promise<Stack> | undefined;
  #stateIfAny: Promise<Stack | undefined> | undefined;
  #session: Promise<Session> | undefined;
  #step: OnProgress = () => {};
  #contractOf: Promise<(connection: string) => Contract | undefined> | undefined;
  readonly #proven = new Map<string, Promise<ProvenPlace>>();

  /**
   * @param quiet shows no progress. Default: false
   * @param given of the command, where it has several sides
   */
  constructor(options: StackOptions, quiet = false, given = new GivenCredentials()) {
    this.options = options;
    this.#quiet = quiet;
    this.#given = given;
    this.#local = new LocalStack(options);
  }

  /** Makes the side of a state that is read already, by the settings of the last run, as a refresh sees them. */
  static ofState(stack: Stack, quiet: boolean, given?: GivenCredentials): Invocation {
    return Invocation.ofSettings(stack.sources, stack, quiet, given);
  }

  /** Makes the side of settings and a state that are read already. @param stack undefined: there is none */
  static ofSettings(
    sources: SettingsSources,
    stack: Stack | undefined,
    quiet = false,
    given?: GivenCredentials,
  ): Invocation {
    const made = new Invocation({}, quiet, given);
    made.#stateIfAny = Promise.resolve(stack);
    made.#settings = Promise.resolve({ ...sources, checksDefinitions: false });
    return made;
  }

  /** Returns the settings of the next run: the stack's config, then the environment. @throws MerchantRulesError, EngineError */
  settings(): Promise<SettingsSources> {
    this.#settings ??= readSettings(this.options, this.#local).then((sources) => ({
      ...sources,
      checksDefinitions: false,
    }));
    return this.#settings;
  }

  /** Returns the state, with the settings of the last run. @throws MerchantRulesError, EngineError: it cannot be read */
  state(): Promise<Stack> {
    this.#state ??= readState(this.options, this.#local);
    return this.#state;
  }

  /** Says which contract a connection has; undefined: none is found. @throws MerchantRulesError CONTRACT_INVALID, SETTINGS_INVALID */
  contractOf(): Promise<(connection: string) => Contract | undefined> {
    this.#contractOf ??= this.settings().then(contractsBy);
    return this.#contractOf;
  }

  /** Returns the one session of this side, by the settings of the next run. */
  session(): Promise<Session> {
    this.#session ??= this.settings().then((sources) => new Session(sources, (rules) => this.#step(rules)));
    return this.#session;
  }

  /** Reads rules, and shows how many; an error says its cause. */
  async reading<T>(read: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.session();
    const work = async (step: OnProgress): Promise<T> => {
      this.#step = step;
      try {
        return await read(session);
      } catch (error) {
        throw isMerchantRulesError(error) ? session.explain(error) : error;
      }
    };
    return await withProgress("reading rules", work, { quiet: this.#quiet });
  }

  /** Returns the place of a connection, proven as `up` proves it. @throws MerchantRulesError CONNECTION_FAILED: it is another merchant's, or nothing tells */
  proven(connection: string): Promise<ProvenPlace> {
    return getOrMake(this.#proven, connection, async () => {
      this.#stateIfAny ??= this.#findState();
      const [session, state] = await Promise.all([this.session(), this.#stateIfAny]);
      const resources = state?.resources ?? [];
      const rows = readResources(stateResources(resources), session);
      const place = session.place(connection);
      await this.demandOneAddress([connection]);
      const { link = rows.find(({ of, place: at }) => at === place && of.link)?.of.link } =
        memoryIn(resources, connection).connection ?? {};
      return await ProvenPlace.of(place, link);
    });
  }

  /** Refuses to send a variable's credentials to a second address. @throws MerchantRulesError SETTINGS_INVALID */
  async demandOneAddress(connections: readonly string[]): Promise<void> {
    const [sources, session] = await Promise.all([this.settings(), this.session()]);
    for (const name of connections) {
      const place = placeIfAny(session, name);
      if (place !== undefined) this.#given.demandOneAddress(sources, place.options);
    }
  }

  /** Reads the rules that are live at a connection. One paged pass. @throws MerchantRulesError as proven, and as readLiveSide */
  live(connection: string, name: string): Promise<RuleSide> {
    return this.reading(async () => readLiveSide(await this.proven(connection), name, connection));
  }

  /** Reads the state, if any: outside a project there is none, and a stack that was never run has none yet. */
  async #findState(): Promise<Stack | undefined> {
    if (!hasProject(this.options)) return undefined;
    try {
      return await this.state();
    } catch (error) {
      if (isEngineError(error) && error.code === "STACK_NOT_FOUND") return undefined;
      throw error;
    }
  }
}

/** Returns the place of a connection; undefined where its settings are gone, which is said to who reads there. */
function placeIfAny(session: Session, connection: string): Place | undefined {
  try {
    return session.place(connection);
  } catch (error) {
    if (isMerchantRulesError(error)) return undefined;
    throw error;
  }
}
