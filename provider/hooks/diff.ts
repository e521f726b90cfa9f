import type { dynamic } from "@pulumi/pulumi";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { differences } from "../../sdk/json/index.ts";
import type { Change, KnownRule, Step } from "../decide/plan.ts";
import type { Properties } from "../host/wire.ts";
import { stackOf } from "../merchant/mark.ts";
import { isSamePlace, type Site, sameIdentity } from "../merchant/site.ts";
import { mayHavePairWord } from "../merchant/words.ts";
import type { Place } from "../run/place.ts";
import { secretsAdded } from "../state/secrets.ts";
import { ownerInput, readInputs } from "../state/state.ts";
import { glanceAtUnmanaged } from "../steps/unmanaged.ts";
import { callOf, type HookCall, type Hooks } from "./call.ts";
import { demandSomeKept, hear, planned } from "./steps-of.ts";
import { describePlan, describeSecrets } from "./summary.ts";

/** Compares, without a request. Different is "unknown", so that the engine compares by itself and prints which path changed. */
export async function diff(hooks: Hooks, id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
  const { shape, session } = hooks;
  const call = callOf(hooks, news, { id, olds });
  const { of, place, declared } = call;
  const now = siteNow(call);
  const replaced = { replaces: [shape.field] };
  const isAllAtOther = isAtOther(of.known.values(), now);
  if (declared.isUnknown) return isAllAtOther ? replaced : {};
  await glanceAtUnmanaged(of.known, place, declared);
  const steps = planned(call);
  if (steps === undefined) return isAllAtOther ? replaced : {};
  const isShared = hear(steps, call);
  if (isAllAtOther && !isShared) return replaced;
  const [first] = steps;
  if (shape.isRule && first?.kind === "replace" && !isShared) {
    // Where the rule stands has to be seen before it is replaced.
    if (!isHere(first.known, now)) return { changes: true };
    if (first.declared.adopt === first.known.ruleId) throw hasAdopted(first.known.ruleId);
    session.replaced.set(of.holder, { of, before: ownerInput(olds), next: first.declared.definition });
    return { replaces: [shape.field], deleteBeforeReplace: first.deleteFirst };
  }
  demandSomeKept(steps, call);
  const words = shape.isRule ? undefined : describePlan(steps, of, place);
  if (words !== undefined) session.sayPlan(of.holder, words);
  if (isShared || call.harmed.length > 0 || isToBeSeen(call, now) || isInvisible(steps, place))
    return { changes: true };
  const before = readInputs(shape, olds);
  const isSame =
    before.onUnmanaged === declared.onUnmanaged &&
    before.onDrift === declared.onDrift &&
    steps.every((step) => step.kind === "keep" && of.known.get(step.key) === step.known);
  if (!isSame) return {};
  const secrets = secretsAdded(shape, olds, news, place.contract.rule.secret);
  if (secrets.length > 0) session.sayPlan(of.holder, [describeSecrets(secrets, of, shape)]);
  return { changes: secrets.length > 0 };
}

/** Returns the place now, with the identity that the Connection remembers of that very place. */
function siteNow({ of, place }: HookCall): Site {
  const now = place.site(of.link?.ownerId);
  const remembered = of.link?.site;
  return { ...now, identity: isSamePlace(remembered, now) ? (remembered?.identity ?? null) : null };
}

/** Decides of rows whether they are all of another connection, whose merchant is known to be another. */
function isAtOther(rows: Iterable<KnownRule>, now: Site): boolean {
  const all = [...rows];
  const isOther = ({ site }: KnownRule): boolean =>
    site?.connection !== now.connection && sameIdentity(site, now) === false;
  return all.length > 0 && all.every(isOther);
}

/** Decides of a row whether its place is the place now, as far as a diff can tell. Without credentials it cannot. */
function isHere({ site }: KnownRule, now: Site): boolean {
  return site === undefined || isSamePlace(site, now) || sameIdentity(site, now) === true;
}

/** Decides of a resource whether it has still to be seen at this connection, or under these names: an update does it without a write. */
function isToBeSeen({ of, place, declared, names }: HookCall, now: Site): boolean {
  if (names !== undefined && names !== stackOf(declared.owner)) return true;
  const hasWord = mayHavePairWord(place.words);
  return of.known
    .values()
    .some(
      ({ site, notOurs }) =>
        notOurs === true ||
        sameIdentity(site, now) === false ||
        (site !== undefined && (site.connection !== now.connection || (hasWord && !isSamePlace(site, now)))),
    );
}

/**
 * Decides whether the engine would see no difference although there is one: to it, null and absent are the same. Where it
 * sees one, the engine should do the comparison, because then it prints the paths.
 */
function isInvisible(steps: readonly Step[], { contract }: Place): boolean {
  const changed = steps.filter(({ kind }) => kind !== "keep");
  // The engine has the inputs of the run after which nobody knew.
  if (changed.some((step) => step.kind === "update" && step.known.doubt !== undefined)) return true;
  const areNulls = ({ known, declared }: Change): boolean =>
    differences(known.definition, declared.definition, contract.rule).every(
      ({ kind, before, after }) => kind !== "update" && (before ?? null) === null && (after ?? null) === null,
    );
  return changed.length > 0 && changed.every((step) => step.kind === "update" && areNulls(step));
}

function hasAdopted(ruleId: string): MerchantRulesError {
  const reason = "this change replaces the rule, and adopt names the rule itself";
  const advice = "remove adopt: it has done its work";
  return new MerchantRulesError("RULE_CONFLICT", reason, { attempted: `replace rule ${ruleId}`, advice });
}
