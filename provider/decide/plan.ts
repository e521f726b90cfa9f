import { type Contract, withoutDriven } from "../../sdk/contract/index.ts";
import { fewOf, MerchantRulesError } from "../../sdk/errors.ts";
import {
  canonicalAt,
  differences,
  formerFields,
  isEqual,
  isInArray,
  type JsonObject,
  type Pointer,
  pathOf,
  touches,
} from "../../sdk/json/index.ts";
import { isUnknown } from "../host/wire.ts";
import { isOpaqueId } from "../merchant/identity.ts";
import type { Site } from "../merchant/site.ts";

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
  /** The definition that this run gives it. An update whose answer was lost may have done so before. */
  readonly wanted?: JsonObject;
  /** What decides in the mark that was last written or seen there, as `markId`; absent: there was none. */
  readonly mark?: string;
  /** Where it stands, as it was last proven; absent: nobody has said it. */
  readonly site?: Site;
  /** A read saw that the rule under its id is not this resource's. */
  readonly notOurs?: true;
  /** It was taken over, and nothing was written since: the first write must not take away what nobody declared. */
  readonly isTaken?: true;
  /**
   * Its definition is not the one that is declared, because a change failed. Its secrets may stand where the inputs
   * have none, so that the engine would not know them as such: the state has to keep all of it as a secret.
   */
  readonly isSealed?: true;
  /**
   * A write whose answer was lost may have changed or deleted it: it is looked at before anything is said of it. The fields
   * that this write may have added, as {@link fieldsAdded} gives them.
   */
  readonly doubt?: JsonObject;
  /**
   * The paths that are there and not declared, as the last write or take-over of this resource left them. Absent: nobody has
   * looked. Paths and no values: counters change by themselves.
   */
  readonly undeclared?: readonly Pointer[];
}

/** Rules by key. */
export type Declared = ReadonlyMap<string, DeclaredRule>;
export type Known = ReadonlyMap<string, KnownRule>;

/** The step by which one rule, named by its key, becomes as declared. */
export type Step =
  | {
      readonly kind: "keep";
      readonly key: string;
      readonly known: KnownRule;
      readonly adopt?: DeclaredRule["adopt"];
    }
  | {
      readonly kind: "delete";
      readonly key: string;
      readonly known: KnownRule;
      /** The rule stays where it is: it is another merchant's. */
      readonly isLeft?: true;
    }
  | { readonly kind: "create"; readonly key: string; readonly declared: DeclaredRule }
  | Change;

export interface Change {
  readonly kind: "update" | "replace";
  readonly key: string;
  readonly known: KnownRule;
  readonly declared: DeclaredRule;
  readonly deleteFirst: boolean;
}

/**
 * The steps from the rules that are known to the rules that are declared; pure. A rule is its key; one that is declared
 * under another key stays the rule that it is, so that renaming a key writes nothing.
 * @throws MerchantRulesError UNSUPPORTED_BY_CONTRACT: where the contract leaves no way, before anything is touched.
 */
export function plan(known: Known, declared: Declared, contract: Contract): Step[] {
  const counterparts = match(known, declared, contract);
  const wanted = [...declared].map(([key, rule]) => {
    const counterpart = counterparts.get(key);
    return planRule(key, counterpart === undefined ? undefined : known.get(counterpart), rule, contract);
  });
  const kept = new Set(counterparts.values());
  const unwanted = [...known].filter(([key]) => !kept.has(key));
  if (unwanted.length > 0) requireDelete(contract, "this change deletes a rule");
  return [...wanted, ...unwanted.map(([key, rule]): Step => ({ kind: "delete", key, known: rule }))];
}

/**
 * The key under which each declared rule is known. The natural key decides before the key does: two rules that swap
 * their natural keys swap their places, where changing them one after the other would have one collide with the other.
 */
function match(known: Known, declared: Declared, { rule }: Contract): Map<string, string> {
  const free = new Map(known);
  const matched = new Map<string, string>();
  const claim = (key: string, knownKey: string | undefined): void => {
    if (knownKey === undefined || matched.has(key) || !free.delete(knownKey)) return;
    matched.set(key, knownKey);
  };
  const identity = (definition: JsonObject): string | undefined => {
    return canonicalAt(definition, rule.naturalKey ?? "", rule);
  };
  const identities = new Map([...declared].map(([key, { definition }]) => [key, identity(definition)]));
  for (const [key, own] of identities) {
    const before = known.get(key);
    if (before !== undefined && own !== undefined && own === identity(before.definition)) claim(key, key);
  }
  // Without a natural key only the key tells that a rule has changed.
  if (rule.naturalKey === null) for (const key of declared.keys()) claim(key, key);
  if (matched.size === declared.size) return matched;
  const byIdentity = new Map([...free].map(([key, { definition }]) => [identity(definition), key]));
  for (const [key, own] of identities) claim(key, own === undefined ? undefined : byIdentity.get(own));
  // Where a key's own rule has gone to another key, that one's is left over, and so on: places are swapped, none is lost.
  const claimants = new Map([...matched].map(([key, knownKey]) => [knownKey, key]));
  for (const key of declared.keys()) {
    if (matched.has(key)) continue;
    let place: string | undefined = key;
    while (place !== undefined && !free.has(place)) place = claimants.get(place);
    claim(key, place);
  }
  return matched;
}

