import type { IdentifyBy } from "../../sdk/contract/index.ts";
import { field, isJsonObject, type JsonObject, segmentsOf, valueAt } from "../../sdk/json/index.ts";
import { badRequest } from "./refusal.ts";
import type { IncomingRequest } from "./request.ts";

/**
 * Returns the id by which a request names its rule.
 * @throws Refusal 400 when it names none. Nothing is ever chosen for it.
 */
export function ruleIdOf(
  place: IdentifyBy,
  request: IncomingRequest,
  names: Readonly<Record<string, string>>,
  body: JsonObject,
): string {
  const { in: part, name } = place;
  const found =
    part === "path"
      ? names.ruleId
      : part === "query"
        ? request.query.get(name)
        : part === "header"
          ? request.header(name)
          : field(body, name);
  if (typeof found === "string" && found !== "") return found;
  throw badRequest(`the ${part === "body" ? "body field" : part} ${name} must name the rule`);
}

/** Refuses a body with a field that is not `known`. @throws Refusal 400 */
export function demandKnownFields(body: JsonObject, known: readonly string[]): void {
  const unknown = Object.keys(body).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw badRequest(`unknown in the body: ${unknown.join(", ")}; allowed: ${known.join(", ")}`);
}

/**
 * Returns the definition that a body carries at `bodyAt`, beside fields of these names.
 * @throws Refusal 400 when there is none, or an unknown field beside it.
 */
export function definitionIn(body: JsonObject, bodyAt: string, beside: readonly string[]): JsonObject {
  const [outermost] = segmentsOf(bodyAt);
  if (outermost !== undefined) demandKnownFields(body, [outermost, ...beside]);
  const definition = valueAt(body, bodyAt);
  if (isJsonObject(definition)) return definition;
  throw badRequest(`the body must have the definition, an object, at ${bodyAt}`);
}
