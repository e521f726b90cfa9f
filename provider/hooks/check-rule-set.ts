import type { dynamic } from "@pulumi/pulumi";
import type { Contract } from "../../sdk/contract/index.ts";
import { canonical, isJsonObject, type JsonObject, joinPath, valueAt } from "../../sdk/rules/index.ts";
import { checkInputs, definitionFaults } from "./check-inputs.ts";
import type { Session } from "./session.ts";
import { isUnknown, type Properties } from "./wire.ts";

type Failure = dynamic.CheckFailure;

const onUnmanagedChoices = ["ignore", "warn", "fail"];

/** What is wrong with the inputs of a MerchantRuleSet, each fault at its property path. */
export function checkRuleSet(news: Properties, session: Session): Failure[] {
  return checkInputs(news, session, ["rules", "connection", "adopt", "onUnmanaged"], shapeFaults(news), (contract) => [
    ...unmanagedFaults(news, contract),
    ...(isJsonObject(news.rules) ? rulesFaults(news.rules, contract) : []),
  ]);
}

function rulesFaults(rules: JsonObject, contract: Contract): Failure[] {
  const faults = Object.entries(rules).flatMap(([key, definition]) =>
    definitionFaults(definition, joinPath("rules", key), contract),
  );
  return faults.length > 0 ? faults : sameNaturalKeys(rules, contract);
}

/** Two keys that mean one rule would fight over it. */
function sameNaturalKeys(rules: JsonObject, { rule }: Contract): Failure[] {
  if (rule.naturalKey === null) return [];
  const first = new Map<string, string>();
  const faults: Failure[] = [];
  for (const [key, definition] of Object.entries(rules)) {
    const value = valueAt(definition, rule.naturalKey);
    if (value === undefined || value === null || isUnknown(value)) continue;
    const identity = canonical(value);
    const other = first.get(identity);
    if (other === undefined) first.set(identity, key);
    else {
      const reason = `has the same natural key (${rule.naturalKey}) as ${joinPath("rules", other)}; each rule is declared once`;
      faults.push({ property: joinPath("rules", key), reason });
    }
  }
  return faults;
}

function unmanagedFaults({ onUnmanaged }: Properties, { operations }: Contract): Failure[] {
  if (onUnmanaged === undefined || onUnmanaged === "ignore" || isUnknown(onUnmanaged) || operations.list !== null)
    return [];
  return [{ property: "onUnmanaged", reason: "needs operations.list in the contract: only a list shows other rules" }];
}

function shapeFaults({ rules, adopt, onUnmanaged }: Properties): Failure[] {
  return [...keyFaults(rules), ...adoptFaults(adopt, rules), ...onUnmanagedFaults(onUnmanaged)];
}

function keyFaults(rules: Properties[string] | undefined): Failure[] {
  if (isUnknown(rules)) return [];
  if (!isJsonObject(rules)) return [{ property: "rules", reason: "must be an object: definitions by key" }];
  return Object.keys(rules)
    .filter((key) => !isUsableKey(key))
    .map((key) => ({
      property: joinPath("rules", key),
      reason:
        "has a key that is not a usable name: 1 to 200 letters, digits and . _ : / @ - or blanks, a letter or digit first",
    }));
}

/** Keys stand in paths, messages and file names; those with __ in front the engine keeps to itself. */
function isUsableKey(key: string): boolean {
  return /^[\p{L}\p{N}][\p{L}\p{N}._:/@ -]{0,199}$/u.test(key);
}

function adoptFaults(adopt: Properties[string] | undefined, rules: Properties[string] | undefined): Failure[] {
  if (adopt === undefined || typeof adopt === "boolean" || isUnknown(adopt)) return [];
  if (!isJsonObject(adopt))
    return [{ property: "adopt", reason: "must be true, or ruleIds by key of the rules to take over" }];
  return Object.entries(adopt).flatMap(([key, ruleId]) => {
    const property = joinPath("adopt", key);
    if (isJsonObject(rules) && !Object.hasOwn(rules, key)) return [{ property, reason: "names no rule of the set" }];
    return typeof ruleId === "string" && ruleId !== "" ? [] : [{ property, reason: "must be a ruleId" }];
  });
}

function onUnmanagedFaults(onUnmanaged: Properties[string] | undefined): Failure[] {
  if (onUnmanaged === undefined || isUnknown(onUnmanaged)) return [];
  if (typeof onUnmanaged === "string" && onUnmanagedChoices.includes(onUnmanaged)) return [];
  return [{ property: "onUnmanaged", reason: `must be one of ${onUnmanagedChoices.join(", ")}` }];
}
