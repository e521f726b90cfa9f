import { valueAt } from "../../sdk/json/index.ts";
import type { DeclaredRule } from "../decide/plan.ts";
import { connectionType, ownerType, ruleType, setType } from "../host/types.ts";
import type { Properties } from "../host/wire.ts";
import { declaredContract } from "../settings/contract-source.ts";
import type { SettingsSources } from "../settings/sources.ts";
import { ruleShape, setShape } from "../state/shape.ts";
import { readInputs } from "../state/state.ts";

interface OpenCreate {
  readonly type: string;
  readonly inputs: Properties;
}

/** Returns what is to be said of a type whose resources have no id at the service; undefined for all others. */
function partsOf(type: string) {
  if (type !== setType) return undefined;
  return {
    reason: "a set has no id at the service",
    whereThere: "for each of its rules that is there, add the id to adopt of the set",
    advice: "add the ids of its rules to adopt of the set",
  };
}

/** What an engine must know of these resources to go on after a create that a run left open. */
export const knowledgeOfRules = { findsCreates, partsOf };

/**
 * Decides whether the provider finds by itself what an earlier create of a resource made, when it creates that again: by
 * the id that the client chooses, or by a list and the mark or the natural key of each rule.
 * @param inputs as `check` passed them
 * @throws MerchantRulesError CONTRACT_INVALID, SETTINGS_INVALID
 */
function findsCreates({ type, inputs }: OpenCreate, sources: SettingsSources): boolean {
  // It has nothing at the service.
  if (type === connectionType || type === ownerType) return true;
  if (type !== ruleType && type !== setType) return false;
  const { rules, connection, link, owner } = readInputs(type === setType ? setShape : ruleShape, inputs);
  const contract = declaredContract({ ...sources, checksDefinitions: false }, connection);
  if (contract === undefined) return false;
  const { operations, rule } = contract;
  const isOwned = link !== undefined && owner !== "";
  if (operations.create.identifyBy !== null && isOwned) return true;
  if (operations.list === null) return false;
  const { naturalKey } = rule;
  if (rule.owner !== null && isOwned) return true;
  // A rule that is adopted by its id was not made.
  const isKnown = ({ definition, adopt }: DeclaredRule): boolean =>
    typeof adopt === "string" || (naturalKey !== null && (valueAt(definition, naturalKey) ?? null) !== null);
  return rules.values().every(isKnown);
}
