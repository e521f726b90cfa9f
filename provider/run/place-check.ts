import type { Contract } from "../../sdk/contract/index.ts";
import { getOrMake } from "../../sdk/get-or-make.ts";
import { isWholeAsKnown } from "../decide/live-rule.ts";
import { isOpaque, type KnownRule } from "../decide/plan.ts";
import {
  judgePlace,
  judgeWitness,
  type PlaceFacts,
  type PlaceVerdict,
  type Sign,
  witnessOf,
} from "../merchant/judge-place.ts";
import { markId, markIn } from "../merchant/mark.ts";
import type { PlaceOptions } from "../merchant/place-options.ts";
import { isSamePlace, type Site, siteText } from "../merchant/site.ts";
import { nothingTells, otherIdentity } from "../refusals/place.ts";
import type { Claims, Noted } from "./claims.ts";
import type { Live } from "./live.ts";
import type { Paper } from "./paper.ts";
import type { Resource } from "./resource.ts";

/** The connection that is checked. */
interface Checked {
  readonly options: PlaceOptions;
  readonly identityNow: string | undefined;
  readonly contract: Contract;
  readonly live: Live;
  readonly paper: Paper;
  readonly claims: Claims;
  /** True where the Connection was made in this run. */
  readonly isMade: boolean;
  here(ownerId: string | undefined): Promise<Site>;
  facts(ownerId: string | undefined, site: Site | undefined, now: Site): PlaceFacts;
}

/** Where a row's rule stands: here, here as far as weak signs tell, or at the place that the row remembers. */
export type Standing = "here" | "weakly here" | "elsewhere";

/** What is judged: a row, or a create. */
interface Subject {
  readonly of: Pick<Resource, "link">;
  /** The connection and place before: the row's; of a create those that the Connection remembers. */
  readonly before: Site | undefined;
  readonly now: Site;
  readonly facts: PlaceFacts;
  /** The rows that may show something. */
  readonly known: () => readonly Noted[];
  readonly mayBeWeak: boolean;
  /** What a strong sign proves for all. */
  readonly group: string;
}

/** Tells whether a connection leads to the place of the rules that states know, before a write and before a read is believed. */
export class PlaceCheck {
  readonly #place: Checked;
  readonly #proven = new Set<string>();
  /** What each row's rule has shown: it is looked at once. */
  readonly #signs = new WeakMap<KnownRule, Promise<Sign>>();

  constructor(place: Checked) {
    this.#place = place;
  }

  /** Judges the place of a row. @throws MerchantRulesError CONNECTION_FAILED: it is another, or nothing tells */
  async ofRow(key: string, row: KnownRule, of: Resource): Promise<Standing> {
    const now = await this.#place.here(of.link?.ownerId);
    const before = row.site;
    const isOfThisPlace = (noted: Noted): boolean =>
      noted.row.ruleId !== row.ruleId && isOfOnePlace(noted, { of, row }) && this.#isUntouched(noted.row);
    const verdict = await this.#judge({
      of,
      before,
      now,
      facts: this.#place.facts(of.link?.ownerId, before, now),
      known: () => [{ of, key, row }, ...this.#place.claims.ofStates().filter(isOfThisPlace)],
      mayBeWeak: before?.connection === now.connection && before.address === now.address,
      group: groupOf({ of, row }),
    });
    if (verdict === "elsewhere") return "elsewhere";
    return verdict === "weakly proven" ? "weakly here" : "here";
  }

  /** Judges the place of what a resource is to make, or of what is read for the whole stack. @throws MerchantRulesError as ofRow */
  async ofCreate(of: Pick<Resource, "link">): Promise<void> {
    const { claims, isMade } = this.#place;
    const now = await this.#place.here(of.link?.ownerId);
    const before = of.link?.site;
    const isLeft = ({ row: { site } }: Noted): boolean => {
      const { isSameIdentity, word } = this.#place.facts(of.link?.ownerId, site, now);
      return isSameIdentity === false && word === "moved";
    };
    const known = claims.ofStates().filter((each) => each.row.site?.connection === now.connection && !isLeft(each));
    const facts = this.#place.facts(of.link?.ownerId, before, now);
    const identities = new Set(known.flatMap(({ row }) => row.site?.identity ?? []));
    const [identity = before?.identity ?? null] = identities;
    const isSameIdentity =
      now.identity === null || identity === null ? undefined : identities.size < 2 && identity === now.identity;
    if (known.length === 0 && (isMade || before === undefined)) return;
    const isSame = isMade || facts.isSamePlace || known.some(({ row }) => isSamePlace(row.site, now));
    await this.#judge({
      of,
      before,
      now,
      facts: { ...facts, isSameIdentity, isSamePlace: isSame },
      known: () => known.filter(({ row }) => this.#isUntouched(row)),
      mayBeWeak: true,
      group: `make ${of.link?.ownerId} ${now.connection}`,
    });
  }

  /** True of a row whose old place a strong sign has proven in this run. */
  isProven(row: KnownRule, of: Resource): boolean {
    return this.#proven.has(groupOf({ of, row }));
  }

  async #judge(subject: Subject): Promise<PlaceVerdict> {
    const { facts, group } = subject;
    const verdict = judgePlace(facts) ?? (this.#proven.has(group) ? "proven" : await this.#afterLooks(subject));
    if (verdict === "refused: another identity") throw otherIdentity(this.#place, subject);
    if (verdict === "refused: nothing tells") {
      // Where there are no credentials, that is what to say.
      await this.#place.live.client();
      throw nothingTells(this.#place, subject);
    }
    return verdict;
  }

  async #afterLooks(subject: Subject): Promise<PlaceVerdict> {
    const { group, facts, mayBeWeak } = subject;
    const known = subject.known();
    const signs: Sign[] = [];
    for (let at = 0, size = 1; at < known.length; at += size, size *= 4) {
      const batch = known
        .slice(at, at + size)
        .map((noted) => getOrMake(this.#signs, noted.row, () => this.#sign(noted)));
      signs.push(...(await Promise.all(batch)));
      if (signs.includes("strong")) break;
    }
    const witness = witnessOf(signs, mayBeWeak);
    if (witness === "strong") this.#proven.add(group);
    return judgeWitness(witness, facts.word);
  }

  /** What one known rule shows. */
  async #sign({ of, key, row }: Noted): Promise<Sign> {
    const { live, contract } = this.#place;
    const how = contract.operations.list === null ? "cheap" : "list";
    const sight = await live.look(row, of.label(key), how);
    if (sight.is === "absent") return "none";
    if (isOpaque(row.ruleId, contract)) return "strong";
    const mark = markIn(sight.rule, contract);
    if (row.mark !== undefined) return mark !== undefined && markId(mark) === row.mark ? "strong" : "none";
    return isWholeAsKnown(sight.rule, row, live) ? "weak" : "none";
  }

  /** A rule that this run has made, written or deleted shows nothing about older ones. */
  #isUntouched({ ruleId }: KnownRule): boolean {
    return this.#place.paper.written(ruleId) === undefined;
  }
}

/** True of rows that were last proven at one place. Without a key, one resource's rows of one note were. */
function isOfOnePlace(one: Pick<Noted, "of" | "row">, other: Pick<Noted, "of" | "row">): boolean {
  return groupOf(one) === groupOf(other);
}

function groupOf({ of, row: { site, ruleId } }: Pick<Noted, "of" | "row">): string {
  if (site === undefined) return `rule ${ruleId}`;
  return site.key === null ? `${of.holder}\n${siteText(site)}` : `${site.address}\n${site.key}`;
}
