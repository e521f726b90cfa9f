import type { LiveRule } from "../../sdk/client/index.ts";
import { type Contract, sentByUpdate } from "../../sdk/contract/index.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import * as json from "../../sdk/json/index.ts";
import { listed, ownFields, seenAs, undeclaredIn } from "../decide/live-rule.ts";
import type { KnownRule } from "../decide/plan.ts";
import { markIn } from "../merchant/mark.ts";
import type { Place } from "../run/place.ts";
import type { Task } from "../run/task.ts";

/**
 * A write after a take-over must not take away what nobody declared: that may be the condition that keeps a decline small.
 * @throws MerchantRulesError RULE_CONFLICT, with the paths
 */
export function demandNothingErased(
  { ruleId, rule }: LiveRule,
  definition: JsonObject,
  attempted: string,
  { place }: Task,
  by: Write = "update",
): void {
  const paths = erasedBy(definition, rule, place, by);
  if (paths.length === 0) return;
  const reason = `this write would delete fields of rule ${ruleId} that the program does not declare, and the rule was taken over: ${listed(paths)}`;
  const { operations, rule: options } = place.contract;
  const markPath = options.owner === null ? undefined : json.pathOf(json.segmentsOf(options.owner.at));
  const isMergeable =
    by === "update" && sentByUpdate(operations) === "declared" && !paths.some((path) => path.includes("["));
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
  if (known.isTaken !== true || place.paper.isGone(known.ruleId)) return;
  const sight = await place.live.look(known, of.label(key), "cheap");
  if (sight.is === "absent") return;
  const attempted = `replace rule ${of.label(key) ?? known.ruleId}`;
  demandNothingErased({ ruleId: known.ruleId, rule: sight.rule }, definition, attempted, task, "replacement");
}

/** A replacement makes a rule of the definition alone, whatever an update sends. */
type Write = "update" | "replacement";

/** The paths of a live rule that a write of the definition takes away. */
export function erasedBy(definition: JsonObject, rule: JsonObject, place: Place, by: Write = "update"): string[] {
  const { contract } = place;
  const { owner } = contract.rule;
  const person = owner === null ? undefined : json.valueAt(rule, owner.at);
  const isPersons = person !== undefined && person !== null && person !== "" && markIn(rule, contract) === undefined;
  const own = ownFields(rule, place);
  const seen = seenAs(own, definition, place);
  const erased = undeclaredIn(own, seen, contract)
    .filter((path) => by === "replacement" || !isKept(path, seen, definition, contract))
    .map((path) => json.pathOf(path));
  // An update sends it back.
  const at = owner === null || !isPersons || by === "update" ? [] : [json.pathOf(json.segmentsOf(owner.at))];
  return [...new Set([...erased, ...at])];
}

/** True of a path that an update leaves as it is. Where it leaves anything, it still sends arrays as they are declared. */
export function isKept(
  path: json.Path,
  seen: JsonObject,
  definition: JsonObject,
  { operations, rule }: Contract,
): boolean {
  const { update } = operations;
  if (update === null) return false;
  // Elsewhere a field goes away only where the body says so.
  const isWhole = update.removal === "omit";
  const body = sentByUpdate(operations);
  if (isWhole && body === "declared" && update.method !== "PATCH") return false;
  // A mask is not sent back.
  const isMasked = isWhole && body !== "declared" && rule.writeOnly.some((pattern) => json.isAtOrBelow(path, pattern));
  if (!isMasked && !json.isInArray(path)) return true;
  const top = String(path[0]);
  const [before = null, after = null] = [json.field(seen, top), json.field(definition, top)];
  return body === "changes" && json.isEqual(before, after, rule, [top]);
}
