import { type DeclaredRule, type KnownRule, plan, type Step } from "../../provider/decide/plan.ts";
import { isUnknown } from "../../provider/host/wire.ts";
import { definitionsIn } from "../../provider/state/definitions.ts";
import type { ResourceShape } from "../../provider/state/shape.ts";
import { type Inputs, readInputs, readState, type State } from "../../provider/state/state.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import { isMerchantRulesError, MerchantRulesError } from "../../sdk/errors.ts";
import {
  asWritten,
  blindMask,
  contains,
  defined,
  field,
  isEqual,
  isJsonObject,
  type Json,
  type JsonObject,
  mapJson,
  pointerOf,
  valueAt,
} from "../../sdk/json/index.ts";
import { printable } from "../../sdk/json/printable.ts";
import type { AtService } from "./at-service.ts";
import { mask, type PreviewState, type PreviewStep, resourceOf, shapeIn } from "./preview.ts";
import { ChangedPaths } from "./secrets.ts";

/** A step on one rule, and the resource that declares it. */
export interface RuleStep {
  readonly kind: Step["kind"] | "opaque";
  /** Its key in a set; empty for the one rule of a MerchantRule. */
  readonly key: string;
  /** The key under which it is known, where that is another. */
  readonly formerKey?: string;
  readonly formerResource?: string;
  /** The connection at which the rule is now, where the run makes it at another one. */
  readonly formerConnection?: string;
  readonly known?: KnownRule;
  readonly declared?: DeclaredRule;
  /** The definition in the state, where the rule was edited by hand since. */
  readonly inState?: JsonObject;
  readonly reason?: string;
  readonly of: ResourceStep;
}

/** A resource of rules in a preview. */
export interface ResourceStep {
  /** `MerchantRuleSet all`. */
  readonly resource: string;
  readonly connection: string;
  readonly contract: Contract;
  readonly secrets: ChangedPaths;
  /** The program declares it no longer, so that the run comes to it last. */
  readonly isLeaving: boolean;
}

/** A step of a preview, rule by rule. */
export interface ExpandedStep {
  readonly steps: readonly RuleStep[];
  /** Facts of the resource as a whole that a reader must know. */
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  /** Number of rules that the resource has before the run. */
  readonly rules: number;
}

/** The contract of a connection. */
export type Contracts = (connection: string) => Contract;

/**
 * Expands a step on a MerchantRule or a MerchantRuleSet, by the function that the run itself plans with.
 * @param service the rules as they are there, for a run with a refresh. Default: the state is all that is known
 * @throws MerchantRulesError SETTINGS_INVALID: a newer version of this package wrote the state, or the preview; or the
 * step lacks a side
 */
export function expand(step: PreviewStep, contracts: Contracts, service?: AtService): ExpandedStep {
  const expanded = expanding(service === undefined ? step : whatRefreshes(step), contracts, service);
  const [state, resource] = [step.before, resourceOf(step)];
  if (service === undefined || state === undefined) return expanded;
  const { rules } = knownIn(shapeIn(step), state).state;
  const steps = expanded.steps.map((each): RuleStep => {
    const key = each.formerKey ?? each.key;
    const known = rules.get(key);
    if (known === undefined || each.kind === "delete") return each;
    if (each.kind === "create") return { ...each, reason: "it is gone at the service" };
    const isEdited = service.now(resource, key, known)?.isEdited === true;
    return isEdited ? { ...each, inState: known.definition } : each;
  });
  return { ...expanded, steps };
}

/** Returns a step as a refresh makes it: a resource that does not change may hold rules that were edited by hand. */
function whatRefreshes(step: PreviewStep): PreviewStep {
  return step.op === "same" && step.before !== undefined && step.after !== undefined ? { ...step, op: "update" } : step;
}

