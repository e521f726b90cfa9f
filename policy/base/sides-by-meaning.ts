import type { Pointer } from "../../sdk/json/index.ts";
import { type Allowance, Allowances } from "./allowances.ts";
import type { AnalyzedRule } from "./analyzed-rule.ts";
import { emptyBaseline, noBaseline, readBaseline } from "./baseline.ts";
import type { PolicyFinding } from "./rule-policy.ts";
import { noSemantics, type ReadSemantics, readSemantics } from "./semantics-file.ts";
import { type TwoSides, twoSidesOf } from "./two-sides.ts";

/** What a policy that compares by meaning judges; or what it finds where there is nothing to compare with. */
export type SidesByMeaning =
  | { readonly finding: PolicyFinding }
  | { readonly sides: readonly TwoSides[]; readonly meaning: ReadSemantics; readonly allowances: Allowances };

/** The options that such policies share. */
interface MeaningConfig {
  readonly baseline: string | null;
  readonly semantics: string | null;
  readonly allowed: true | readonly Allowance[];
}

/** Returns why a configuration leaves nothing to compare; undefined where there is something. */
export function whyNoSides({ baseline, semantics, allowed }: MeaningConfig): string | undefined {
  if (allowed === true) return "all changes are allowed";
  if (baseline === null) return noBaseline;
  return semantics === null ? noSemantics : undefined;
}

/** Reads what is deployed and what rules mean, and puts what the program declares beside it; undefined as {@link whyNoSides} says. */
export function sidesByMeaning(
  rules: readonly AnalyzedRule[],
  { baseline, semantics, allowed }: MeaningConfig,
  { now, secret }: { readonly now: Date; readonly secret: readonly Pointer[] },
): SidesByMeaning | undefined {
  if (baseline === null || semantics === null || allowed === true) return undefined;
  const deployed = readBaseline(baseline);
  if (deployed.rules.length === 0 && rules.length > 0) return { finding: emptyBaseline };
  const meaning = readSemantics(semantics);
  const names = rules.map((rule) => ({ resource: rule.resource.name, key: rule.key ?? "" }));
  const allowances = new Allowances(allowed, now, names);
  return { sides: twoSidesOf(rules, deployed, meaning, { allowances, secret }), meaning, allowances };
}
