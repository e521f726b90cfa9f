import type { LiveRule } from "../../sdk/client/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { valueAt } from "../../sdk/json/index.ts";
import { isAsDeclared, pathsNotWhole, pathsOf, seenAs, whoIs } from "../decide/live-rule.ts";
import { reasonToReplace } from "../decide/plan.ts";
import type { CreateVerdict, ListedVerdict } from "../decide/whose.ts";
import { type Mark, markIn, named } from "../merchant/mark.ts";
import type { Site } from "../merchant/site.ts";
import { recoverId } from "../merchant/words.ts";
import type { About, Where } from "./about.ts";
import { unclear } from "./place.ts";

/** `rule 7 has its natural key (/name: "limit-1") and`. */
function sameKey({ ruleId, rule }: LiveRule, { contract }: Where): string {
  const { naturalKey, secret } = contract.rule;
  if (naturalKey === null) return `rule ${ruleId}`;
  const value = secret.length > 0 ? "" : `: ${JSON.stringify(valueAt(rule, naturalKey) ?? null).slice(0, 100)}`;
  return `rule ${ruleId} has the same natural key (${naturalKey}${value}) and`;
}

/**
 * `to take it over, add adopt: "7"`. A rule that the contract cannot change is taken as it is.
 * @param how how it is taken, where it can be changed
 */
function taking(it: string, rules: readonly LiveRule[], making: About, how = ""): string {
  const { definition, key, of, place } = making;
  const adopting = rules.map(({ ruleId }) => of.adopting(key, ruleId)).join(" or ");
  const isFixed = rules.some(
    ({ rule }) =>
      !isAsDeclared(rule, definition, place) &&
      reasonToReplace(seenAs(rule, definition, place), definition, place.contract) !== undefined,
  );
  return isFixed
    ? `to take ${it} over, declare it as it is at the service and add ${adopting}; change it in a later run`
    : `to take ${it} over${how}, add ${adopting}`;
}

/** A listed rule that a create meets, and who has it. */
interface Met {
  readonly existing: LiveRule;
  readonly mark: Mark | undefined;
  /** The row of another resource that claims it, or may. */
  readonly by:
    | {
        readonly of: { readonly holder: string; readonly owner: string };
        readonly row: { readonly site?: Site };
        readonly naturalKey: string | undefined;
      }
    | undefined;
  readonly facts: { readonly verdict: ListedVerdict };
}

/** A create that is refused because of a listed rule. */
export function refusalOf(
  verdict: Extract<CreateVerdict["is"], `refused: ${string}`>,
  meant: Met,
  found: readonly Met[],
  making: About & { readonly of: { readonly holder: string }; readonly site: Site | undefined },
): MerchantRulesError {
  const { existing, by, mark } = meant;
  const { of, place, attempted } = making;
  switch (verdict) {
    case "refused: claimed":
      return by?.of.holder === of.holder ? inItsOwnWay(existing, making) : stillDeclared(existing, by, making);
    case "refused: unclear": {
      const now = making.site ?? place.site(undefined);
      const about = { ruleId: existing.ruleId, who: named(by?.of.owner), attempted };
      return unclear({ of, before: by?.row.site, now }, about);
    }
    case "refused: the service's own":
      return notOurs(existing, "is the service's own (rule.foreign)", making);
    case "refused: a lost owner's":
      return lostOwners(existing, making);
    case "refused: may be renamed":
      return mayBeRenamed(existing, making);
    case "refused: several ours":
      return several(found, making);
    case "refused: exists": {
      const all = found.filter(({ facts }) => facts.verdict === "another's" || facts.verdict === "move");
      if (all.length > 1) return several(all, making);
      if (mark === undefined) return exists(existing, making);
      return notOurs(existing, `is managed by ${whoIs(mark)}, as its mark says`, making, true);
    }
  }
}

/** The rule is another's. */
export function notOurs(existing: LiveRule, why: string, making: About, mayBeTaken = false): MerchantRulesError {
  const { place, attempted } = making;
  const mark = markIn(existing.rule, place.contract);
  const canBeMarked = mark === undefined || place.contract.operations.update !== null;
  const advice = !mayBeTaken
    ? "declare yours with another natural key, or the rule once"
    : canBeMarked
      ? `${isOfStack(mark, making) ? "where its resource is no longer declared, this run deletes it: run again. Else, " : ""}${taking("it", [existing], making, " all the same")}; to leave it, declare yours with another natural key`
      : `declare yours with another natural key; or have this one deleted first, at the service or by ${isOfStack(mark, making) ? "a run without this declaration" : "who manages it"}, and run again`;
  return new MerchantRulesError("RULE_CONFLICT", `${sameKey(existing, place)} ${why}`, { attempted, advice });
}

function isOfStack(mark: Mark | undefined, { of }: About): boolean {
  return mark !== undefined && mark.ownerId === of.link?.ownerId;
}