function expanding(step: PreviewStep, contracts: Contracts, service: AtService | undefined): ExpandedStep {
  const shape = shapeIn(step);
  const resource = resourceOf(step);
  const inState = step.before === undefined ? undefined : knownIn(shape, step.before);
  const known = inState === undefined || service === undefined ? inState : atService(inState, resource, service);
  const declared = step.after === undefined ? undefined : declaredIn(shape, step.after.inputs);
  const of = (connection: string): ResourceStep => ({
    resource,
    connection,
    contract: contracts(connection),
    secrets: new ChangedPaths(shape.field, step.changedPaths),
    isLeaving: step.op === "delete",
  });
  const rules = inState?.state.rules.size ?? 0;
  const nothing = { steps: [], warnings: [], notes: [], rules };
  switch (step.op) {
    case "create":
      if (declared === undefined) throw withoutSide(step, resource, "newState");
      return { ...nothing, ...changed(emptyKnown(declared), declared, of(declared.inputs.connection), shape) };
    case "update":
    case "replace": {
      if (declared === undefined) throw withoutSide(step, resource, "newState");
      if (known === undefined) throw withoutSide(step, resource, "oldState");
      const now = of(declared.inputs.connection);
      const isElsewhere = known.state.connection !== declared.inputs.connection;
      const reason = isElsewhere
        ? `its connection changes from ${known.state.connection} to ${declared.inputs.connection}`
        : "the resource as a whole is replaced";
      if (step.op === "replace" && (isElsewhere || !shape.isRule))
        return { ...nothing, ...replaced(known, declared, of(known.state.connection), now, reason) };
      const result = changed(known, declared, now, shape);
      if (step.op === "update") return { ...nothing, ...result };
      // The engine has decided.
      const steps = result.steps.map(
        (each): RuleStep =>
          each.kind === "keep" || each.kind === "update" ? { reason: engineReplaces, ...each, kind: "replace" } : each,
      );
      return { ...nothing, ...result, steps };
    }
    case "delete":
    case "delete-replaced": {
      if (known === undefined) throw withoutSide(step, resource, "oldState");
      if (step.before?.isRetained === true) {
        const note = `${resource} leaves the stack, and its ${rules} rules stay at the service (retainOnDelete)`;
        return { ...nothing, notes: [note] };
      }
      return { ...nothing, steps: deletes(known.state.rules, of(known.state.connection)) };
    }
    default: {
      if (!isHarmless.has(step.op)) throw unknownStep(step, resource);
      const here = known?.state;
      if (here === undefined) return nothing;
      const steps = [...here.rules].map(
        ([key, rule]): RuleStep => ({ kind: "keep", key, known: rule, of: of(here.connection) }),
      );
      return { ...nothing, steps };
    }
  }
}

/** Steps in which nothing happens to a rule at the service. */
const isHarmless = new Set(["same", "refresh", "read", "import", "discard", "remove-pending-replace"]);

function unknownStep({ op }: PreviewStep, resource: string): MerchantRulesError {
  return new MerchantRulesError("SETTINGS_INVALID", `what a step "${printable(op, 40)}" does is not known here`, {
    attempted: `plan ${resource}`,
    advice:
      "give what `pulumi preview --json --show-sames` prints, without --show-replacement-steps; or install a later version of pulumi-merchant-rules",
  });
}

function withoutSide({ op }: PreviewStep, resource: string, side: "newState" | "oldState"): MerchantRulesError {
  return new MerchantRulesError("SETTINGS_INVALID", `its step "${op}" has no ${side} in the preview`, {
    attempted: `plan ${resource}`,
    advice: "give what `pulumi preview --json --show-sames` prints, whole and as it is",
  });
}

/** The reason of a replacement that the contract does not ask for. */
export const engineReplaces = "the engine replaces the resource";

interface KnownRules {
  readonly state: State;
  /** The keys whose definitions are secret as a whole. */
  readonly opaque: ReadonlySet<string>;
  readonly isOpaque: boolean;
}

interface DeclaredRules {
  readonly inputs: Inputs;
  /** The keys whose definitions are secret or not known yet, and which of the two. */
  readonly opaque: ReadonlyMap<string, "secret" | "unknown">;
  readonly isOpaque: "secret" | "unknown" | undefined;
}

