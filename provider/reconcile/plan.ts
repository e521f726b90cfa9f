import type { Contract } from "../../sdk/contract/index.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { type Difference, differences, isEqual, type JsonObject, touches, valueAt } from "../../sdk/rules/index.ts";

/** A rule as a program declares it. Fields that it does not name are not managed. */
export interface DeclaredRule {
  readonly definition: JsonObject;
  /** An existing rule to take over: by its id, or `true` for the one with the same natural key. */
  readonly adopt?: string | true;
}

/** A rule as the state knows it: what was declared when it was last written, or seen when it was last read. */
export interface KnownRule {
  readonly ruleId: string;
  readonly definition: JsonObject;
  /** The tag of the takeover by which the resource came to hold the rule; absent where it created the rule. */
  readonly takeover?: string;
}

/** What has to happen to one rule, named by its key, so that it becomes as declared. */
export type Step =
  | { readonly kind: "keep"; readonly key: string; readonly known: KnownRule }
  | { readonly kind: "create"; readonly key: string; readonly declared: DeclaredRule }
  | {
      readonly kind: "update" | "replace";
      readonly key: string;
      readonly known: KnownRule;
      readonly declared: DeclaredRule;
      readonly deleteFirst: boolean;
    }
  | { readonly kind: "delete"; readonly key: string; readonly known: KnownRule };

/**
 * The steps from the rules that are known to the rules that are declared, by key; pure.
 * @throws MerchantRulesError UNSUPPORTED_BY_CONTRACT: where the contract leaves no way, before anything is touched.
 */
export function plan(
  known: ReadonlyMap<string, KnownRule>,
  declared: ReadonlyMap<string, DeclaredRule>,
  contract: Contract,
): Step[] {
  const wanted = [...declared].map(([key, rule]) => planRule(key, known.get(key), rule, contract));
  const unwanted = [...known].filter(([key]) => !declared.has(key));
  return [...wanted, ...unwanted.map(([key, rule]): Step => ({ kind: "delete", key, known: rule }))];
}

function planRule(key: string, known: KnownRule | undefined, declared: DeclaredRule, contract: Contract): Step {
  if (known === undefined) return { kind: "create", key, declared };
  if (isEqual(known.definition, declared.definition, contract.rule)) return { kind: "keep", key, known };
  const changes = differences(known.definition, declared.definition, contract.rule);
  const reason = reasonToReplace(changes, contract);
  if (reason !== undefined) requireDelete(contract, reason);
  const deleteFirst = isNaturalKeyKept(known.definition, declared.definition, contract);
  return { kind: reason === undefined ? "update" : "replace", key, known, declared, deleteFirst };
}

function reasonToReplace(changes: readonly Difference[], { operations, rule }: Contract): string | undefined {
  if (operations.update === null) return "it has no update operation (operations.update)";
  const immutable = rule.immutable.find((pattern) => changes.some((change) => touches(change, pattern)));
  return immutable === undefined ? undefined : `${immutable} is immutable (rule.immutable)`;
}

/** Two rules with one natural key cannot stand side by side: if the rule is replaced, the old one goes first. */
function isNaturalKeyKept(before: JsonObject, after: JsonObject, { rule }: Contract): boolean {
  if (rule.naturalKey === null) return false;
  const [old, next] = [valueAt(before, rule.naturalKey), valueAt(after, rule.naturalKey)];
  return old !== undefined && next !== undefined && isEqual(old, next);
}

/** A replacement that could not delete would leave two rules in force, so it is refused as early as the preview. */
function requireDelete({ operations }: Contract, reason: string): void {
  if (operations.delete.identifyBy !== null) return;
  throw new MerchantRulesError(
    "UNSUPPORTED_BY_CONTRACT",
    `this change replaces the rule, because by the contract ${reason}, and the contract does not say how a delete names its rule`,
    {
      advice:
        "set operations.delete.identifyBy in the contract to { in: query | body | path | header, name: … }, as your service has it",
    },
  );
}
