import type { Session } from "../../provider/hooks/session.ts";
import { isMerchantRulesError } from "../../sdk/errors.ts";
import { declaredDefinition, namesIn, readResources, ruleNameOf, type StateResource } from "../state/state-resource.ts";
import { identityOf, type RuleSide } from "./side.ts";

/**
 * Returns the rules of a stack as its state says that they were declared; without those that the next run removes. Asks nobody.
 * @param name in reports: `stack dev`
 * @throws MerchantRulesError as readResources
 */
export function stateSide(resources: readonly StateResource[], session: Session, name: string): RuleSide {
  const present = readResources(resources, session).filter(({ isLeaving }) => !isLeaving);
  const rules = present.flatMap((resource) => {
    const known = [...resource.of.known].map(([key, { definition }]) => [key, definition] as const);
    return [...(resource.declared ?? new Map(known))].map(([key, declared]) => ({
      ...namesIn(ruleNameOf(resource, key, declared)),
      ...identityOf(declared, resource.place.contract),
      definition: declaredDefinition(resource, key, declared),
    }));
  });
  return { name, kind: "state", rules, contractOf: contractsOf(session), notes: [] };
}

/** Returns how to find the contract of a session's connection. A connection that cannot be used has none. */
function contractsOf(session: Session): RuleSide["contractOf"] {
  return (connection) => {
    try {
      return session.place(connection).contract;
    } catch (error) {
      if (isMerchantRulesError(error)) return undefined;
      throw error;
    }
  };
}
