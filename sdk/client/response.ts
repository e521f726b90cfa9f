import { isUtf8 } from "node:buffer";
import { isJsonObject, type Json, type JsonObject, type Pointer, valueAt } from "../rules/index.ts";
import type { Answer } from "./attempt.ts";

/** An answer that has a status of success and yet is not what the contract says. */
export class UnusableAnswer extends Error {
  /** Whether the same request may well bring a whole answer. */
  readonly isCut: boolean;

  constructor(reason: string, { isCut = false } = {}) {
    super(reason);
    this.isCut = isCut;
  }
}

/** A rule as the service has it. */
export interface LiveRule {
  readonly ruleId: string;
  /** The JSON inside the contract's envelope (`rule.envelope`). */
  readonly rule: JsonObject;
}

/** Where answers have the rule and its id; contract `rule`. */
export interface RulePlaces {
  readonly id: readonly Pointer[];
  readonly envelope: Pointer;
}

/** The JSON of an answer. Messages never quote the body. @throws UnusableAnswer */
export function jsonOf({ body, headers }: Answer): Json {
  const coding = headers["content-encoding"];
  if (coding !== undefined && coding !== "identity")
    throw new UnusableAnswer(`the body is encoded (${String(coding).slice(0, 40)}), which was not asked for`);
  if (body.length === 0) throw new UnusableAnswer("the body is empty, not JSON");
  if (!isUtf8(body)) throw new UnusableAnswer("the body is not UTF-8");
  const text = body.toString();
  try {
    const value: Json = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
    return value;
  } catch {
    const isCut = /^\s*[[{]/.test(text) && !/[\]}]\s*$/.test(text);
    throw new UnusableAnswer(isCut ? "the body ends before its JSON does" : "the body is not JSON", { isCut });
  }
}

/** As {@link jsonOf}, of an answer that must be an object. @throws UnusableAnswer */
export function jsonObjectOf(answer: Answer): JsonObject {
  const value = jsonOf(answer);
  if (!isJsonObject(value)) throw new UnusableAnswer("the body is not a JSON object");
  return value;
}

/** The rule within a value, where there is an object. */
export function ruleIn(value: Json, { envelope }: RulePlaces): JsonObject | undefined {
  const rule = valueAt(value, envelope);
  return isJsonObject(rule) ? rule : undefined;
}

/**
 * The id of the rule: inside the envelope first, then in the whole value; the first pointer that finds something wins.
 * A number is taken as its decimal text.
 * @throws UnusableAnswer where what is found cannot be an id
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
    throw new UnusableAnswer(`the id at ${pointer} is a number that JSON readers cannot hold exactly`);
  throw new UnusableAnswer(`the id at ${pointer} is ${found === "" ? "empty" : "neither a text nor a number"}`);
}
