import type { dynamic } from "@pulumi/pulumi";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { asWritten, defined, isEqual } from "../../sdk/json/index.ts";
import { warn } from "../host/print.ts";
import { isUnknown, leaving, type Properties, picked } from "../host/wire.ts";
import {
  type ConnectionId,
  connectionIdIn,
  connectionIdText,
  hashOfIdentity,
  markIn,
  newConnectionId,
  type Place,
  type PlaceOptions,
  replacing,
} from "../reconcile/index.ts";
import { shownInputs } from "../settings/connection-settings.ts";
import { providerField } from "../state/names.ts";
import { connectionName, demandVersion, stateVersion } from "../state/state.ts";
import { atBoundary } from "./boundary.ts";
import type { Session } from "./session.ts";

/** The inputs by which people see where a connection leads; `check` fills in the last two. */
const shownFields = ["connection", "project", "stack", "address", "parameters"] as const;

/**
 * The hooks of a Connection: the product's memory of whose its rules are. No credentials and no settings are kept. In an
 * unchanged run only check and diff are called, so the place itself is proven by the hooks of the rules.
 */
export class ConnectionHooks implements dynamic.ResourceProvider<Properties, Properties> {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  // Stores before anything could be awaited: the host runs the next hook without waiting for this one.
  async configure({ config }: dynamic.ConfigureRequest): Promise<void> {
    this.#session.configure((key) => config.get(key));
  }

  /** Fills in where the connection leads, so that the engine shows a change of that. */
  check(_olds: Properties, news: Properties): Promise<dynamic.CheckResult<Properties>> {
    return this.#run("check", () => {
      this.#session.stackName = nameIn(news);
      if (isUnknown(news.connection)) return { inputs: news, failures: [] };
      try {
        const shown = shownInputs(this.#session.settings(connectionName(news)).place);
        return { inputs: { ...news, ...shown }, failures: [] };
      } catch (error) {
        if (!isMerchantRulesError(error)) throw error;
        return { inputs: news, failures: [{ property: "", reason: this.#session.explain(error).message }] };
      }
    });
  }

  /** Refuses a state that was made under another stack's name, without a request. */
  diff(id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
    return this.#run("diff", () => {
      demandVersion(olds);
      const known = this.#hear(id, olds);
      const settings = this.#session.settings(connectionName(news)).place;
      demandName(olds, news, settings);
      const { identity } = settings;
      if (identity !== undefined && known?.identity !== undefined && known.identity !== hashOfIdentity(identity))
        throw otherIdentity(settings, identity, olds);
      return isEqual(picked(olds, shownFields), picked(news, shownFields), asWritten) ? { changes: false } : {};
    });
  }

  /** Asks who the credentials are, and makes the id. */
  create(inputs: Properties): Promise<dynamic.CreateResult<Properties>> {
    return this.#run("create", async () => {
      const name = connectionName(inputs);
      const place = this.#session.place(name);
      const settings = this.#session.settings(name).place;
      const identity = place.contract.auth.identity === null ? undefined : await (await place.live.client()).identity();
      if (identity !== undefined && settings.identity !== undefined && identity !== settings.identity)
        throw notTheIdentity(settings, identity);
      const made = newConnectionId(identity);
      place.proof.newOwnerIds.add(made.ownerId);
      this.#session.hearConnection(name, made);
      await sayNamesakes(inputs, made, place);
      return { id: connectionIdText(made), outs: outputs(inputs, identity) };
    });
  }

  read(id: string, props: Properties = {}): Promise<dynamic.ReadResult<Properties>> {
    return this.#run("read", () => {
      demandVersion(props);
      this.#demandContract(connectionName(props));
      this.#hear(id, props, (name, known) => this.#session.hearRead(name, known));
      return { id, props: leaving(props), inputs: leaving(picked(props, [...shownFields, providerField])) };
    });
  }

  update(id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult<Properties>> {
    return this.#run("update", () => {
      this.#demandContract(connectionName(news));
      this.#hear(id, olds);
      return { outs: outputs(news, typeof olds.identity === "string" ? olds.identity : undefined) };
    });
  }

  /** Comes last in a destroy. Says what is left of the rules; refuses nothing but a broken contract. */
  delete(id: string, props: Properties): Promise<void> {
    return this.#run("delete", async () => {
      const known = connectionIdIn(id);
      const name = connectionName(props);
      this.#demandContract(name);
      if (known === undefined) return;
      try {
        const place = this.#session.place(name);
        if (!keepsMarks(place)) return;
        const { byId } = await place.live.listedAnew();
        const left = [...byId.values()].filter(
          ({ ruleId, rule }) =>
            markIn(rule, place.contract)?.ownerId === known.ownerId &&
            place.holders.keeperOf(ruleId) === undefined &&
            !place.holders.isKnown(ruleId),
        );
        if (left.length > 0)
          warn(
            `connection "${name}": ${counted(left.length)} left at the service with the mark of this stack, but in no state: ${listed(left.map(({ ruleId }) => ruleId))}. Delete at the service what you do not want, or declare it with adopt`,
          );
      } catch (error) {
        if (!isMerchantRulesError(error)) throw error;
        warn(
          `connection "${name}": could not check whether rules of this stack are left at the service: ${error.reason}`,
        );
      }
    });
  }

  /**
   * Refuses a contract that is named and cannot be read. Other settings may be gone by now: what is to be read or deleted
   * may belong to a connection that is not used any more.
   * @throws MerchantRulesError CONTRACT_INVALID
   */
  #demandContract(name: string): void {
    try {
      this.#session.settings(name);
    } catch (error) {
      if (!isMerchantRulesError(error) || error.code === "CONTRACT_INVALID") throw error;
    }
  }

  /** Tells the run the id of a connection, and by which name people know the identity in it. */
  #hear(
    id: string,
    { identity, ...props }: Properties,
    hear = (name: string, known: ConnectionId): void => this.#session.hearConnection(name, known),
  ): ConnectionId | undefined {
    const known = connectionIdIn(id);
    const name = connectionName(props);
    if (known === undefined) return undefined;
    hear(name, known);
    if (typeof identity === "string") this.#session.place(name).proof.nameIdentity(identity);
    return known;
  }

  #run<T>(hook: string, run: () => T | Promise<T>): Promise<T> {
    return atBoundary(hook, (error) => this.#session.explain(error), run);
  }
}