/** Another resource of this stack has the rule in its state, and gives it another natural key in this run or keeps it. */
function stillDeclared(existing: LiveRule, by: Met["by"], making: About): MerchantRulesError {
  const { attempted, definition, place } = making;
  const who = named(by?.of.owner);
  const isGivenUp = by !== undefined && by.naturalKey !== place.live.naturalKeyOf(definition);
  const reason = `${sameKey(existing, place)} is managed by ${who} of this stack`;
  const advice = isGivenUp
    ? `${who} is declared with another natural key now and gives this one up: run again`
    : "declare the rule once. Where the other resource was only renamed to this one, give this one an alias";
  return new MerchantRulesError("RULE_CONFLICT", reason, { attempted, advice });
}

/** The rule has this resource's mark or id, and is another rule. */
function mayBeRenamed(existing: LiveRule, making: About): MerchantRulesError {
  const { definition, place, attempted } = making;
  const paths = pathsOf(existing.rule, definition, place);
  const how = paths === "" ? "has fields that are not declared" : `differs at ${paths}`;
  const reason = `rule ${existing.ruleId} has the mark or the id of this resource, and ${how}: it may be that of a resource which had this name before`;
  return new MerchantRulesError("RULE_CONFLICT", reason, {
    attempted,
    advice: `${taking("it", [existing], making)}; or give this resource another name, and the rule is made beside it`,
  });
}

/** The rule has this resource's names under another owner id. */
function lostOwners(existing: LiveRule, making: About): MerchantRulesError {
  const { of, attempted, place } = making;
  const word = recovering(making);
  const reason = `rule ${existing.ruleId} has the mark of this very resource under another owner id: a run whose state was lost made it, or another stack of this name`;
  const leaving =
    place.contract.rule.naturalKey === null
      ? "give this resource another name"
      : "declare yours with another natural key";
  return new MerchantRulesError("RULE_CONFLICT", reason, {
    attempted: attempted,
    advice: `if the state of this stack was lost, say ${word} for one run (merchant-rules help recover); to leave it, ${leaving}${of.isRule ? "" : ", or under another key"}`,
  });
}

/** The word for one run after a lost state. */
function recovering({ of }: About): string {
  return `MERCHANT_RULES_RECOVER=${recoverId(of.link?.ownerId ?? "")}`;
}

/** The service gave the id of another resource's rule again. */
export function idAgain(ruleId: string, owner: string | undefined, { attempted }: About): MerchantRulesError {
  const reason = `the service gave the new rule the id ${ruleId}, by which ${named(owner)} knows its own: that rule is gone. The new one is in the state`;
  return new MerchantRulesError("RULE_CONFLICT", reason, {
    attempted,
    advice: "run again, which makes the other one anew",
  });
}

/** The program has the engine make a new rule while the old one, which it could change in place, is still there. */
function inItsOwnWay(existing: LiveRule, { place, attempted }: About): MerchantRulesError {
  const reason = `${sameKey(existing, place)} is this resource's own, which the new rule is to replace`;
  return new MerchantRulesError("RULE_CONFLICT", reason, {
    attempted,
    advice:
      "give the resource the option deleteBeforeReplace: true, or remove its option replaceOnChanges: then the rule is changed in place",
  });
}

/** Several rules might be the declared one. */
function several(found: readonly { readonly existing: LiveRule }[], making: About): MerchantRulesError {
  const { place, attempted, definition } = making;
  const rules = found.map(({ existing }) => existing);
  const ids = rules.map(({ ruleId }) => ruleId);
  const { naturalKey } = place.contract.rule;
  const what =
    place.live.naturalKeyOf(definition) === undefined
      ? `the rules ${ids.join(", ")} have its mark`
      : `the rules ${ids.join(", ")} have its natural key (${naturalKey})`;
  return new MerchantRulesError("RULE_CONFLICT", what, {
    attempted,
    advice: `${taking("one of them", rules, making)}; or delete at the service the rules that are not wanted, and run again`,
  });
}

/** Nobody can tell whose rule this is, so nobody takes it over without a word. */
function exists(existing: LiveRule, making: About): MerchantRulesError {
  const { definition, place, attempted } = making;
  const differs = !isAsDeclared(existing.rule, definition, place);
  const notWhole = pathsNotWhole(existing.rule, definition, place);
  const others = notWhole === "" ? "as it is declared" : `with the declared fields and others besides: ${notWhole}`;
  const word = recovering(making);
  const recover =
    notWhole === ""
      ? `say ${word} for one run: merchant-rules help recover`
      : `${word} takes over only what is as declared as a whole, and in the way is ${notWhole}: have it alike on both sides, or name it in rule.readOnly of the contract where the service sets it by itself`;
  const how = differs ? `and differs at ${pathsOf(existing.rule, definition, place)}` : others;
  return new MerchantRulesError("RULE_CONFLICT", `${sameKey(existing, place)} exists already, ${how}`, {
    attempted,
    advice: `${taking("it", [existing], making, differs ? " and make it as declared" : "")}. If this resource was only renamed or moved, give it an alias. If the state of this stack was lost, ${recover}`,
  });
}