function planRule(key: string, known: KnownRule | undefined, declared: DeclaredRule, contract: Contract): Step {
  if (known === undefined) return { kind: "create", key, declared };
  if (isEqual(known.definition, declared.definition, contract.rule))
    return known.doubt !== undefined
      ? { kind: "update", key, known, declared, deleteFirst: false }
      : { kind: "keep", key, known, ...(declared.adopt === undefined ? {} : { adopt: declared.adopt }) };
  const reason = reasonToReplace(known.definition, declared.definition, contract);
  if (reason !== undefined)
    requireDelete(
      contract,
      `this change replaces the rule, because by the contract ${reason}`,
      removedFrom(known.definition, declared.definition, contract) === undefined ? [] : waysToKeep,
    );
  // A replacement keeps an id that the client has chosen.
  const isIdKept = reason !== undefined && contract.operations.create.identifyBy !== null;
  // Two rules of one purpose must not be in force at once, and a new one is only when its transitions are done.
  const isDriven = reason !== undefined && contract.rule.transitions.length > 0;
  // Two rules with one natural key cannot stand side by side, and two that swap theirs would wait for each other.
  const isKeyed = reason !== undefined && contract.rule.naturalKey !== null;
  const deleteFirst = isIdKept || isDriven || isKeyed;
  return { kind: reason === undefined ? "update" : "replace", key, known, declared, deleteFirst };
}

/**
 * Refuses `adopt` with another id than that of the rule which is known. Of a rule that may stand elsewhere nobody can tell yet.
 * @throws MerchantRulesError RULE_CONFLICT
 */
export function demandOneRule(step: Step, contract: Contract): void {
  if (step.kind === "create" || step.kind === "delete") return;
  const { key, known } = step;
  const { ruleId, notOurs } = known;
  const { adopt } = step.kind === "keep" ? step : step.declared;
  // Where updates give new ids, and of a rule that is another's, the program names one that was or is to be.
  if (typeof adopt !== "string" || adopt === ruleId || isUnknown(adopt) || notOurs || idsChange({ contract })) return;
  throw new MerchantRulesError("RULE_CONFLICT", `adopt names rule ${adopt}, and this resource has rule ${ruleId}`, {
    attempted: `take over rule ${key || adopt}`,
    advice: `remove adopt, and rule ${ruleId} stays; or, to have rule ${adopt} in its place, run \`pulumi state delete\` with the resource's URN first: rule ${ruleId} then stays in force, managed by nobody`,
  });
}

/** Why a change of a definition cannot be made in place; undefined where it can. */
export function reasonToReplace(before: JsonObject, after: JsonObject, contract: Contract): string | undefined {
  const { operations, rule } = contract;
  if (isDrivenAlone(before, after, contract)) return undefined;
  if (operations.update === null) return "there is no update operation (operations.update)";
  const removed = removedFrom(before, after, contract);
  if (removed !== undefined) return `no update removes ${removed} (operations.update.removal)`;
  const changes = rule.immutable.length === 0 ? [] : differences(before, after, rule);
  const immutable = rule.immutable.find((pattern) => changes.some((change) => touches(change, pattern, rule)));
  return immutable === undefined ? undefined : `${immutable} is immutable (rule.immutable)`;
}

/** The paths that a change takes out of a rule where no update can; undefined where there are none. What is in an array goes with it. */
function removedFrom(before: JsonObject, after: JsonObject, contract: Contract): string | undefined {
  if (contract.operations.update?.removal !== "none") return undefined;
  const former = withoutDriven(before, contract);
  const paths = formerFields(former, former, after, contract.rule).filter((path) => !isInArray(path));
  return paths.length === 0
    ? undefined
    : fewOf(
        paths.map((path) => pathOf(path)),
        12,
      );
}

/** True of a change that requests of its own make: no other field differs. */
export function isDrivenAlone(before: JsonObject, after: JsonObject, contract: Contract): boolean {
  if (contract.rule.transitions.length === 0) return false;
  return isEqual(withoutDriven(before, contract), withoutDriven(after, contract), contract.rule);
}

/** A replacement that could not delete would leave two rules in force, so it is refused as early as the preview. */
function requireDelete({ operations }: Contract, change: string, others: readonly string[] = []): void {
  if (operations.delete.identifyBy !== null) return;
  const reason = `${change}, and the contract does not say how a delete names its rule`;
  const advice = [
    ...others,
    "set operations.delete.identifyBy in the contract to { in: query | body | path | header, name: … }, as your service has it",
  ];
  throw new MerchantRulesError("UNSUPPORTED_BY_CONTRACT", reason, { advice: advice.join("; or ") });
}

const waysToKeep = ["declare again what stays there", "remove it at the service and run `pulumi up --refresh`"];

/** True where an update gives a rule another id (contract `operations.update.id`). */
export function idsChange({ contract: { operations } }: { readonly contract: Contract }): boolean {
  return operations.update?.id === "new";
}

/** True of an id that no other merchant has. One that the client chooses can exist at two, whatever its form is. */
export function isOpaque(ruleId: string, { operations, rule }: Contract): boolean {
  if (operations.create.identifyBy !== null && rule.idScope === null) return false;
  return isOpaqueId(ruleId, rule.idScope);
}

/** True of an id that is not given again: opaque, or chosen by us. */
export function isLasting(ruleId: string, contract: Contract): boolean {
  return contract.operations.create.identifyBy !== null || isOpaque(ruleId, contract);
}

/** What a run does to a rule that somebody changed at the service since the state saw it: writes over it, or refuses. */
export type OnDrift = "overwrite" | "fail";

export const onDriftChoices: readonly OnDrift[] = ["overwrite", "fail"];
