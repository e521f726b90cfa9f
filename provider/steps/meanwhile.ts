import type { LiveRule } from "../../sdk/client/index.ts";
import { demandOwnFields } from "../../sdk/client/update-body.ts";
import { MerchantRulesError, shortened } from "../../sdk/errors.ts";
import { differsUnseen, type JsonObject } from "../../sdk/json/index.ts";
import { isAsDeclared, isAsSent, lookedAtBy, pathsBetween, pathsOf, seenAs } from "../decide/live-rule.ts";
import type { KnownRule } from "../decide/plan.ts";
import type { Place } from "../run/place.ts";
import { naming, type Task } from "../run/task.ts";

/**
 * The rule with its version, as a GET shows it before an update; undefined where the contract has no versions.
 * @throws MerchantRulesError RULE_DIFFERS: it is neither as the state knows it nor as it is to be, so that the update would
 * overwrite what nobody of this stack has seen
 */
export async function versioned(known: KnownRule, definition: JsonObject, task: Task): Promise<LiveRule | undefined> {
  const { place } = task;
  if (!hasVersions(place)) return undefined;
  const live = await read(known, task);
  const seen = seenAs(live.rule, lookedAtBy(known), place);
  const paths = isAsDeclared(live.rule, definition, place) ? "" : pathsBetween(known.definition, seen, place);
  if (paths !== "") throw changed(paths, known, task);
  return live;
}

/**
 * The error of a service that refuses an update because the rule has another version by now, with what has changed; where it
 * has the version that was sent, the refusal itself.
 */
export async function refusedVersion(
  refused: MerchantRulesError,
  { known, definition, version }: { known: KnownRule; definition: JsonObject; version: LiveRule["version"] },
  task: Task,
): Promise<{ readonly live: LiveRule; readonly error: MerchantRulesError | undefined }> {
  const live = await read(known, task);
  const isShown = !differsUnseen(known.definition, definition, task.place.contract.rule);
  const isDone = isShown && isAsSent(live.rule, definition, task.place);
  if (!isDone && live.version === version) return { live, error: ofItsOwn(refused, String(version)) };
  const paths = pathsBetween(known.definition, seenAs(live.rule, lookedAtBy(known), task.place), task.place);
  const where =
    paths === "" ? `what the program does not declare, beside ${pathsOf(live.rule, definition, task.place)}` : paths;
  return { live, error: isDone ? undefined : changed(where, known, task) };
}

async function read(known: KnownRule, task: Task): Promise<LiveRule> {
  const live = await (await task.place.live.client()).get(known.ruleId, naming(known, task));
  const named = { ruleId: known.ruleId, label: task.of.label(task.key) };
  demandOwnFields(live.rule, known.definition, task.place.contract.rule, named);
  return live;
}

/** True of a refusal that may mean another version. A service may use 409 for what must be unique, too. */
export function isOfVersion({ code, exchange }: MerchantRulesError, task: Task): boolean {
  return (
    hasVersions(task.place) && code === "RULE_CONFLICT" && exchange !== undefined && exchange.meaning === undefined
  );
}

/** True where each update names the version of the rule that it changes. */
export function hasVersions(place: Place): boolean {
  return (place.contract.operations.update?.version ?? null) !== null;
}

/** The refusal of the very version that the service gave. A 409 says it of what must be unique, too. */
function ofItsOwn(refused: MerchantRulesError, version: string): MerchantRulesError {
  if (refused.exchange?.status !== 412) return refused;
  return refused.with({
    reason: `the service refuses the version that it gave, ${shortened(version, 60)}`,
    advice:
      "name in operations.update.version of the contract a field that has the rule's version, such as { at: /version }; where there is none, leave it out, and the last write wins",
  });
}

function changed(paths: string, { ruleId }: KnownRule, { key, of }: Task): MerchantRulesError {
  return new MerchantRulesError(
    "RULE_DIFFERS",
    `somebody changed the rule meanwhile, at ${paths}; nothing was overwritten`,
    {
      attempted: `update rule ${of.label(key) ?? ruleId}`,
      advice: "run `pulumi up --refresh`, which shows the rule as it is now and then makes it as declared",
    },
  );
}
