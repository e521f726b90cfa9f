import type { Finding, PathFinding, Report } from "../../report/index.ts";
import { render } from "../../report/index.ts";
import { defined } from "../../sdk/json/index.ts";

/** A change to one rule, planned or found. Plain data: a field that says nothing is absent. */
export interface RuleChange {
  /**
   * Of a plan: `create`, `update`, `replace`, `delete`, `adopt` (an existing rule is taken over), `rename` (another key,
   * nothing is written). Of a drift: `changed`, `missing`, `unmanaged`.
   */
  readonly step: Finding["change"];
  /** Its key in a set; the name of the resource for a `MerchantRule`; what the rule is called for an unmanaged one. */
  readonly key: string;
  /** The key that it had, where it was renamed. */
  readonly formerKey?: string;
  /** `MerchantRuleSet all`. */
  readonly resource?: string;
  readonly ruleId?: string;
  /** Absent for the default one. */
  readonly connection?: string;
  /** The reason, where it is not plain. */
  readonly reason?: string;
  /**
   * The differences, as `{ path: "conditions[0].value", before: 100, after: 200 }`: in a plan from now to after up, in
   * a drift from declared to live. `{ path, secret: true }` where the values are secret. Empty where the rule as a
   * whole is meant.
   */
  readonly paths: readonly PathFinding[];
}

/** A plan or a drift, by rule: what is lost comes first, then by name. */
export interface RuleChanges {
  readonly rules: readonly RuleChange[];
  /** Number of rules of the stack that stay as they are. */
  readonly unchanged: number;
  /** Warnings that must not be overlooked, such as of many deletions. */
  readonly warnings: readonly string[];
  /** The whole for a person to read, as `merchant-rules plan` and `merchant-rules drift` print it. */
  readonly text: string;
}

export function byRule(report: Report): RuleChanges {
  const { findings, unchanged, warnings } = report;
  return { rules: findings.map(changeOf), unchanged, warnings, text: render(report, "text") };
}

function changeOf({ change, name, key, formerKey, resource, ruleId, connection, reason, paths }: Finding): RuleChange {
  const named = resource?.replace(/^\S+ /, "");
  return {
    step: change,
    key: key ?? named ?? name,
    ...defined({ formerKey, resource, ruleId, connection, reason }),
    paths,
  };
}
