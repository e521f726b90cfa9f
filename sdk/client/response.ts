import { isUtf8 } from "node:buffer";
import { headerIn } from "../contract/pagination/paging.ts";
import type { Contract } from "../contract/schema.ts";
import { fewOf, shortened } from "../errors.ts";
import {
  hasFieldTwice,
  isJsonObject,
  type Json,
  type JsonObject,
  numberText,
  type Pointer,
  parseJson,
  pointerOf,
  valueAt,
  walk,
  wholeNumberText,
} from "../json/index.ts";
import { UnusableResponse } from "../unusable-response.ts";
import type { WireResponse } from "./transport.ts";

/**
 * Makes the error of a response without an id at `rule.id`. It names the fields that are there: one of them may be the id.
 * @param what the part of the response that was looked at, in words for users: `the answer`
 * @param sent the fields that the request had; the others are named first
 */
export function withoutId(
  what: string,
  value: Json,
  { id }: Pick<RulePlaces, "id">,
  { sent, advice = correctId }: { sent?: JsonObject; advice?: string } = {},
): UnusableResponse {
  const fields = fieldsIn(value, sent).map((pointer) => shortened(pointer, longestField));
  const there = fields.length === 0 ? "no field that could be one" : fewOf(fields, mostFields);
  const reason = `${what} has no id at ${id.join(" or ")} (rule.id); it has ${there}`;
  return new UnusableResponse(reason, { advice, isWithoutId: true });
}

const correctId =
  "correct rule.id in the contract: name the field in which the service's answers have the id of a rule";

const mostFields = 12;
const longestField = 60;
const deepestField = 3;

/** Returns the pointers of strings and numbers outside of arrays, which an id can be. Those that were not sent come first. */
function fieldsIn(value: Json, sent: JsonObject = {}): Pointer[] {
  const found: Pointer[] = [];
  walk(value, (each, { path }) => {
    const canBeId = typeof each === "string" || numberText(each) !== undefined;
    if (canBeId && path.length <= deepestField && !path.some(Number.isInteger)) found.push(pointerOf(path));
  });
  const isSent = (pointer: Pointer): boolean => valueAt(sent, pointer) !== undefined;
  return [...found.filter((pointer) => !isSent(pointer)), ...found.filter(isSent)];
}

/** A rule as the service has it. */
export interface LiveRule {
  /** The service's id of the rule. */
  readonly ruleId: string;
  /** The JSON inside the contract's envelope (`rule.envelope`). Where a double would round a number, it has an {@link ExactNumber}. */
  readonly rule: JsonObject;
  /** Its version, where a GET was asked for it and the contract has `operations.update.version`. */
  readonly version?: Json;
}

/** The places of the rule and its id in the body of a response. */
export interface RulePlaces extends Pick<Contract["rule"], "envelope"> {
  readonly id: readonly Pointer[];
}

/** Returns the id in the headers of a response, where the contract's `rule.id` names one. Undefined where there is none. */
export function ruleIdInHeaders(
  { headers }: Pick<WireResponse, "headers">,
  { id }: Pick<Contract["rule"], "id">,
): string | undefined {
  for (const place of id) {
    const value = typeof place === "string" ? undefined : headerIn(headers, place.header);
    if (typeof place === "string" || value === undefined || value === "") continue;
    if (place.segment === null) return value;
    const id = lastSegmentOf(value);
    if (id !== undefined) return id;
    throw new UnusableResponse(`the header ${place.header} is no URL whose path ends with an id (rule.id)`);
  }
  return undefined;
}

/** Returns the last segment of a URL or a path (RFC 9110, 10.2.2), decoded; undefined where there is none. */
function lastSegmentOf(location: string): string | undefined {
  if (!URL.canParse(location, anyOrigin)) return undefined;
  const last = new URL(location, anyOrigin).pathname.split("/").findLast((segment) => segment !== "");
  try {
    return last === undefined ? undefined : decodeURIComponent(last);
  } catch {
    return undefined;
  }
}

const anyOrigin = "http://localhost";

/** Parses the body of a response as JSON. Messages never quote it. @throws UnusableResponse */
export function jsonOf({ body, headers }: WireResponse): Json {
  const coding = headers["content-encoding"];
  if (coding !== undefined && coding !== "identity")
    throw new UnusableResponse(`the body is encoded (${String(coding).slice(0, 40)}), which was not asked for`);
  if (body.length === 0) throw new UnusableResponse("the body is empty, not JSON");
  if (!isUtf8(body)) throw new UnusableResponse("the body is not UTF-8");
  const text = body.toString();
  const value = parsed(text);
  const fault = faultOf(value) ?? (hasFieldTwice(text, value) ? fieldTwice : undefined);
  if (fault !== undefined) throw new UnusableResponse(`the body ${fault}`);
  return value;
}

/** Parses the body of a response as JSON; undefined where it is none. */
export function jsonIfAny(response: WireResponse): Json | undefined {
  try {
    return jsonOf(response);
  } catch (error) {
    if (error instanceof UnusableResponse) return undefined;
    throw error;
  }
}

function parsed(text: string): Json {
  try {
    return parseJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    const isCut = /^\s*[[{]/.test(text) && !/[\]}]\s*$/.test(text);
    throw new UnusableResponse(isCut ? "the body ends before its JSON does" : "the body is not JSON", { isCut });
  }
}

const fieldTwice = "has a field twice in one object, so that readers differ on what it says";

/** Far more than a definition may nest, and far less than what would overflow a stack. */
const deepestResponse = 500;

/** Returns why JSON cannot be passed on. */
function faultOf(value: Json, levelsLeft = deepestResponse): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (levelsLeft === 0) return `nests deeper than ${deepestResponse} levels`;
  for (const child of Object.values<Json>(value)) {
    const fault = faultOf(child, levelsLeft - 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Parses the body of a response as a JSON object. @throws UnusableResponse */
export function jsonObjectOf(response: WireResponse): JsonObject {
  const value = jsonOf(response);
  if (!isJsonObject(value)) throw new UnusableResponse("the body is not a JSON object");
  return value;
}

/** Returns the rule in a response; undefined when there is no object at its place. */
export function ruleIn(value: Json | undefined, { envelope }: RulePlaces): JsonObject | undefined {
  const rule = valueAt(value, envelope);
  return isJsonObject(rule) ? rule : undefined;
}

/**
 * Returns the id of the rule in a response: inside the envelope first, then in the whole value. The first pointer that
 * finds something wins. A number becomes its decimal string. Undefined where there is none.
 * @throws UnusableResponse when the value found cannot be an id
 */
export function ruleIdIn(value: Json | undefined, { id, envelope }: RulePlaces): string | undefined {
  for (const root of envelope === "" ? [value] : [valueAt(value, envelope), value]) {
    for (const pointer of id) {
      const found = valueAt(root, pointer);
      if (found !== undefined && found !== null) return ruleIdOf(found, pointer);
    }
  }
  return undefined;
}

function ruleIdOf(found: Json, pointer: Pointer): string {
  if (typeof found === "string" && found !== "") return found;
  const number = wholeNumberText(found);
  if (number !== undefined) return number;
  if (numberText(found) !== undefined) throw new UnusableResponse(`the id at ${pointer} is a number, but no whole one`);
  throw new UnusableResponse(`the id at ${pointer} is ${found === "" ? "empty" : "neither a text nor a number"}`);
}
