import type { Pointer } from "../../sdk/json/index.ts";
import { type Allowance, Allowances } from "./allowances.ts";
import type { AnalyzedRule } from "./analyzed-rule.ts";
import { emptyBaseline, readBaseline } from "./baseline.ts";
import type { PolicyFinding } from "./rule-policy.ts";
import { type ReadSemantics, readSemantics } from "./semantics-file.ts";
import { type TwoSides, twoSidesOf } from "./two-sides.ts";

/** What a policy that compares by meaning judges; or what it finds where there is nothing to compare with. */
export type SidesByMeaning =
  | { readonly finding: PolicyFinding }
  | { readonly sides: readonly TwoSides[]; readonly meaning: ReadSemantics; readonly allowances: Allowances };

/** Reads what is deployed and what rules mean, and puts what the program declares beside it. */
export function sidesByMeaning(
  rules: readonly AnalyzedRule[],
  {
    baseline,
    semantics,
    allowed,
    now,
    secret,
  }: {
    readonly baseline: string;
    readonly semantics: string;
    readonly allowed: readonly Allowance[];
    readonly now: Date;
    readonly secret: readonly Pointer[];
  },
): SidesByMeaning {
  const deployed = readBaseline(baseline);
  if (deployed.rules.length === 0 && rules.length > 0) return { finding: emptyBaseline };
  const meaning = readSemantics(semantics);
  const names = rules.map((rule) => ({ resource: rule.resource.name, key: rule.key ?? "" }));
  const allowances = new Allowances(allowed, now, names);
  return { sides: twoSidesOf(rules, deployed, meaning, { allowances, secret }), meaning, allowances };
}
