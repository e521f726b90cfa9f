import type { LiveRule } from "../../sdk/client/index.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import type { Json, JsonObject } from "../../sdk/rules/index.ts";
import * as json from "../../sdk/rules/index.ts";
import { listed, ownFields, seenAs } from "./live-rule.ts";
import { markIn } from "./mark.ts";
import type { Place } from "./place.ts";
import type { KnownRule } from "./plan.ts";
import type { Task } from "./task.ts";

/**
 * A write after a take-over must not take away what nobody declared: that may be the condition that keeps a decline small.
 * @throws MerchantRulesError RULE_CONFLICT, with the paths
 */
export function demandNothingErased(
  { ruleId, rule }: LiveRule,
  definition: JsonObject,
  attempted: string,
  { place }: Task,
): void {
  const paths = erasedBy(definition, rule, place);
  if (paths.length === 0) return;
  const reason = `this write would take from rule ${ruleId}, which was taken over, what the program does not declare: ${listed(paths)}`;
  const { operations, rule: options } = place.contract;
  const markPath = options.owner === null ? undefined : json.pathOf(json.segmentsOf(options.owner.at));
  const isMergeable = operations.update?.body === "declared";
  const ways = paths.every((path) => path === markPath)
    ? [`name another field in rule.owner.at of the contract: people write into ${markPath}, where the mark would stand`]
    : [
        "declare these fields as they are",
        ...(isMergeable ? ["set operations.update.body in the contract to merged, which sends them back"] : []),
        "list in rule.readOnly what the service sets by itself",
      ];
  throw new MerchantRulesError("RULE_CONFLICT", reason, { attempted, advice: `${ways.join("; or ")}. Then run again` });
}

/** The same of a rule that is to be replaced by a new one. */
export async function demandNothingLost(known: KnownRule, definition: JsonObject, task: Task): Promise<void> {
  const { of, key, place } = task;
  if (known.isTaken !== true || place.live.isGone(known.ruleId)) return;
  const sight = await place.live.look(known, of.label(key), "cheap");
  if (sight.is === "absent") return;
  const attempted = `replace rule ${of.label(key) ?? known.ruleId}`;
  demandNothingErased({ ruleId: known.ruleId, rule: sight.rule }, definition, attempted, task);
}

/** The paths of a live rule that a write of the definition takes away. */
export function erasedBy(definition: JsonObject, rule: JsonObject, place: Place): string[] {
  const { contract } = place;
  const { owner } = contract.rule;
  const person = owner === null ? undefined : json.valueAt(rule, owner.at);
  const isPersons = person !== undefined && person !== null && person !== "" && markIn(rule, contract) === undefined;
  const own = ownFields(rule, place);
  const erased = keepsUndeclared(contract) ? [] : undeclaredIn(own, seenAs(own, definition, place), contract);
  const at = owner === null || !isPersons ? [] : [json.pathOf(json.segmentsOf(owner.at))];
  return [...new Set([...erased, ...at])];
}

/** True where an update leaves a rule the fields that are not declared. */
export function keepsUndeclared({ operations: { update } }: Contract): boolean {
  return update !== null && (update.body !== "declared" || update.method === "PATCH");
}

/** The paths of a rule's own fields that are not in what a definition speaks of. */
export function undeclaredIn(own: JsonObject, seen: JsonObject, { rule }: Contract): string[] {
  return json
    .differences(own, seen, rule)
    .flatMap(({ kind, path, before = null }) => (kind === "delete" ? leavesOf(before, path) : []))
    .map((path) => json.pathOf(path));
}

/** The paths of the values in a value; none where it is null. */
function leavesOf(value: Json, path: json.Path): json.Path[] {
  const isObject = json.isJsonObject(value) && Object.keys(value).length > 0;
  if (!isObject) return value === null ? [] : [path];
  return Object.entries(value).flatMap(([key, child]) => leavesOf(child, [...path, key]));
}
