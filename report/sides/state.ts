import type { Session } from "../../provider/hooks/session.ts";
import { declaredDefinition, readResources, ruleNameOf, type StateResource } from "../state/state-resource.ts";
import { identityOf, type Side } from "./side.ts";
import { contractsOf, namesIn } from "./stack.ts";

/**
 * The rules of a stack as its state says that they were declared; without those that the next run removes. Asks nobody.
 * @param name in reports: `stack dev`
 * @throws MerchantRulesError as readResources
 */
export function stateSide(resources: readonly StateResource[], session: Session, name: string): Side {
  const present = readResources(resources, session).filter(({ isLeaving }) => !isLeaving);
  const rules = present.flatMap((resource) => {
    const known = [...resource.state.rules].map(([key, { definition }]) => [key, definition] as const);
    return [...(resource.declared ?? new Map(known))].map(([key, declared]) => ({
      ...namesIn(ruleNameOf(resource, key, declared)),
      ...identityOf(declared, resource.place.contract),
      definition: declaredDefinition(resource, key, declared),
    }));
  });
  return { name, kind: "state", rules, contractOf: contractsOf(session), notes: [] };
}
