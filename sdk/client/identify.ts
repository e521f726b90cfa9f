import type { IdentifyBy } from "../contract/schema.ts";
import { type JsonObject, jsonObject } from "../rules/index.ts";
import { encodeSegment, encodeText, headerValue, type Refuse } from "./encode.ts";
import type { Additions } from "./request-template.ts";

/**
 * What names a rule in a request, where the contract says it stands; in a body beside the fields of `body`.
 * @param refuse is told why an id cannot stand there
 */
export function identify(ruleId: string, place: IdentifyBy, body: JsonObject | undefined, refuse: Refuse): Additions {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  switch (place.in) {
    case "path":
      return { ...sent, segment: encodeSegment(ruleId, refuse) };
    case "query":
      return { ...sent, query: `${encodeURIComponent(place.name)}=${encodeText(ruleId, refuse)}` };
    case "header":
      return { ...sent, headers: [place.name, headerValue(ruleId, refuse)] };
    case "body":
      if (ruleId === "") refuse("it is empty");
      return { body: JSON.stringify(jsonObject([...Object.entries(body ?? {}), [place.name, ruleId]])) };
  }
}
