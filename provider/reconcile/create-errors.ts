import type { LiveRule } from "../../sdk/client/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import { valueAt } from "../../sdk/json/index.ts";
import { type Found, hasOurNames, isWhole } from "./candidates.ts";
import { isAsDeclared, pathsOf, seenAs } from "./live-rule.ts";
import type { Making } from "./making.ts";
import { markIn } from "./mark.ts";
import type { Place } from "./place.ts";
import { reasonToReplace } from "./plan.ts";

/** `rule 7 has its natural key (/name: "limit-1") and`. */
function sameKey({ ruleId, rule }: LiveRule, { contract }: Place): string {
  const { naturalKey, secret } = contract.rule;
  if (naturalKey === null) return `rule ${ruleId}`;
  const value = secret.length > 0 ? "" : `: ${JSON.stringify(valueAt(rule, naturalKey) ?? null).slice(0, 100)}`;
  return `rule ${ruleId} has the same natural key (${naturalKey}${value}) and`;
}

/**
 * `to take it over, add adopt: "7"`. A rule that the contract cannot change is taken as it is.
 * @param how how it is taken, where it can be changed
 */
function taking(it: string, rules: readonly LiveRule[], making: Making, how = ""): string {
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

/** The rule is another's. */
export function refused(existing: LiveRule, why: string, making: Making, mayBeTaken = false): MerchantRulesError {
  const { place, attempted } = making;
  const mark = markIn(existing.rule, place.contract);
  const isLost = mark !== undefined && hasOurNames(mark, making);
  const recovering = isLost
    ? `. If the state of this stack was lost, set ${place.options.recover.howTo} for one run, which takes over what is as declared as a whole`
    : "";
  const canBeMarked = mark === undefined || place.contract.operations.update !== null;
  const ways = canBeMarked
    ? `${taking("it", [existing], making, " all the same")}; to leave it, declare yours with another natural key`
    : "declare yours with another natural key; or have this one deleted, by who manages it or at the service, and run again";
  const advice = mayBeTaken
    ? `${ways}${recovering}`
    : "declare yours with another natural key, or the rule once. Where the other resource was only renamed to this one, give this one an alias; where it has just been changed to be another rule, run again";
  return new MerchantRulesError("RULE_CONFLICT", `${sameKey(existing, place)} ${why}`, { attempted, advice });
}

/** The program has the engine make a new rule while the old one, which it could change in place, is still there. */
export function inItsOwnWay(existing: LiveRule, { place, attempted }: Making): MerchantRulesError {
  const reason = `${sameKey(existing, place)} is this resource's own, which the new rule is to replace`;
  return new MerchantRulesError("RULE_CONFLICT", reason, {
    attempted,
    advice:
      "give the resource the option deleteBeforeReplace: true, or remove its option replaceOnChanges: then the rule is changed in place",
  });
}

/** Several rules might be the declared one. */
export function several(found: readonly Found[], making: Making): MerchantRulesError {
  const { place, attempted, definition } = making;
  const rules = found.map(({ existing }) => existing);
  const ids = rules.map(({ ruleId }) => ruleId);
  const { naturalKey } = place.contract.rule;
  const copied = found.find(({ facts }) => facts.isCopy);
  const what =
    place.live.naturalKeyOf(definition) === undefined
      ? `the rules ${ids.join(", ")} have its mark`
      : `${ids.length === 1 ? `rule ${ids.join()} has` : `the rules ${ids.join(", ")} have`} its natural key (${naturalKey})`;
  const why = copied === undefined ? "" : `, and a rule's mark is there twice: one of the two is a copy`;
  return new MerchantRulesError("RULE_CONFLICT", `${what}${why}`, {
    attempted,
    advice: `${taking("one of them", rules, making)}; or delete at the service the rules that are not wanted, and run again`,
  });
}

/** Nobody can tell whose rule this is, so nobody takes it over without a word. */
export function unmarked(existing: LiveRule, making: Making): MerchantRulesError {
  const { definition, place, attempted } = making;
  const differs = !isAsDeclared(existing.rule, definition, place);
  const others = isWhole(existing, making) ? "as it is declared" : "with the declared fields and others besides";
  const how = differs ? `and differs at ${pathsOf(existing.rule, definition, place)}` : others;
  return new MerchantRulesError("RULE_CONFLICT", `${sameKey(existing, place)} exists already, ${how}`, {
    attempted,
    advice: `${taking("it", [existing], making, differs ? " and make it as declared" : "")}. If this resource was only renamed or moved, give it an alias. If a run of this stack was killed, set ${place.options.recover.howTo} for one run, which takes over what is as declared as a whole`,
  });
}

/**
 * A create that may have made the rule, and nobody can tell.
 * @param reading of the list: why it could not be read; a rule that is there and that it leaves out
 */
export function mayExist(
  error: MerchantRulesError,
  { definition, key, of, place, attempted, ruleId }: Making,
  { unread, leftOut }: { readonly unread?: MerchantRulesError; readonly leftOut?: string | undefined } = {},
): MerchantRulesError {
  const { list } = place.contract.operations;
  const lag = list?.lagMs === null ? " (the contract does not say how far its list lags: operations.list.lagMs)" : "";
  const missing = list === null ? "no list operation" : "no natural key that this rule has";
  const canSearch = place.live.canSearch(definition);
  const isWithoutId = error.exchange?.isWithoutId === true;
  const isSaid = isWithoutId && place.firstWrites.hasSaidWithoutId();
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
function gapsOf({ contract }: Place): string {
  const { list } = contract.operations;
  const ofList =
    list === null ? ["operations.list", "its lagMs"] : list.lagMs === null ? ["operations.list.lagMs"] : [];
  const gaps = contract.rule.naturalKey === null ? [...ofList, "rule.naturalKey"] : ofList;
  return gaps.join(", ").replace(/, (?=[^,]*$)/, " and ");
}

/** The service refuses the rule because of another one that cannot be found. */
export function inTheWay(
  error: MerchantRulesError,
  { definition, key, of, place, attempted }: Making,
): MerchantRulesError {
  const own = of.known.get(key);
  // Without a natural key nothing tells that the rule that is to be replaced has to go first.
  if (own !== undefined && place.contract.rule.naturalKey === null && !place.live.isGone(own.ruleId))
    return error.with({ attempted, advice: lettingOwnGoFirst(own.ruleId, of) });
  const adopting = of.adopting(key, "<its ruleId>");
  const advice = place.live.canSearch(definition)
    ? `the list shows no rule with its natural key; look at the service for what it conflicts with. If it is this rule, add ${adopting}`
    : `look at the service for a rule like it. To take it over, add ${adopting}; with operations.list and rule.naturalKey in the contract it is found by itself`;
  return error.with({ attempted, advice });
}

function lettingOwnGoFirst(ruleId: string, { isRule }: Making["of"]): string {
  const option = isRule ? ", or give the resource the option deleteBeforeReplace: true" : "";
  return `rule ${ruleId}, which the new rule is to replace, may be in its way. To have it go first, set rule.naturalKey in the contract to the field that no two rules share${option}; and run again`;
}

export function cannotSearch({ of, key, place }: Making): MerchantRulesError {
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