function knownIn(shape: ResourceShape, { id, inputs, outputs: told }: PreviewState): KnownRules {
  const outputs = unmaskedBy(inputs, told, shape);
  const state = readState(shape, id, outputs);
  const definitions = definitionsIn(shape, outputs[shape.field]);
  const opaque = new Set([...definitions].flatMap(([key, value]) => (isJsonObject(value) ? [] : [key])));
  const rules = new Map(
    [...state.rules].map(([key, rule]) => [key, opaque.has(key) ? { ...rule, definition: blindMask } : rule]),
  );
  return { state: { ...state, rules }, opaque, isOpaque: opacityOf(outputs[shape.field]) !== undefined };
}

/**
 * Returns outputs in which the inputs tell what is masked. The engine masks a whole array of outputs for one secret of the contract
 * in it, and of inputs the secret alone. Inputs that a failed run left tell nothing, where what is not masked differs.
 */
function unmaskedBy(inputs: JsonObject, outputs: JsonObject, { isRule, field: name }: ResourceShape): JsonObject {
  const told = (known: Json, declared: Json | undefined): Json => {
    if (declared === undefined || !contains(known, (each) => each === mask)) return known;
    const filled = mapJson(known, (each, path) => (each === mask ? valueAt(declared, pointerOf(path)) : undefined));
    return isEqual(filled, declared, asWritten) ? filled : known;
  };
  const [known, declared] = [outputs[name], inputs[name]];
  if (known === undefined) return outputs;
  if (isRule || !isJsonObject(known)) return { ...outputs, [name]: told(known, declared) };
  const rules = Object.entries(known).map(
    ([key, each]) => [key, told(each, isJsonObject(declared) ? field(declared, key) : undefined)] as const,
  );
  return { ...outputs, [name]: Object.fromEntries(rules) };
}

/** Returns what is known of a resource's rules after a refresh. */
function atService(known: KnownRules, resource: string, service: AtService): KnownRules {
  const rules = new Map(
    [...known.state.rules].flatMap(([key, rule]): [string, KnownRule][] => {
      const now = service.now(resource, key, rule);
      return now === undefined ? [] : [[key, now.rule]];
    }),
  );
  return { ...known, state: { ...known.state, rules } };
}

function declaredIn(shape: ResourceShape, inputs: JsonObject): DeclaredRules {
  const opaque = new Map<string, "secret" | "unknown">();
  for (const [key, value] of shape.entries(inputs[shape.field] ?? {})) {
    const opacity = opacityOf(value);
    if (opacity !== undefined) opaque.set(key, opacity);
  }
  const read = readInputs(shape, inputs);
  const rules = new Map(
    [...read.rules].map(([key, rule]) => [key, opaque.has(key) ? { ...rule, definition: blindMask } : rule]),
  );
  return { inputs: { ...read, rules }, opaque, isOpaque: opacityOf(inputs[shape.field]) };
}

function opacityOf(value: Json | undefined): "secret" | "unknown" | undefined {
  if (value === mask) return "secret";
  return isUnknown(value) ? "unknown" : undefined;
}

function emptyKnown({ inputs }: DeclaredRules): KnownRules {
  const { connection, link, owner } = inputs;
  const state: State = { rules: new Map(), connection, link, owner, names: undefined, site: undefined, harmed: [] };
  return { state, opaque: new Set(), isOpaque: false };
}

const whyOpaque = {
  secret: "it is a secret as a whole, which a preview masks",
  unknown: "it depends on values that are known only after up",
};

const whyDoubtful =
  "what the last run's write to it did is not known: the run looks at it, and makes it as declared where it is not";

