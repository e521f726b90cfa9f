import type { dynamic } from "@pulumi/pulumi";
import type { LiveRule } from "../../sdk/client/index.ts";
import { isMerchantRulesError } from "../../sdk/errors.ts";
import { defined, type Json } from "../../sdk/json/index.ts";
import { warn } from "../host/print.ts";
import { isUnknown, leaving, type Properties, picked } from "../host/wire.ts";
import { isOwnerId } from "../merchant/identity.ts";
import { type Mark, markIn, namesOf } from "../merchant/mark.ts";
import { isSamePlace, type Link, linkIn, linkText, type Site, sameIdentity } from "../merchant/site.ts";
import { mayHavePairWord, pairWord, recoverId } from "../merchant/words.ts";
import { demandNames } from "../refusals/names.ts";
import { otherIdentity } from "../refusals/place.ts";
import type { Place } from "../run/place.ts";
import { shownInputs } from "../settings/connection-settings.ts";
import { providerField } from "../state/names.ts";
import { connectionName, demandVersion, stateVersion } from "../state/state.ts";
import { atBoundary } from "./boundary.ts";
import type { Session } from "./session.ts";

/** The inputs: of Owner and program, and for people; `check` fills in the last two. */
const fields = ["connection", "owner", "ownerNames", "names", "address", "parameters", providerField] as const;

/**
 * The hooks of a Connection: the product's memory of where the rules are that go by it. No credentials and no settings are
 * kept. Whether it still leads there is proven by the hooks of the rules; without an identity it keeps the place of before.
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
    return this.#run("check", news, () => {
      if (isUnknown(news.connection)) return { inputs: news, failures: [] };
      try {
        const shown = shownInputs(this.#session.settings(connectionName(news)).place);
        this.#session.sayContract(connectionName(news));
        return { inputs: { ...news, ...shown }, failures: [] };
      } catch (error) {
        if (!isMerchantRulesError(error)) throw error;
        return { inputs: news, failures: [{ property: "", reason: this.#session.explain(error).message }] };
      }
    });
  }

  /** Compares, without a request. What a preview does not know yet is as it was. */
  diff(_id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
    return this.#run("diff", news, async () => {
      demandVersion(olds);
      const given = known(news, olds);
      this.#demandNames(given);
      const place = this.#session.place(connectionName(given));
      const isTold = ["connection", "owner", "ownerNames", "names"].every((name) => given[name] === olds[name]);
      return { changes: !isTold || (await this.#mayMove(linkIn(olds.link), place)) };
    });
  }

  /** Remembers where the connection leads, and who the credentials are. */
  create(inputs: Properties): Promise<dynamic.CreateResult<Properties>> {
    return this.#run("create", inputs, async () => {
      this.#demandNames(inputs);
      const place = this.#session.place(connectionName(inputs));
      // Without credentials it would remember a place that nothing equals later.
      await place.live.client();
      const link = linkOf(inputs, await place.here(text(inputs.owner)));
      const identity = await shownIdentity(place);
      this.#session.madeConnection(place.options.name);
      await sayNamesakes(link, place);
      return { id: place.options.name, outs: outputs(inputs, link, identity) };
    });
  }

  read(id: string, props: Properties = {}): Promise<dynamic.ReadResult<Properties>> {
    return this.#run("read", props, () => {
      demandVersion(props);
      this.#demandContract(connectionName(props));
      return { id, props: leaving(props), inputs: leaving(picked(props, fields)) };
    });
  }

  /** Remembers another place only where an identity or the user says that the rules are there. */
  update(_id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult<Properties>> {
    return this.#run("update", news, async () => {
      demandVersion(olds);
      this.#demandNames(news);
      const place = this.#session.place(connectionName(news));
      const before = linkIn(olds.link);
      const site = await this.#siteAfter(before, text(news.owner), place);
      const isKept = site.identity === (before?.site.identity ?? null);
      const identity = isKept ? text(olds.identity) : await shownIdentity(place);
      return { outs: outputs(news, linkOf(news, site), identity) };
    });
  }

  /** Comes last in a destroy. Says what is left of the rules; refuses nothing but a broken contract. */
  delete(_id: string, props: Properties): Promise<void> {
    return this.#run("delete", props, async () => {
      const name = connectionName(props);
      this.#demandContract(name);
      const ownerId = linkIn(props.link)?.ownerId ?? text(props.owner);
      if (ownerId === undefined) return;
      try {
        const place = this.#session.place(name);
        if (keepsMarks(place)) sayLeft(await markedRules(place, "anew"), ownerId, place);
      } catch (error) {
        if (!isMerchantRulesError(error)) throw error;
        warn(
          `connection "${name}": could not check whether rules of this stack are left at the service: ${error.reason}`,
        );
      }
    });
  }

  /** Decides whether an update may have something to remember. */
  async #mayMove(before: Link | undefined, place: Place): Promise<boolean> {
    if (before === undefined) return true;
    const { words } = this.#session;
    const canAsk = place.contract.auth.identity !== null;
    // The setting alone is no request.
    const now = canAsk ? place.site(before.ownerId) : await place.here(before.ownerId);
    const canTell = canAsk || now.identity !== null;
    if (isSamePlace(before.site, now)) return before.site.identity === null && canTell;
    if (before.site.identity !== null && canTell) return true;
    // Which case it is, an identity that is asked for decides.
    return canAsk ? mayHavePairWord(words) : pairWord(words, before.ownerId, before.site, now) !== undefined;
  }

  /** Decides which place is remembered. @throws MerchantRulesError CONNECTION_FAILED: another merchant's, by both identities */
  async #siteAfter(before: Link | undefined, ownerId: string | undefined, place: Place): Promise<Site> {
    if (before === undefined) return await place.here(ownerId);
    // A key is of an owner id: another Owner compares by that of before.
    const isSame = isSamePlace(before.site, place.site(before.ownerId));
    if (isSame && before.site.identity !== null) return { ...place.site(ownerId), identity: before.site.identity };
    const here = await place.here(ownerId);
    if (isSame) return here;
    const word = pairWord(this.#session.words, before.ownerId, before.site, here);
    const isSameMerchant = sameIdentity(before.site, here);
    if (isSameMerchant === false && word !== "moved")
      throw otherIdentity(place, { of: { link: before }, before: before.site, now: here });
    return isSameMerchant === undefined && word === undefined ? before.site : here;
  }

  /** Refuses other names here, too: under `--target` the Owner may not be asked. */
  #demandNames({ ownerNames, names }: Properties): void {
    demandNames("this stack", text(ownerNames), text(names), this.#session.words);
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

  #run<T>(hook: string, { names }: Properties, run: () => T | Promise<T>): Promise<T> {
    this.#session.isOfStack(text(names));
    return atBoundary(hook, (error) => this.#session.explain(error), run);
  }
}

