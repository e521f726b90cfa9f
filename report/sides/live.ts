import { markIn } from "../../provider/merchant/mark.ts";
import type { ProvenPlace } from "../../provider/run/proven-place.ts";
import { naturalKeyText } from "../../sdk/contract/natural-key.ts";
import { defined } from "../../sdk/json/index.ts";
import { shownRule } from "../drift/unmanaged-rules.ts";
import { identityOf, type RuleSide } from "./side.ts";

/**
 * Reads the rules at a place as the service has them, without ids, marks and what the service alone sets; without dead
 * rules and the service's own. One paged pass.
 * @param name in reports, as `production`
 * @param connection the name of the connection that reaches the place
 * @throws MerchantRulesError UNSUPPORTED_BY_CONTRACT: the contract has no list; and what a list throws
 */
export async function readLiveSide(proven: ProvenPlace, name: string, connection: string): Promise<RuleSide> {
  const { place } = proven;
  const { contract, live } = place;
  const all = await live.allWhole();
  const own = all.filter(({ rule }) => !live.isForeign(rule));
  const rules = own.map(({ ruleId, rule }) => {
    const mark = markIn(rule, contract);
    return {
      name: naturalKeyText(rule, contract) ?? ruleId,
      ruleId,
      connection,
      ...identityOf(rule, contract),
      ...defined({ place: mark?.resource }),
      definition: shownRule(rule, place),
    };
  });
  const foreign = all.length - own.length;
  return {
    name,
    kind: "live",
    rules,
    contractOf: (each) => (each === connection ? contract : undefined),
    notes: [
      proven.readFor(name),
      ...(live.mayBeCut === undefined ? [] : [live.mayBeCut]),
      ...(foreign === 0 ? [] : [`${foreign} rules are the service's own (rule.foreign), and are left out`]),
    ],
  };
}