/** Returns the steps from what the state has to what is declared. */
function changed(
  known: KnownRules,
  declared: DeclaredRules,
  of: ResourceStep,
  shape: ResourceShape,
): Partial<ExpandedStep> & Pick<ExpandedStep, "steps"> {
  const { rules } = known.state;
  if (!shape.isRule && (declared.isOpaque !== undefined || known.isOpaque)) {
    const why = whyOpaque[declared.isOpaque ?? "secret"];
    return {
      steps: [{ kind: "opaque", key: "", reason: `its rules cannot be named: ${why}`, of }],
      warnings: [`What happens to the ${rules.size} rules of ${of.resource} cannot be told: ${why}`],
    };
  }
  const steps: RuleStep[] = [];
  const plainKnown = new Map(rules);
  const plainDeclared = new Map(declared.inputs.rules);
  for (const key of new Set([...declared.opaque.keys(), ...known.opaque])) {
    const [before, after] = [rules.get(key), declared.inputs.rules.get(key)];
    if (after === undefined) continue;
    const opacity = declared.opaque.get(key);
    const reason = before?.doubt !== undefined ? whyDoubtful : whyOpaque[opacity ?? "secret"];
    plainDeclared.delete(key);
    plainKnown.delete(key);
    if (before === undefined) steps.push({ kind: "create", key, declared: after, of });
    else if (
      opacity === "secret" &&
      known.opaque.has(key) &&
      !of.secrets.isChanged(key, shape.isRule) &&
      before.doubt === undefined
    )
      steps.push({ kind: "keep", key, known: before, of });
    else steps.push({ kind: "opaque", key, known: before, reason, of });
  }
  const compared = new Map(
    [...plainDeclared].map(([key, rule]): [string, DeclaredRule] => {
      const before = plainKnown.get(key);
      if (before === undefined) return [key, rule];
      return [key, { ...rule, definition: of.secrets.marked(before.definition, rule.definition, key, shape.isRule) }];
    }),
  );
  try {
    steps.push(...ruleSteps(plainKnown, compared, of));
    return { steps };
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    const contract = withEveryOperation(of.contract);
    steps.push(...ruleSteps(plainKnown, compared, { ...of, contract }));
    return { steps, warnings: [`${of.resource}: ${error.message}`] };
  }
}

function ruleSteps(known: State["rules"], declared: Inputs["rules"], of: ResourceStep): RuleStep[] {
  const keys = new Map([...known].map(([key, rule]) => [rule, key]));
  return plan(known, declared, of.contract).map((step): RuleStep => {
    if (step.kind === "create" || step.kind === "delete") return { ...step, of };
    const formerKey = keys.get(step.known);
    const now = declared.get(step.key);
    return { ...step, ...defined({ declared: now, formerKey: formerKey === step.key ? undefined : formerKey }), of };
  });
}

/** Returns the steps that make every rule again, at another connection or because the whole resource is. */
function replaced(
  { state, opaque }: KnownRules,
  { inputs }: DeclaredRules,
  was: ResourceStep,
  now: ResourceStep,
  reason: string,
): Pick<ExpandedStep, "steps"> {
  const made = [...inputs.rules].map(([key, declared]): RuleStep => {
    const known = opaque.has(key) ? undefined : state.rules.get(key);
    return known === undefined
      ? { kind: "create", key, declared, of: now }
      : { kind: "replace", key, known, declared, reason, of: now, formerConnection: was.connection };
  });
  const gone = new Map([...state.rules].filter(([key]) => !inputs.rules.has(key) || opaque.has(key)));
  return { steps: [...made, ...deletes(gone, was)] };
}

function deletes(known: State["rules"], of: ResourceStep): RuleStep[] {
  return [...known].map(([key, rule]): RuleStep => ({ kind: "delete", key, known: rule, of }));
}

/** Returns a contract with which everything can be planned, for what the contract itself refuses. */
function withEveryOperation(contract: Contract): Contract {
  const { operations } = contract;
  const identifyBy = operations.delete.identifyBy ?? ({ in: "query", name: "ruleId" } as const);
  return { ...contract, operations: { ...operations, delete: { ...operations.delete, identifyBy } } };
}
