import { seenAs, undeclaredIn } from "../../provider/decide/live-rule.ts";
import { isKept } from "../../provider/steps/erased.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import {
  blindMask,
  defined,
  isJsonObject,
  type Json,
  type JsonObject,
  mapJson,
  pointerOf,
  valueAt,
  withFieldAt,
} from "../../sdk/json/index.ts";
import { plannedSteps } from "../plan/planned-steps.ts";
import { type Preview, subjectOf } from "../plan/preview.ts";
import type { RuleStep } from "../plan/rule-steps.ts";
import { isMasked } from "../plan/secrets.ts";
import { nameOf } from "../plan/step-names.ts";
import { identityOf, type RuleSide, type SideRule } from "./side.ts";

/** What is live at one connection, before a run and after it. */
export interface BeforeAndAfter {
  /** What is live. A rule that the stack declares has its resource and key. */
  readonly before: RuleSide;
  /** The same, with what the run changes. Rules that others made stay in force. */
  readonly after: RuleSide;
}

/**
 * Carries out a run's plan on what is live, on paper. A rule that the run does not change stays as it is live, also where
 * somebody edited it by hand.
 * @param live the rules at the connection (`readLiveSide`)
 * @param contractOf the contract of a connection, where there is one
 * @throws MerchantRulesError SETTINGS_INVALID: a newer version of this package wrote the state
 */
export function afterRun(
  live: RuleSide,
  preview: Preview,
  contractOf: (connection: string) => Contract | undefined,
  connection: string,
): BeforeAndAfter {
  const steps = plannedSteps(preview, contractOf);
  const contract = live.contractOf(connection);
  const byId = new Map(live.rules.map((rule) => [rule.ruleId, rule]));
  const taken = new Map<SideRule, RuleStep>();
  const made: RuleStep[] = [];
  const notes: string[] = [];
  for (const step of steps) {
    const isHere = step.of.connection === connection;
    const leaves = step.formerConnection ?? step.of.connection;
    const rule = leaves === connection ? liveOf(step, byId, live, contract) : undefined;
    if (rule !== undefined) taken.set(rule, isHere ? step : { ...step, kind: "delete" });
    if (!isHere || (rule !== undefined && step.kind !== "replace")) continue;
    if (step.kind === "opaque" && step.key === "" && step.known === undefined)
      notes.push(
        `What happens to the rules of ${step.of.resource} cannot be told: ${step.reason ?? "a preview masks them"}`,
      );
    else if (step.kind === "keep")
      notes.push(`${nameOf(step)} is in the state and not at the service: without --refresh a run leaves that so`);
    else if (step.kind !== "delete") made.push(step);
  }
  const before = live.rules.map((rule) => ({ ...rule, ...declarationOf(taken.get(rule)) }));
  const kept = before.flatMap((rule, index): SideRule[] => {
    const step = taken.get(live.rules[index] ?? rule);
    if (step === undefined || step.kind === "keep") return [rule];
    if (step.kind === "delete" || step.kind === "replace") return [];
    if (step.kind === "opaque" || step.declared === undefined) return [{ ...rule, definition: blindMask }];
    const definition = readable(step.declared.definition);
    return [
      { ...rule, definition: contract === undefined ? definition : afterUpdate(rule.definition, definition, contract) },
    ];
  });
  return {
    before: { ...live, rules: before },
    after: {
      ...live,
      name: `${live.name} with the changes of ${subjectOf(preview)}`,
      rules: [...kept, ...made.map((step) => madeBy(step, connection, contract))],
      notes: [...live.notes, ...notes],
    },
  };
}

function declarationOf(step: RuleStep | undefined): Pick<SideRule, "resource" | "key"> {
  if (step === undefined) return {};
  return defined({ resource: step.of.resource, key: step.key === "" ? undefined : step.key });
}

/** Returns a rule that the run makes. Where the service lists it is not known. */
function madeBy(step: RuleStep, connection: string, contract: Contract | undefined): SideRule {
  const definition =
    step.declared === undefined || step.kind === "opaque" ? blindMask : readable(step.declared.definition);
  return {
    name: nameOf(step),
    ...declarationOf(step),
    connection,
    ...identityOf(definition, contract),
    definition,
    isUnlisted: true,
  };
}

/** Returns a definition as sides have it: masks in the place of secrets. */
function readable(definition: Json): JsonObject {
  const plain = mapJson(definition, (value) => (isMasked(value) ? blindMask : undefined));
  return isJsonObject(plain) ? plain : blindMask;
}

/** Returns a rule as an update leaves it: as declared, with the fields that the update does not touch. */
function afterUpdate(live: JsonObject, definition: JsonObject, contract: Contract): JsonObject {
  const seen = seenAs(live, definition, { contract });
  const kept = undeclaredIn(live, seen, contract).filter((path) => isKept(path, seen, definition, contract));
  return kept.reduce((rule, path) => {
    const value = valueAt(live, pointerOf(path));
    return value === undefined ? rule : withFieldAt(rule, pointerOf(path), value);
  }, definition);
}

/** Returns the rule at the service that a step is about; undefined where it is not there. */
function liveOf(
  { kind, known, declared }: RuleStep,
  byId: ReadonlyMap<string | undefined, SideRule>,
  live: RuleSide,
  contract: Contract | undefined,
): SideRule | undefined {
  if (known !== undefined) return byId.get(known.ruleId);
  if (kind !== "create" || declared?.adopt === undefined) return undefined;
  if (typeof declared.adopt === "string") return byId.get(declared.adopt);
  const { identity } = identityOf(declared.definition, contract);
  return identity === undefined ? undefined : live.rules.find((rule) => rule.identity === identity);
}
