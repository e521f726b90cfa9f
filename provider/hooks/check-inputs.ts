import type { dynamic } from "@pulumi/pulumi";
import { type Contract, type DefinitionFault, definitionChecker } from "../../sdk/contract/index.ts";
import { isMerchantRulesError } from "../../sdk/errors.ts";
import { findInexactNumber, findNotJson, isJsonObject, type Json, type JsonObject } from "../../sdk/rules/index.ts";
import type { Session } from "./session.ts";
import { connectionOf, isUnknown, type Properties, providerField } from "./wire.ts";

type Failure = dynamic.CheckFailure;

/**
 * Checks inputs in two steps: their shape, and if that is right, what depends on the contract of the connection that
 * they name. Gives every fault at its property path. Values that a preview does not know yet are not judged.
 */
export function checkInputs(
  news: Properties,
  session: Session,
  known: readonly string[],
  shape: readonly Failure[],
  byContract: (contract: Contract) => Failure[],
): Failure[] {
  const faults = [...unknownInputs(news, known), ...connectionFaults(news), ...shape];
  if (faults.length > 0 || isUnknown(news.connection)) return faults;
  let contract: Contract;
  try {
    contract = session.contract(connectionOf(news));
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    return [{ property: "connection", reason: error.message }];
  }
  return byContract(contract);
}

/** Where a definition is not what the contract's JSON Schema asks for. */
export function definitionFaults(definition: Json | undefined, property: string, contract: Contract): Failure[] {
  if (isUnknown(definition)) return [];
  if (!isJsonObject(definition)) return [{ property, reason: "must be an object: the rule as the service stores it" }];
  const fault = findNotJson(definition);
  if (fault !== undefined)
    return [{ property: below(property, fault.path), reason: `holds ${fault.found}, which is not JSON` }];
  const rounded = findInexactNumber(definition);
  if (rounded !== undefined) {
    const reason =
      "holds an integer beyond 2^53, whose last digits a program and many services lose; declare it as a text or in a larger unit";
    return [{ property: below(property, rounded.path), reason }];
  }
  if (contract.rule.schema === null) return [];
  return checkerOf(contract.rule.schema)(definition, isUnknown).map(({ path, reason }: DefinitionFault) => ({
    property: below(property, path),
    reason,
  }));
}

/** Inputs that are no inputs: a misspelt name would otherwise be dropped in silence. */
function unknownInputs(news: Properties, known: readonly string[]): Failure[] {
  return Object.keys(news)
    .filter((key) => key !== providerField && !known.includes(key))
    .map((property) => ({ property, reason: `is not an input; allowed: ${known.join(", ")}` }));
}

function connectionFaults({ connection }: Properties): Failure[] {
  if (connection === undefined || isUnknown(connection)) return [];
  if (typeof connection === "string" && /^[A-Za-z][A-Za-z0-9-]*$/.test(connection)) return [];
  const reason = "must be the name of a connection: letters, digits and -, a letter first";
  return [{ property: "connection", reason }];
}

function below(property: string, path: string): string {
  if (path === "") return property;
  return path.startsWith("[") ? `${property}${path}` : `${property}.${path}`;
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