/**
 * A create that may have made the rule, and nobody can tell.
 * @param reading of the list: why it could not be read
 */
export function mayExist(
  error: MerchantRulesError,
  { definition, key, of, place, attempted, ruleId, leftOut }: About,
  { unread }: { readonly unread?: MerchantRulesError } = {},
): MerchantRulesError {
  const { list } = place.contract.operations;
  const lag = list?.lagMs === null ? " (the contract does not say how far its list lags: operations.list.lagMs)" : "";
  const missing = list === null ? "no list operation" : "no natural key that this rule has";
  const canSearch = place.live.canSearch(definition);
  const isWithoutId = error.exchange?.isWithoutId === true;
  const isSaid = isWithoutId && place.audits.hasSaidWithoutId();
  const isRead = unread === undefined || isWithoutId;
  const isWhole = list !== null && list.lagMs !== null && isRead && leftOut === undefined;
  const canTell = ruleId !== undefined || (canSearch && isWhole);
  const found =
    ruleId !== undefined
      ? `a read does not show it (id ${ruleId})`
      : canSearch
        ? `the list does not show it${lag}${leftOut === undefined ? "" : `, nor rule ${leftOut}, which this run has written`}`
        : `the contract has ${missing} to look it up by`;
  const shown = unread === undefined ? found : `the list could not be read (${unread.reason})`;
  const first = isMerchantRulesError(error.cause) ? error.cause : error;
  const adopting = of.adopting(key, "<its ruleId>");
  const looking = `look at the service whether the rule is there. If it is, add ${adopting}; if it is not, run again`;
  const gaps = leftOut === undefined ? gapsOf(place) : "an operations.list that shows all rules (query, pagination)";
  const safer = gaps === "" ? "" : `. With ${gaps} in the contract the next run can tell`;
  const after = canTell
    ? "run again: the next run looks first whether the rule is there by then"
    : `${looking}${safer}`;
  return error.with({
    code: "RULE_OUTCOME_UNKNOWN",
    reason: `${isSaid ? "its answer has no id either" : first.reason}; the rule may exist; ${shown}`,
    attempted,
    outcomeUnknown: true,
    advice: isWithoutId && !isSaid ? `${first.advice}. Then ${after}` : after,
    cause: error,
  });
}

/** What the contract lacks, so that a run can look up a rule whose create was not answered; "" for nothing. */
function gapsOf({ contract }: Where): string {
  const { list } = contract.operations;
  const ofList =
    list === null ? ["operations.list", "its lagMs"] : list.lagMs === null ? ["operations.list.lagMs"] : [];
  const gaps = contract.rule.naturalKey === null ? [...ofList, "rule.naturalKey"] : ofList;
  return gaps.join(", ").replace(/, (?=[^,]*$)/, " and ");
}

/** The service refuses the rule because of another one that cannot be found. */
export function inTheWay(
  error: MerchantRulesError,
  { definition, key, of, place, attempted }: About,
): MerchantRulesError {
  const own = of.known.get(key) ?? of.replaced.get(key);
  // Without a natural key nothing tells that the rule that is to be replaced has to go first.
  if (own !== undefined && place.contract.rule.naturalKey === null && !place.paper.isGone(own.ruleId))
    return error.with({ attempted, advice: lettingOwnGoFirst(own.ruleId, of) });
  const adopting = of.adopting(key, "<its ruleId>");
  const advice = place.live.canSearch(definition)
    ? `the list shows no rule with its natural key; look at the service for what it conflicts with. If it is this rule, add ${adopting}`
    : `look at the service for a rule like it. To take it over, add ${adopting}; with operations.list and rule.naturalKey in the contract it is found by itself`;
  return error.with({ attempted, advice });
}

function lettingOwnGoFirst(ruleId: string, { isRule }: About["of"]): string {
  const option = isRule ? ", or give the resource the option deleteBeforeReplace: true" : "";
  return `rule ${ruleId}, which the new rule is to replace, may be in its way. To have it go first, set rule.naturalKey in the contract to the field that no two rules share${option}; and run again`;
}

export function cannotSearch({ of, key, place }: About): MerchantRulesError {
  const { operations, rule } = place.contract;
  const gap = operations.list === null ? "operations.list" : "rule.naturalKey";
  const isGap = operations.list === null || rule.naturalKey === null;
  const missing = isGap ? `which needs ${gap} in the contract` : `and the definition has none at ${rule.naturalKey}`;
  const code = isGap ? "UNSUPPORTED_BY_CONTRACT" : "RULE_INVALID";
  return new MerchantRulesError(code, `adopt: true looks the rule up by its natural key, ${missing}`, {
    attempted: `take over rule ${of.label(key) ?? ""}`.trimEnd(),
    advice: `${isGap ? `describe ${gap} in the contract` : `declare ${rule.naturalKey}`}, or name the rule: ${of.adopting(key, "<its ruleId>")}`,
  });
}
