import type { IdentifyBy } from "../contract/schema.ts";
import { type JsonObject, jsonObject } from "../rules/index.ts";
import type { Additions } from "./request-template.ts";

/** Throws an error that says why a value cannot be sent. */
export type Refuse = (reason: string) => never;

/**
 * A value as one segment of a path, percent-encoded. Refused: an empty value, and one that some server on the way could
 * read as another path, also after decoding (`.`, `..`, `%2e%2e`, `a/../b`).
 */
export function encodeSegment(value: string, refuse: Refuse): string {
  // encodeURIComponent leaves dots alone, so only values with . / \ or % need a closer look.
  if (/[./\\%]/.test(value) && stepsAside(value)) refuse("it has the meaning of another path (. or ..)");
  return encodeText(value, refuse);
}

/** A value of the query, percent-encoded. It may be empty only when the contract fixes it (`isFixed`). */
export function encodeText(value: string, refuse: Refuse, { isFixed = false } = {}): string {
  if (value === "" && !isFixed) refuse("it is empty");
  if (!value.isWellFormed()) refuse("it is not well-formed Unicode");
  return encodeURIComponent(value);
}

/** A value of a header, unchanged. Refused: control characters, other than Latin-1, blanks at the ends (servers drop them). */
export function headerValue(value: string, refuse: Refuse): string {
  if (value === "") refuse("it is empty");
  if (!/^[\t\x20-\x7e\xa0-\xff]*$/.test(value)) refuse("it has characters that no header can carry");
  if (value.trim() !== value) refuse("it begins or ends with a blank, which a header loses");
  return value;
}

/** The part of a request that names its rule, as the contract says; in a body, the id stands beside the fields of `body`. */
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

/** Whether a value has a segment `.` or `..`, however often it is decoded. */
function stepsAside(value: string): boolean {
  for (let text = value; ; ) {
    if (text.split(/[/\\]/).some((segment) => segment === "." || segment === "..")) return true;
    const decoded = text.replace(/%[0-7][0-9a-f]/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
    if (decoded === text) return false;
    text = decoded;
  }
}