/** Returns the inputs of a diff: each that a preview does not know yet is the row's. */
function known(news: Properties, olds: Properties): Properties {
  return Object.fromEntries(
    Object.entries(news).map(([name, value]): [string, Json] => [
      name,
      isUnknown(value) ? (olds[name] ?? value) : value,
    ]),
  );
}

function text(value: Json | undefined): string | undefined {
  return typeof value === "string" && !isUnknown(value) ? value : undefined;
}

function linkOf({ owner, ownerNames, names }: Properties, site: Site): Link {
  const ownerId = text(owner) ?? "";
  if (!isOwnerId(ownerId)) throw new Error(`${JSON.stringify(owner)} is no owner id`);
  return { ownerId, names: text(ownerNames) ?? text(names) ?? "", site };
}

function outputs(inputs: Properties, link: Link, identity: string | undefined): Properties {
  return leaving({ ...picked(inputs, fields), link: linkText(link), ...defined({ identity }), stateVersion });
}

/** Returns the identity for people, as the service told it in this run; undefined where the contract cannot ask. */
async function shownIdentity({ contract, live }: Place): Promise<string | undefined> {
  return contract.auth.identity === null ? undefined : await (await live.client()).identity();
}

function keepsMarks({ contract }: Place): boolean {
  return contract.rule.owner !== null && contract.operations.list !== null;
}

/** A listed rule with a mark. */
interface Marked extends LiveRule {
  readonly mark: Mark;
}

async function markedRules({ live, contract }: Place, how: "known" | "anew"): Promise<Marked[]> {
  const { byId } = how === "anew" ? await live.listedAnew() : await live.listed();
  return [...byId.values()].flatMap((each) => {
    const mark = markIn(each.rule, contract);
    return mark === undefined ? [] : [{ ...each, mark }];
  });
}

/** Says which rules have this stack's mark and no resource that this run has heard of. */
function sayLeft(rules: readonly Marked[], ownerId: string, { options, claims }: Place): void {
  const left = rules.filter(({ ruleId, mark }) => mark.ownerId === ownerId && !claims.isKnown(ruleId));
  if (left.length === 0) return;
  warn(
    `connection "${options.name}": ${counted(left.length)} left at the service with the mark of this stack, and no resource that this run has heard of has ${left.length === 1 ? "it" : "them"}; another connection may: ${listed(left)}. \`merchant-rules drift\` reads the whole state and tells`,
  );
}

/** Reads the list, and says which rules have the names of a new connection's stack under other owner ids. */
async function sayNamesakes({ ownerId, names }: Link, place: Place): Promise<void> {
  if (!keepsMarks(place)) return;
  const stack = namesOf(`${names}/`, "");
  const others = (await markedRules(place, "known")).filter(
    ({ mark }) => mark.ownerId !== ownerId && mark.names.startsWith(stack),
  );
  if (others.length === 0) return;
  warn(
    `connection "${place.options.name}": ${others.length === 1 ? "1 rule has" : `${others.length} rules have`} the mark of another stack with this name (${names}): ${listed(others)}. This run does not change or delete such rules. If the state of this very stack was lost, set MERCHANT_RULES_RECOVER=${recoverId(ownerId)} for one run`,
  );
}

function counted(rules: number): string {
  return rules === 1 ? "1 rule is" : `${rules} rules are`;
}

function listed(rules: readonly LiveRule[]): string {
  const ids = rules.map(({ ruleId }) => ruleId);
  return ids.length > 20 ? `${ids.slice(0, 20).join(", ")} and ${ids.length - 20} more` : ids.join(", ");
}
