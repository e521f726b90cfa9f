import { type DeclaredRule, type KnownRule, plan, reasonToReplace } from "../../provider/decide/plan.ts";
import { type Contract, defineContract } from "../../sdk/contract/index.ts";
import { isEqual } from "../../sdk/json/index.ts";
import { isOfRules, type Preview } from "./preview.ts";
import { type Contracts, expand, type ResourceStep, type RuleStep } from "./rule-steps.ts";
import { nameOf, naturalKeyIn, whereOf } from "./step-names.ts";

/**
 * Returns the steps of a run, rule by rule, from the stack's state. A rule that goes from one resource to another is one step.
 * @throws MerchantRulesError as planOf
 */
export function plannedSteps(
  preview: Preview,
  contractOf: (connection: string) => Contract | undefined,
): readonly RuleStep[] {
  const { contracts } = contractsBy(contractOf);
  return withMoves(preview.steps.filter(isOfRules).flatMap((step) => expand(step, contracts).steps)).steps;
}

/** Returns how to find the contract of a connection, each read once; without one, what can be planned without. */
export function contractsBy(contractOf: (connection: string) => Contract | undefined) {
  const known = new Map<string, Contract | undefined>();
  const contracts: Contracts = (connection) => {
    if (!known.has(connection)) known.set(connection, contractOf(connection));
    return known.get(connection) ?? withoutContract;
  };
  return { known, contracts };
}

/** Without a contract nothing is known of immutable fields and the like, but everything can be planned. */
const withoutContract = defineContract({
  version: 1,
  operations: {
    update: { path: "/{ruleId}" },
    delete: { identifyBy: { in: "query", name: "ruleId" } },
  },
});

/**
 * Makes one step of a rule that one resource gives up and another one of the stack declares, where the run takes it over: by
 * its mark, if it is as declared, or by adopt. Else the rule is deleted and made anew. `warned`: where the run may refuse that.
 */
export function withMoves(steps: readonly RuleStep[]): { steps: RuleStep[]; warned: string[] } {
  const warned: string[] = [];
  const free = new Map<string, RuleStep>();
  for (const step of steps) if (step.kind === "delete") for (const name of namesOf(step)) free.set(name, step);
  const taken = new Set<RuleStep>();
  const moved = steps.map((step): RuleStep => {
    if (step.kind !== "create" || step.declared === undefined) return step;
    const former = namesOf(step)
      .map((name) => free.get(name))
      .find((each) => each !== undefined && !taken.has(each));
    if (former?.known === undefined) return step;
    if (former.of.resource !== step.of.resource && !isTakenOver(step.declared, former.known, step.of)) {
      warned.push(refusalOf(step, former));
      return step;
    }
    const { known } = former;
    const [next] = plan(new Map([[step.key, known]]), new Map([[step.key, step.declared]]), step.of.contract);
    if (next === undefined) return step;
    taken.add(former);
    const formerResource = former.of.resource === step.of.resource ? {} : { formerResource: former.of.resource };
    return { ...step, kind: next.kind, known, formerKey: former.key, ...formerResource };
  });
  return { steps: moved.filter((step) => !taken.has(step)), warned: [...warned, ...contendedIn(moved, taken)] };
}

/**
 * Warns of rules that get a natural key which a rule of another resource still has: a run does not wait for that one to
 * give it up, and two rules cannot have it at a time.
 */
function contendedIn(steps: readonly RuleStep[], taken: ReadonlySet<RuleStep>): string[] {
  const holders = new Map<string, RuleStep>();
  for (const step of steps) {
    const held = step.formerResource === undefined ? naturalKeyIn(step, step.known?.definition) : undefined;
    if (held !== undefined && !taken.has(step)) holders.set(held, step);
  }
  return steps.flatMap((step) => {
    const wanted = step.kind === "delete" ? undefined : naturalKeyIn(step, step.declared?.definition);
    const holder = wanted === undefined ? undefined : holders.get(wanted);
    if (holder === undefined || holder.of.resource === step.of.resource) return [];
    // The end of these is said above.
    if (step.kind === "create" && holder.kind === "delete") return [];
    const holding = holder.known?.ruleId ?? "";
    return [
      `${nameOf(step)} is declared by ${whereOf(step)} and is the natural key of rule ${holding} of ${holder.of.resource} now, so that the run may refuse one of the two. Where that rule gets another one in this run, run \`pulumi up\` once more`,
    ];
  });
}

/** Decides whether a run takes over a rule that another resource had: by its mark, where all is as declared, or by adopt. */
function isTakenOver({ adopt, definition }: DeclaredRule, known: KnownRule, { contract }: ResourceStep): boolean {
  const { operations, rule } = contract;
  const isMarked = rule.owner !== null;
  const isSame = isEqual(known.definition, definition, rule);
  // Another resource's mark says whose it is: only its id is a word against that.
  if (adopt !== known.ruleId && (isMarked || adopt !== true)) return isMarked && isSame && operations.update !== null;
  if (isSame) return !isMarked || operations.update !== null;
  return reasonToReplace(known.definition, definition, contract) === undefined;
}

/** Says that a create meets a rule of another resource. A delete comes last, but for that of a set which stays. */
function refusalOf(step: RuleStep, { known, of: { resource, isLeaving } }: RuleStep): string {
  const adopting = known === undefined ? "" : adoptingOf(step, known);
  const what = `${nameOf(step)} is declared by ${whereOf(step)}`;
  return isLeaving
    ? `${what} and is still ${resource}'s, which leaves the program: the run will refuse to create it. Where ${resource} was only renamed, give the new resource an alias; else ${adopting}`
    : `${what}, and ${resource} gives it up in the same run: the run may refuse to create it before that is done. Then run \`pulumi up\` once more, which makes it anew; or ${adopting}`;
}

function adoptingOf({ declared, of: { contract } }: RuleStep, { ruleId, definition }: KnownRule): string {
  const reason = declared === undefined ? undefined : reasonToReplace(definition, declared.definition, contract);
  const canTake =
    declared === undefined || reason === undefined || isEqual(definition, declared.definition, contract.rule);
  if (canTake && (contract.operations.update !== null || contract.rule.owner === null))
    return `add adopt with its id, ${ruleId}, for this run`;
  return "take it out of the program for one run, and declare it in the next";
}

/** Returns the names by which a run would find a rule again. */
function namesOf(step: RuleStep): string[] {
  const { known, declared, of } = step;
  const byId = known?.ruleId ?? (typeof declared?.adopt === "string" ? declared.adopt : undefined);
  const byKey = naturalKeyIn(step, declared?.definition ?? known?.definition);
  return [
    ...(byId === undefined ? [] : [JSON.stringify([of.connection, `id ${byId}`])]),
    ...(byKey === undefined ? [] : [byKey]),
  ];
}
