import { type RuleReading, readRules, ruleWords, type Semantics } from "../../meaning/index.ts";
import type { Contract } from "../../sdk/contract/index.ts";
import { blindMask, hidden, isJsonObject, type Json, type JsonObject, mapJson, valueAt } from "../../sdk/json/index.ts";
import { knownAfterUp } from "../model/content.ts";
import type { RuleInWords, Wording } from "../words/rule-words.ts";
import { addedBy } from "./meaning.ts";
import { orderWords, rankOf } from "./order.ts";
import type { DeclaredSemantics } from "./semantics-file.ts";

/** Returns how the rules of a connection are put into words, by what its contract says that they mean. */
export function wordingBy({ semantics, valueLists }: DeclaredSemantics, contract: Contract): Wording {
  const lists = new Map(valueLists.map(({ name, values }) => [name, values]));
  const isOpen = semantics.valueLists.some((source) => "values" in source);
  const options = { valueLists: isOpen ? new OpenLists(lists) : lists, ignored: addedBy(contract) };
  return { order: orderWords[semantics.wins.by], of: (shown) => saidBy(shown, semantics, options) };
}

/** Lists that rules hold may have any name. Words name a list, and never say what is in it. */
class OpenLists extends Map<string, readonly Json[]> {
  override get(name: string): readonly Json[] {
    return super.get(name) ?? [];
  }
}

function saidBy(shown: JsonObject, semantics: Semantics, options: Parameters<typeof readRules>[2]): RuleInWords[] {
  // What is not told is read as nothing that a rule can have.
  const definition = mapJson(shown, (value) => (value === hidden || value === knownAfterUp ? blindMask : undefined));
  if (!isJsonObject(definition)) return [];
  return readRules(definition, semantics, options).map((reading, index) => ({
    label: semantics.rules === null ? "" : `rule ${index + 1}`,
    words: ruleWords(explained(reading, shown), semantics),
    isKnown: reading.kind === "rule",
    rank: rankOf(reading, semantics),
  }));
}

/** Returns a reading that says of a secret only that it is one. */
function explained(reading: RuleReading, shown: JsonObject): RuleReading {
  if (reading.kind === "rule") return reading;
  const faults = reading.faults.map(({ at, why }) => {
    const value = valueAt(shown, at);
    if (value === hidden) return { at, why: "is a secret" };
    return { at, why: value === knownAfterUp ? "is known only after up" : why };
  });
  return { ...reading, faults };
}