function outputs(inputs: Properties, identity: string | undefined): Properties {
  return leaving({
    ...picked(inputs, [...shownFields, providerField]),
    ...defined({ identity }),
    stateVersion,
  });
}

function keepsMarks({ contract }: Place): boolean {
  return contract.rule.owner !== null && contract.operations.list !== null;
}

/** Reads the list, and says which rules have the names of a new connection under other owner ids. */
async function sayNamesakes({ project, stack }: Properties, { ownerId }: ConnectionId, place: Place): Promise<void> {
  if (!keepsMarks(place)) return;
  const { byId } = await place.live.listed();
  const others = [...byId.values()].filter(({ rule }) => {
    const mark = markIn(rule, place.contract);
    return mark !== undefined && mark.ownerId !== ownerId && mark.names.startsWith(`${project}/${stack}/`);
  });
  if (others.length === 0) return;
  const { name, recover } = place.options;
  warn(
    `connection "${name}": ${others.length === 1 ? "1 rule has" : `${others.length} rules have`} the mark of another stack with this name (${project}/${stack}): ${listed(others.map(({ ruleId }) => ruleId))}. This run does not change or delete such rules. If the state of this very stack was lost, set ${recover.howTo} for one run`,
  );
}

function counted(rules: number): string {
  return rules === 1 ? "1 rule is" : `${rules} rules are`;
}

function listed(ids: readonly string[]): string {
  return ids.length > 20 ? `${ids.slice(0, 20).join(", ")} and ${ids.length - 20} more` : ids.join(", ");
}

function nameIn({ project, stack }: Properties): string {
  return `${project}/${stack}`;
}

/** Refuses a state that is another stack's, or this one's before it was renamed. @throws MerchantRulesError SETTINGS_INVALID */
function demandName(olds: Properties, news: Properties, settings: PlaceOptions): void {
  const { name, formerNames, howToNameFormer } = settings;
  const [before, now] = [nameIn(olds), nameIn(news)];
  if (before === now || formerNames.includes(before)) return;
  const reason = `the state of connection "${name}" was made as stack ${before}, and this is stack ${now}. Its rules are those of ${before}`;
  throw new MerchantRulesError("SETTINGS_INVALID", reason, {
    attempted: "compare the stack's name with its state",
    advice: `if this stack was renamed, set ${howToNameFormer}=${before} for one run. If its state was copied, do not go on with it, and do not run destroy: both would act on the rules of ${before}. Begin with an empty state`,
  });
}

function otherIdentity(settings: PlaceOptions, identity: string, { identity: before }: Properties): MerchantRulesError {
  const { name } = settings;
  const reason = `the setting identity of connection "${name}" is ${JSON.stringify(identity)}, and its rules were made as ${JSON.stringify(before)}`;
  return new MerchantRulesError("CONNECTION_FAILED", reason, {
    attempted: "compare who the credentials are",
    advice: `correct the setting; or, to have the stack at the other merchant from now on, run \`${replacing(settings)}\``,
  });
}

function notTheIdentity({ name, identity }: PlaceOptions, now: string): MerchantRulesError {
  const reason = `the credentials of connection "${name}" are those of ${JSON.stringify(now)}, and the setting identity says ${JSON.stringify(identity)}; nothing was written`;
  return new MerchantRulesError("CONNECTION_FAILED", reason, {
    attempted: "compare who the credentials are",
    advice: `give the credentials of ${JSON.stringify(identity)}, or correct the setting`,
  });
}
