import type { Contract } from "../../../sdk/contract/index.ts";
import {
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  valueAt,
  withoutValueAt,
  withValueAt,
} from "../../../sdk/json/index.ts";
import type { Answer } from "../answer.ts";
import { idPointer } from "../rule-shape.ts";
import type { Reply, Visit } from "./visit.ts";

export function whole(answer: Answer): Reply {
  return { send: "whole", answer };
}

/** Changes an answer that has a body; one without a body stays as it is. */
export function ofBody(answer: Answer, make: (answer: Answer) => Reply): Reply {
  return answer.body === "" ? { send: "unharmed", answer } : make(answer);
}

/** A success with another body; unharmed when there is no body, or `change` finds nothing to change. */
export function changed(answer: Answer, change: (body: Json) => Json | undefined): Reply {
  const unharmed: Reply = { send: "unharmed", answer };
  if (answer.status >= 300 || answer.body === "") return unharmed;
  const body = change(JSON.parse(answer.body));
  return body === undefined ? unharmed : whole({ ...answer, body: JSON.stringify(body) });
}

/** The body of an answer without the ids of its rules. */
export function withoutIds(
  body: Json,
  operation: Visit["operation"],
  { operations, rule }: Contract,
): Json | undefined {
  const { list } = operations;
  const id = idPointer(rule);
  if (operation !== "list") return withoutAt(body, rule.envelope + id);
  const rules = list === null ? undefined : valueAt(body, list.items);
  if (list === null || !isJsonArray(rules) || rules.length === 0) return undefined;
  return withValueAt(
    body,
    list.items,
    rules.map((each) => withoutAt(each, list.envelope + id)),
  );
}

/** A definition whose text at a pointer has no blanks around it; undefined where there is none to take away. */
export function withTextTrimmed(definition: JsonObject, pointer: string): JsonObject | undefined {
  const text = valueAt(definition, pointer);
  if (typeof text !== "string" || text.trim() === text) return undefined;
  const trimmed = withValueAt(definition, pointer, text.trim());
  return isJsonObject(trimmed) ? trimmed : undefined;
}

function withoutAt(value: Json, pointer: string): Json {
  return isJsonObject(value) ? withoutValueAt(value, pointer) : value;
}
