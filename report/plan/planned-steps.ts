import { plan } from "../../provider/reconcile/plan.ts";
import { type Contract, defineContract } from "../../sdk/contract/index.ts";
import { isOfRules, type Preview } from "./preview.ts";
import { type Contracts, expand, type RuleStep } from "./rule-steps.ts";
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
 * Makes one step of a rule that one resource gives up and another one of the stack declares: the run takes it over, where
 * the contract lets it be found by its natural key, or adopt names it. `warned`: where the run will not do that, or not at once.
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
    if (isRefused(step, former)) {
      warned.push(refusalOf(step, former));
      return step;
    }
    const { known } = former;
    const [next] = plan(new Map([[step.key, known]]), new Map([[step.key, step.declared]]), step.of.contract);
    if (next === undefined) return step;
    taken.add(former);
    if (takesTwoRuns(next.kind, step, former)) warned.push(twoRunsOf(step, former));
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

/** Decides whether the run makes a rule before a resource that left the program has given it up. */
function isRefused({ declared, of }: RuleStep, former: RuleStep): boolean {
  return former.of.isLeaving && of.contract.rule.owner === null && declared?.adopt === undefined;
}

function refusalOf(step: RuleStep, former: RuleStep): string {
  return `${nameOf(step)} is declared by ${whereOf(step)} and is still ${former.of.resource}'s, which leaves the program: the run will refuse to create it. Where ${former.of.resource} was only renamed, give the new resource an alias; else add adopt for this run`;
}

/** Decides whether a second run is needed: a rule of another resource is first taken as it is, but for one that adopt names. */
function takesTwoRuns(kind: RuleStep["kind"], { of, declared }: RuleStep, former: RuleStep): boolean {
  if (former.of.resource === of.resource || typeof declared?.adopt === "string") return false;
  return kind === "update" || (kind === "replace" && former.of.isLeaving);
}

function twoRunsOf(step: RuleStep, former: RuleStep): string {
  return `${nameOf(step)} moves from ${former.of.resource} to ${whereOf(step)} and changes: the run takes it over as it is, and ends with an error that says so. Run \`pulumi up\` once more, which makes the change`;
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
