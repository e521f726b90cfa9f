import type { Session } from "../../provider/hooks/session.ts";
import { isMerchantRulesError } from "../../sdk/errors.ts";
import { type DeclaredRule, findDrift } from "../drift/drift.ts";
import type { RuleName, StateResource } from "../state/state-resource.ts";
import { identityOf, type Side, type SideRule, type Standing } from "./side.ts";

/**
 * Every rule of a stack and, where `looksForUnmanaged`, the others at its places, each with its standing and as the
 * service has it; of a rule that is missing there, as it is declared. One paged pass, as `drift`.
 * @param name in reports: `stack dev`
 * @throws MerchantRulesError as findDrift
 */
export async function stackSide(
  resources: readonly StateResource[],
  session: Session,
  name: string,
  { looksForUnmanaged = true } = {},
): Promise<Side> {
  const drift = await findDrift(resources, session, { looksForUnmanaged, withSame: true });
  const declared = (rule: DeclaredRule, standing: Standing): SideRule => ({
    ...namesIn(rule),
    definition: rule.declared,
    standing,
  });
  const contractOf = contractsOf(session);
  const rules: SideRule[] = [
    ...drift.same.map((rule) => declared(rule, "declared")),
    ...drift.changed.map(({ live, liveKey, owner, seen: _, ...rule }) => ({
      ...declared(rule, "drifted"),
      name: liveKey ?? rule.key ?? rule.ruleId ?? rule.resource,
      definition: live,
      ...(owner === undefined ? {} : { owner }),
    })),
    ...drift.missing.map((rule) => declared(rule, "missing")),
    ...drift.unmanaged.map(({ naturalKey, ruleId, connection, owner, isAnothers, live }) => ({
      name: naturalKey ?? ruleId,
      ruleId,
      connection,
      ...(owner === undefined ? {} : { owner }),
      definition: live,
      standing: isAnothers ? ("another's" as const) : ("unmanaged" as const),
    })),
  ];
  const known = rules.map((rule) => ({ ...rule, ...identityOf(rule.definition, contractOf(rule.connection)) }));
  const notes = drift.withoutList.map(
    (connection) => `unmanaged rules cannot be told over connection ${connection}: its contract has no list`,
  );
  return { name, kind: "live", rules: known, contractOf, notes };
}

/** The names of a rule of the state, as sides have them. */
export function namesIn({ naturalKey, key, ruleId, resource, connection }: RuleName): Omit<SideRule, "definition"> {
  return {
    name: naturalKey ?? key ?? ruleId ?? resource,
    ...(key === undefined ? {} : { key }),
    ...(ruleId === undefined ? {} : { ruleId }),
    resource,
    connection,
  };
}

/** The contracts of a session's connections. A connection that cannot be used has none. */
export function contractsOf(session: Session): Side["contractOf"] {
  return (connection) => {
    try {
      return session.place(connection).contract;
    } catch (error) {
      if (isMerchantRulesError(error)) return undefined;
      throw error;
    }
  };
}
