import { isUtf8 } from "node:buffer";
import type { Contract } from "../contract/schema.ts";
import { shortened } from "../errors.ts";
import { isJsonObject, type Json, type JsonObject, type Pointer, pointerOf, valueAt, walk } from "../json/index.ts";
import { UnusableResponse } from "../unusable-response.ts";
import type { Answer } from "./transport.ts";

/**
 * The fault of an answer that has no id at `rule.id`. It names the fields that the answer has, for one of them may be the id.
 * @param what the part of the answer that was looked at: `the answer`
 * @param sent the fields that the request had; the others are named first
 */
export function withoutId(
  what: string,
  value: Json,
  { id }: Pick<RulePlaces, "id">,
  { sent, advice = correctId }: { sent?: JsonObject; advice?: string } = {},
): UnusableResponse {
  const fields = fieldsIn(value, sent);
  const others = fields.length > mostFields ? ` and ${fields.length - mostFields} more` : "";
  const named = fields.slice(0, mostFields).map((pointer) => shortened(pointer, longestField));
  const there = fields.length === 0 ? "no field that could be one" : `${named.join(", ")}${others}`;
  const reason = `${what} has no id at ${id.join(" or ")} (rule.id); it has ${there}`;
  return new UnusableResponse(reason, { advice, isWithoutId: true });
}

const correctId =
  "correct rule.id in the contract: name the field in which the service's answers have the id of a rule";

const mostFields = 12;
const longestField = 60;
const deepestField = 3;

/** The pointers of texts and numbers outside of lists: what an id can be. Those that were not sent come first. */
function fieldsIn(value: Json, sent: JsonObject = {}): Pointer[] {
  const found: Pointer[] = [];
  walk<never>(value, (each, { path }) => {
    if (typeof each !== "string" && typeof each !== "number") return undefined;
    if (path.length <= deepestField && path.every((name) => typeof name === "string")) found.push(pointerOf(path));
    return undefined;
  });
  const isSent = (pointer: Pointer): boolean => valueAt(sent, pointer) !== undefined;
  return [...found.filter((pointer) => !isSent(pointer)), ...found.filter(isSent)];
}

/** A rule as the service has it. */
export interface LiveRule {
  /** The service's id of the rule. */
  readonly ruleId: string;
  /** The JSON inside the contract's envelope (`rule.envelope`). */
  readonly rule: JsonObject;
  /** Its version, where a GET was asked for it and the contract has `operations.update.version`. */
  readonly version?: string | number;
}

/** The places of the rule and its id in answers. */
export type RulePlaces = Pick<Contract["rule"], "id" | "envelope">;

/** The JSON of an answer. Messages never quote the body. @throws UnusableResponse */
export function jsonOf({ body, headers }: Answer): Json {
  const coding = headers["content-encoding"];
  if (coding !== undefined && coding !== "identity")
    throw new UnusableResponse(`the body is encoded (${String(coding).slice(0, 40)}), which was not asked for`);
  if (body.length === 0) throw new UnusableResponse("the body is empty, not JSON");
  if (!isUtf8(body)) throw new UnusableResponse("the body is not UTF-8");
  const value = parsed(body.toString());
  const fault = faultOf(value);
  if (fault !== undefined) throw new UnusableResponse(`the body ${fault}`);
  return value;
}

/** The JSON of an answer, where it is JSON. */
export function jsonIfAny(answer: Answer): Json | undefined {
  try {
    return jsonOf(answer);
  } catch (error) {
    if (error instanceof UnusableResponse) return undefined;
    throw error;
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    const isCut = /^\s*[[{]/.test(text) && !/[\]}]\s*$/.test(text);
    throw new UnusableResponse(isCut ? "the body ends before its JSON does" : "the body is not JSON", { isCut });
  }
}

/** Far more than a definition may nest, and far less than what would overflow a stack. */
const deepestAnswer = 500;

/** The reason why JSON cannot be passed on. JSON.parse reads 1e400 as infinity, which JSON.stringify writes as null. */
function faultOf(value: Json, levelsLeft = deepestAnswer): string | undefined {
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
    return "has a number that is too large for JSON readers";
  if (typeof value !== "object" || value === null) return undefined;
  if (levelsLeft === 0) return `nests deeper than ${deepestAnswer} levels`;
  for (const child of Object.values<Json>(value)) {
    const fault = faultOf(child, levelsLeft - 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The JSON object of an answer. @throws UnusableResponse */
export function jsonObjectOf(answer: Answer): JsonObject {
  const value = jsonOf(answer);
  if (!isJsonObject(value)) throw new UnusableResponse("the body is not a JSON object");
  return value;
}

/** The rule in an answer; undefined when there is no object in its place. */
export function ruleIn(value: Json, { envelope }: RulePlaces): JsonObject | undefined {
  const rule = valueAt(value, envelope);
  return isJsonObject(rule) ? rule : undefined;
}

/**
 * The id of the rule in an answer: inside the envelope first, then in the whole value. The first pointer that finds
 * something wins. A number is taken as its decimal text.
 * @throws UnusableResponse when the value found cannot be an id
 */
export function ruleIdIn(value: Json, { id, envelope }: RulePlaces): string | undefined {
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
  if (typeof found === "number" && Number.isSafeInteger(found)) return String(found);
  if (typeof found === "number")
    throw new UnusableResponse(`the id at ${pointer} is a number that JSON readers cannot hold exactly`);
  throw new UnusableResponse(`the id at ${pointer} is ${found === "" ? "empty" : "neither a text nor a number"}`);
}
