import type { Contract } from "../../../sdk/contract/index.ts";
import {
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  valueAt,
  withFieldAt,
  withoutValueAt,
  withValueAt,
} from "../../../sdk/json/index.ts";
import type { ServedResponse } from "../refusal.ts";
import { idPointer } from "../rule-shape.ts";
import type { Reply, Visit } from "./visit.ts";

export function whole(response: ServedResponse): Reply {
  return { send: "whole", response };
}

/** Makes the reply of a response that has a body; one without a body stays as it is. */
export function ofBody(response: ServedResponse, make: (response: ServedResponse) => Reply): Reply {
  return response.body === "" ? { send: "unharmed", response } : make(response);
}

/** Gives a success another body; unharmed when there is no body, or `change` finds nothing to change. */
export function changed(response: ServedResponse, change: (body: Json) => Json | undefined): Reply {
  const unharmed: Reply = { send: "unharmed", response };
  if (response.status >= 300 || response.body === "") return unharmed;
  const body = change(JSON.parse(response.body));
  return body === undefined ? unharmed : whole({ ...response, body: JSON.stringify(body) });
}

/** Removes the ids of the rules in the body of a response, or moves each to a pointer; undefined where a list has no rules. */
export function withoutIds(
  body: Json,
  operation: Visit["operation"],
  { operations, rule }: Contract,
  movedTo?: string,
): Json | undefined {
  const { list } = operations;
  const id = idPointer(rule);
  if (operation !== "list") return withoutAt(body, rule.envelope + id, movedTo);
  const rules = list === null ? undefined : valueAt(body, list.items);
  if (list === null || !isJsonArray(rules) || rules.length === 0) return undefined;
  return withValueAt(
    body,
    list.items,
    rules.map((each) => withoutAt(each, list.envelope + id, movedTo)),
  );
}

/** Removes the blanks around the string at a pointer of a definition; undefined where there are none. */
export function withTextTrimmed(definition: JsonObject, pointer: string): JsonObject | undefined {
  const text = valueAt(definition, pointer);
  if (typeof text !== "string" || text.trim() === text) return undefined;
  return withFieldAt(definition, pointer, text.trim());
}

function withoutAt(value: Json, pointer: string, movedTo?: string): Json {
  if (!isJsonObject(value)) return value;
  const moved = valueAt(value, pointer);
  const rest = withoutValueAt(value, pointer);
  return movedTo === undefined || moved === undefined ? rest : withValueAt(rest, movedTo, moved);
}
