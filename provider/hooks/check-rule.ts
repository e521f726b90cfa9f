import type { dynamic } from "@pulumi/pulumi";
import { type Contract, type DefinitionFault, definitionChecker } from "../../sdk/contract/index.ts";
import { isMerchantRulesError } from "../../sdk/errors.ts";
import { findNotJson, isJsonObject, type Json, type JsonObject, joinPath } from "../../sdk/rules/index.ts";
import type { Session } from "./session.ts";
import { isUnknown, type Properties, providerField, readRuleInputs } from "./wire.ts";

/** What is wrong with the inputs of a MerchantRule, each fault at its property path. Values unknown in a preview are not judged. */
export function checkRule(news: Properties, session: Session): dynamic.CheckFailure[] {
  const shape = [...unknownInputs(news, ["definition", "connection", "adopt"]), ...shapeFaults(news)];
  if (shape.length > 0 || isUnknown(news.connection)) return shape;
  const contract = contractOr(news, session);
  if ("failure" in contract) return [contract.failure];
  return definitionFaults(news.definition, "definition", contract.contract);
}

/** Inputs that are no inputs: a misspelt name would otherwise be dropped in silence. */
export function unknownInputs(news: Properties, known: readonly string[]): dynamic.CheckFailure[] {
  return Object.keys(news)
    .filter((key) => key !== providerField && !known.includes(key))
    .map((property) => ({ property, reason: `is not an input; allowed: ${known.join(", ")}` }));
}

/** Where a definition is not what the contract's JSON Schema asks for. */
export function definitionFaults(
  definition: Json | undefined,
  property: string,
  contract: Contract,
): dynamic.CheckFailure[] {
  if (isUnknown(definition)) return [];
  if (!isJsonObject(definition)) return [{ property, reason: "must be an object: the rule as the service stores it" }];
  const fault = findNotJson(definition);
  if (fault !== undefined)
    return [{ property: below(property, fault.path), reason: `holds ${fault.found}, which is not JSON` }];
  if (contract.rule.schema === null) return [];
  return checkerOf(contract.rule.schema)(definition, isUnknown).map(({ path, reason }: DefinitionFault) => ({
    property: below(property, path),
    reason,
  }));
}

/** The contract of the connection that the inputs name, or why there is none. */
export function contractOr(
  news: Properties,
  session: Session,
): { contract: Contract } | { failure: dynamic.CheckFailure } {
  try {
    return { contract: session.contract(readRuleInputs(news).connection) };
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    return { failure: { property: "connection", reason: error.message } };
  }
}

function shapeFaults({ definition, connection, adopt }: Properties): dynamic.CheckFailure[] {
  const faults: dynamic.CheckFailure[] = [];
  if (definition === undefined)
    faults.push({ property: "definition", reason: "is missing: the rule as the service stores it" });
  if (
    !(
      connection === undefined ||
      (typeof connection === "string" && /^[A-Za-z][A-Za-z0-9-]*$/.test(connection)) ||
      isUnknown(connection)
    )
  ) {
    faults.push({
      property: "connection",
      reason: "must be the name of a connection: letters, digits and -, a letter first",
    });
  }
  if (!(adopt === undefined || typeof adopt === "boolean" || (typeof adopt === "string" && adopt !== ""))) {
    faults.push({ property: "adopt", reason: "must be a ruleId, or true for the rule with the same natural key" });
  }
  return faults;
}

function below(property: string, path: string): string {
  return path === "" ? property : path.startsWith("[") ? `${property}${path}` : `${joinPath("", property)}.${path}`;
}

const checkers = new WeakMap<JsonObject, ReturnType<typeof definitionChecker>>();

function checkerOf(schema: JsonObject): ReturnType<typeof definitionChecker> {
  let checker = checkers.get(schema);
  if (checker === undefined) {
    checker = definitionChecker(schema);
    checkers.set(schema, checker);
  }
  return checker;
}
