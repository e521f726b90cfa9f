import type { JsonObject } from "../sdk/rules/index.ts";
import type { Shape } from "./hooks/shape.ts";
import { asKnownTo, type State } from "./hooks/state.ts";
import { type KnownRule, markedOwner, type Owner, type Place, type Resource, seenAs } from "./reconcile/index.ts";

/** A resource as the reconciler knows it. The place learns what its state knows. */
export function resourceOf(shape: Shape, owner: Owner, state: State, place: Place): Resource {
  const known = place.contract.rule.owner === null ? state.rules : asKnownTo(owner, state);
  for (const rule of known.values()) place.record(rule.ruleId).known = rule;
  const { label, adopting } = shape;
  return { owner, known, whereabouts: state.whereabouts, label, adopting };
}

/** A rule that the state knows and that is at the service. */
export interface Observed {
  readonly known: KnownRule;
  /** The live rule, as far as the definition that is known speaks of it. */
  readonly seen: JsonObject;
  /** Whose the rule is by now, as its mark says; undefined while it is this resource's. */
  readonly takenBy: Owner | undefined;
}

/**
 * The rules of a resource as they are at the service, by key; a rule that is not among them is gone. A refresh and a
 * drift report see the same, because both look here.
 * @throws MerchantRulesError where it cannot be told whether a rule is gone
 */
export async function observed(of: Resource, place: Place): Promise<Map<string, Observed>> {
  const found = new Map<string, Observed>();
  for (const [key, live] of await place.judge.observe(of)) {
    const known = of.known.get(key);
    if (known === undefined) continue;
    const mark = markedOwner(live, place.contract);
    const isOurs = mark === undefined || mark === of.owner || mark === known.markedAs;
    found.set(key, {
      known,
      seen: seenAs(live, known.definition, place),
      takenBy: isOurs ? undefined : mark,
    });
  }
  return found;
}
