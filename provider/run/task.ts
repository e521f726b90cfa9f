import { withoutDriven } from "../../sdk/contract/index.ts";
import type { JsonObject } from "../../sdk/json/index.ts";
import type { KnownRule } from "../decide/plan.ts";
import { type Mark, markId } from "../merchant/mark.ts";
import type { Site } from "../merchant/site.ts";
import type { Place } from "./place.ts";
import type { Resource } from "./resource.ts";

/** One rule of a resource, and where it is. */
export interface Task {
  readonly key: string;
  readonly of: Resource;
  readonly place: Place;
  /** The place now, with the identity that was told; undefined where nobody has said whose the resource is. */
  readonly site: Site | undefined;
}

/** The note of a rule's place and mark in its row, as they are live now. */
export function noted(mark: Mark | undefined, { site, place }: Task): Pick<KnownRule, "mark" | "site"> {
  const isMarked = mark !== undefined && place.contract.rule.owner !== null;
  return { ...(isMarked ? { mark: markId(mark) } : {}), ...(site === undefined ? {} : { site }) };
}

/** What a create or an update sends of a rule, before requests of their own change the rest. */
export function sending(definition: JsonObject, mark: Mark | undefined, task: Task) {
  const { key, of } = task;
  const sent = withoutDriven(definition, task.place.contract);
  return { sent, before: undefined, mark: noted(mark, task).mark, of, key, row: undefined, known: undefined };
}

export function naming(known: { definition: JsonObject }, { key, of }: Task): { label?: string; known: JsonObject } {
  const label = of.label(key);
  return { known: known.definition, ...(label === undefined ? {} : { label }) };
}
