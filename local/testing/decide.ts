import { defaultConnection } from "../../provider/settings/setting-names.ts";
import { render } from "../../report/index.ts";
import { explanationOf } from "../../report/meaning/explain.ts";
import { meaningOf } from "../../report/meaning/meaning.ts";
import { semanticsFrom } from "../../report/meaning/semantics-file.ts";
import { naturalKeyText } from "../../sdk/contract/natural-key.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import type { LiveRule } from "./rules-by-hand.ts";
import type { WorldStack } from "./runs.ts";

export interface DecideOptions {
  /** The time by which rules are in force, as `2026-01-31T12:00:00Z`. Default: as the semantics say. */
  readonly at?: string;
  /** Default: the default one. */
  readonly connection?: string;
}

/** What rules decide of a payment. Plain data. */
export interface PaymentDecision {
  /** Undefined where it is unknown, and where all rules that apply count and have several outcomes. */
  readonly outcome: string | undefined;
  /** All outcomes; of an unknown decision those that it may be. Undefined where it may be any. */
  readonly outcomes: readonly string[] | undefined;
  readonly isUnknown: boolean;
  /** The names of the rules that decide, or on which it hangs that the outcome is unknown; none where no rule applies. */
  readonly by: readonly string[];
  /** The whole for a person to read, as `merchant-rules explain` prints it. */
  readonly text: string;
}

/** Decides a payment by rules of a world. @throws MerchantRulesError as `World.decide` */
export function decideBy(
  rules: readonly LiveRule[],
  payment: JsonObject,
  { contract, contractFile }: Pick<WorldStack, "contract" | "contractFile">,
  { at }: DecideOptions,
): PaymentDecision {
  const declared = semanticsFrom(contract.semantics, contractFile, "decide a payment");
  const side = {
    name: "the rules at the service",
    kind: "live" as const,
    rules: rules.map(({ ruleId, rule }) => ({
      name: naturalKeyText(rule, contract) ?? ruleId,
      ruleId,
      connection: defaultConnection,
      definition: rule,
    })),
    contractOf: () => contract,
    notes: [],
  };
  const report = explanationOf(payment, meaningOf(side, declared, defaultConnection), { payment: "the payment", at });
  const { kind, outcomes, by } = report.decision ?? { kind: "unknown", outcomes: undefined, by: [] };
  const [only, ...others] = outcomes ?? [];
  return {
    outcome: kind === "decided" && others.length === 0 ? only : undefined,
    outcomes,
    isUnknown: kind === "unknown",
    by,
    text: render(report, "text"),
  };
}
