import type { dynamic } from "@pulumi/pulumi";
import type { MerchantRulesError } from "../../sdk/errors.ts";
import { differsUnseen, type JsonObject } from "../../sdk/json/index.ts";
import { lookedAtBy, seenAs, undeclaredOf, whoIs } from "../decide/live-rule.ts";
import type { KnownRule } from "../decide/plan.ts";
import { judgeRead } from "../decide/whose.ts";
import type { Properties } from "../host/wire.ts";
import { markIn } from "../merchant/mark.ts";
import { notAsKnown } from "../refusals/place.ts";
import { leftThere, warnOf } from "../refusals/say.ts";
import type { Place } from "../run/place.ts";
import type { Resource } from "../run/resource.ts";
import { noted, type Task } from "../run/task.ts";
import { writeInputs, writeState } from "../state/state.ts";
import { sighted } from "../steps/known.ts";
import { lookForUnmanaged } from "../steps/unmanaged.ts";
import { callOfState, type Hooks } from "./call.ts";
import { idOf } from "./make.ts";

/** Reads what is live into the state: a refresh. @throws MerchantRulesError where it cannot be told */
export async function read(hooks: Hooks, id: string, props: Properties): Promise<dynamic.ReadResult<Properties>> {
  const call = callOfState(hooks, id, props);
  const { of, place, declared, shape } = call;
  const rules = new Map<string, KnownRule>();
  for (const [key, { known, notOurs }] of await readKnown(of, place)) {
    rules.set(key, known);
    if (notOurs !== undefined) warnOf(`${notOurs}; it is neither changed nor deleted here`, known.ruleId, { key, of });
  }
  await lookForUnmanaged(rules, place, declared);
  if (shape.isRule && rules.size === 0) return { id: "" };
  const { secret } = place.contract.rule;
  return {
    id: idOf(call, id, rules),
    props: writeState(shape, rules, props, secret),
    inputs: writeInputs(shape, rules, props, secret),
  };
}

/** A rule that the state knows and that is at the service. */
export interface Observed {
  /** The row as it is filled from what is live; of a rule that is not ours as it was, with that said in it. */
  readonly known: KnownRule;
  /** The live rule, as far as the definition that is known speaks of it. */
  readonly seen: JsonObject;
  /** The whole live rule. */
  readonly live: JsonObject;
  /** Why it is not this resource's: `is managed by "shop/prod/all" now, as its mark says`; undefined while it is. */
  readonly notOurs: string | undefined;
}

/**
 * Reads the rules of a resource at the service, by key. A rule that is not among them is gone, or stands elsewhere by a word
 * of the user. A refresh and a drift report see the same, because both read here.
 * @throws MerchantRulesError CONNECTION_FAILED: where it cannot be told
 */
export async function readKnown(of: Resource, place: Place): Promise<Map<string, Observed>> {
  const site = of.link === undefined ? undefined : await place.here(of.link.ownerId);
  const found = await Promise.all(
    [...of.known].map(async ([key, known]) => [key, await observed(known, { key, of, place, site })] as const),
  );
  return new Map(found.flatMap(([key, each]) => (each === undefined ? [] : [[key, each]])));
}

async function observed(row: KnownRule, task: Task): Promise<Observed | undefined> {
  const { of, key, place } = task;
  if ((await place.check.ofRow(key, row, of)) === "elsewhere") {
    warnOf(leftThere, row.ruleId, { key, of });
    return undefined;
  }
  const { known, rule, facts } = await sighted(row, task, "list", true);
  const verdict = judgeRead(facts);
  if (verdict === "cannot tell") throw cannotTell(row, facts.isThere, task);
  if (verdict === "gone" || rule === undefined) {
    place.paper.remember(row.ruleId, null);
    return undefined;
  }
  const mark = markIn(rule, place.contract);
  if (verdict === "not ours") {
    const why =
      mark === undefined
        ? "is another rule than the one that the state knows: its id may have been given again"
        : `is managed by ${whoIs(mark)} now, as its mark says`;
    return { known: { ...row, notOurs: true }, seen: row.definition, live: rule, notOurs: why };
  }
  const seen = seenAs(rule, lookedAtBy(known), place);
  const { doubt, mark: _, notOurs: __, ...told } = known;
  // What it did where nothing is shown is not known by now, either.
  const isUnseen = doubt !== undefined && differsUnseen({}, seen, place.contract.rule);
  return {
    known: {
      // What its write has left there was not seen until now; else a refresh takes nothing for granted.
      ...(doubt === undefined ? {} : undeclaredOf(rule, lookedAtBy(known), place)),
      ...told,
      ...(isUnseen ? { doubt } : {}),
      definition: seen,
      ...noted(mark, task),
    },
    seen,
    live: rule,
    notOurs: undefined,
  };
}

function cannotTell(
  { ruleId, site }: KnownRule,
  isThere: boolean,
  { of, key, place, site: now }: Task,
): MerchantRulesError {
  const attempted = `read rule ${of.label(key) ?? ruleId}`;
  const pair = { of, before: site, now: now ?? place.site(undefined) };
  return notAsKnown(place, pair, { ruleId, isThere, attempted });
}
