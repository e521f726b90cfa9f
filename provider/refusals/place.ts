import { MerchantRulesError } from "../../sdk/errors.ts";
import type { PlaceOptions } from "../merchant/place-options.ts";
import type { Site } from "../merchant/site.ts";
import { caseId } from "../merchant/words.ts";

/** A connection that may not be the one of the rules that states know. */
interface Asked {
  readonly options: PlaceOptions;
  readonly identityNow?: string | undefined;
}

/** What the connection was before, and is now. */
interface Pair {
  readonly of: { readonly link: { readonly ownerId: string } | undefined };
  readonly before: Site | undefined;
  readonly now: Site;
}

/** The words for one run about a pair of connections: `MERCHANT_RULES_SAME=3fa9`. */
export function pairWords({ of, before, now }: Pair): { readonly same: string; readonly moved: string } {
  const id = caseId(of.link?.ownerId ?? "", before, now);
  return { same: `MERCHANT_RULES_SAME=${id}`, moved: `MERCHANT_RULES_MOVED=${id}` };
}

/** `connection "shop" (https://…)`, and what it was before where that was another. */
function between({ options }: Asked, { before, now }: Pair): string {
  const here = `connection "${options.name}" (${options.address})`;
  if (before === undefined || (before.connection === now.connection && before.address === now.address)) return here;
  return `${here}, before connection "${before.connection}" (${before.address})`;
}

/** The credentials are not those of the merchant that the setting names. */
export function notTheIdentity({ name }: PlaceOptions, now = "", wanted: string): MerchantRulesError {
  const reason = `the credentials of connection "${name}" are those of ${JSON.stringify(now)}, and the setting identity says ${JSON.stringify(wanted)}; nothing was written`;
  return new MerchantRulesError("CONNECTION_FAILED", reason, {
    attempted: "compare who the credentials are",
    advice: `give the credentials of ${JSON.stringify(wanted)}, or correct the setting`,
  });
}

/** The identity of the credentials is another than that of the rules. */
export function otherIdentity(place: Asked, pair: Pair): MerchantRulesError {
  const { moved } = pairWords(pair);
  const reason = `${between(place, pair)}: its credentials are those of ${JSON.stringify(place.identityNow)}, another merchant than that of this stack's rules; nothing was written`;
  return new MerchantRulesError("CONNECTION_FAILED", reason, {
    attempted: "compare who the credentials are",
    advice: `give the credentials of the rules' merchant; or, to have the rules at this merchant from now on and leave the others in force there, say ${moved} for one run of \`pulumi up --refresh\`. ${more}`,
  });
}

/** What is another than before, so that a known rule has to show that it is the same merchant. */
function changed({ before, now }: Pair): string {
  return before !== undefined && before.address !== now.address
    ? "its address is another than before"
    : "its credentials are others than before";
}

/** Neither an identity nor a remembered place nor a known rule tells that this is the merchant of the rules. */
export function nothingTells(place: Asked, pair: Pair): MerchantRulesError {
  const { same, moved } = pairWords(pair);
  const reason = `nothing shows that ${between(place, pair)} is the merchant of this stack's rules: ${changed(pair)}, and no known rule is seen there as it is known; nothing was written`;
  return new MerchantRulesError("CONNECTION_FAILED", reason, {
    attempted: "recognise the merchant",
    advice: `give the address and the credentials of the rules' merchant. If these are, set the connection's identity, or run \`pulumi up --refresh\` with ${same}; if it is another merchant, and the rules stay where they are, with ${moved}. ${more}`,
  });
}

const more = "More: merchant-rules help same-or-moved";

/** A rule that is not itself as it is known, at a place that only weak signs prove. */
interface Unknown {
  readonly ruleId: string;
  readonly isThere: boolean;
  readonly attempted: string;
  /** The words by which a program takes it over; undefined where no program is asked. */
  readonly adopting?: string;
}

/** At a place that only weak signs prove, a rule is not itself as it is known. */
export function notAsKnown(
  place: Asked,
  pair: Pair,
  { ruleId, isThere, attempted, adopting }: Unknown,
): MerchantRulesError {
  const { same, moved } = pairWords(pair);
  const what = isThere ? `rule ${ruleId} is not as the state knows it` : `rule ${ruleId} is not there`;
  const reason = `${what} over ${between(place, pair)}: ${changed(pair)}, and it may be another merchant's`;
  const adopt = isThere && adopting !== undefined ? `, or add ${adopting}` : "";
  return new MerchantRulesError("CONNECTION_FAILED", reason, {
    attempted,
    advice: `give the credentials of the rules' merchant. If these are, say ${same}${adopt}; if it is another merchant, ${moved}. ${more}`,
  });
}

/** A rule has the id of another resource's row, and nothing tells whether it is the same rule. */
export function unclear(
  pair: Pair,
  { ruleId, who, attempted }: { ruleId: string; who: string; attempted: string },
): MerchantRulesError {
  const { same, moved } = pairWords(pair);
  const reason = `rule ${ruleId} may be that of ${who}, which was seen over connection "${pair.before?.connection}", or another merchant's rule with the same id`;
  return new MerchantRulesError("RULE_CONFLICT", reason, {
    attempted,
    advice: `if both connections lead to one merchant, say ${same} for one run; if to two, ${moved}. Or set identity on both, and run \`pulumi up --refresh\`. ${more}`,
  });
}
