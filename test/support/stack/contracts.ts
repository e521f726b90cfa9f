import type { ContractInput } from "../../../sdk/contract/index.ts";

const path = "/api/v1/merchants/rules";
export const identifyBy = { in: "query" } as const;
export const update = { path: `${path}/{ruleId}` } as const;
export const list = { path, items: "/rules", lagMs: 0 } as const;

/** A contract with everything that finds a rule; `changes` replace its operations and its rule block. */
export function contractOf(
  changes: { operations?: ContractInput["operations"]; rule?: ContractInput["rule"] } & Partial<ContractInput> = {},
): ContractInput {
  const { operations, rule, ...others } = changes;
  return {
    version: 1,
    operations: { delete: { identifyBy }, update, list, ...operations },
    rule: { id: ["/id"], naturalKey: "/name", ...rule },
    ...others,
  };
}

/** Where the services of these tests keep the mark of a rule. */
export const owner = { at: "/metadata/managedBy" } as const;

/** The contract of a service that keeps a mark with each rule. */
export const marking = contractOf({ rule: { owner } });

/** The operations of a contract whose list may be so far behind; null is that nobody knows. */
export function lagging(lagMs: number | null) {
  return { operations: { list: { ...list, lagMs } } } as const;
}

export const unknownLag = contractOf(lagging(null));

/** Where the services of these tests say whose the credentials are. */
export const identity = { path: "/me", at: "/account/id" } as const;

/** A contract that can ask whose the credentials are. */
export const asking = contractOf({ auth: { identity } });

/** A contract without a list and without a natural key: what is known by its id can be read, and nothing else. */
export const withoutList = contractOf({ operations: { list: null }, rule: { naturalKey: null } });

/** Two merchants of one service. With sequential ids both have a rule 1. */
export const merchants = [
  { name: "acme", token: "token-acme" },
  { name: "globex", token: "token-globex" },
];

/** Two merchants of one service who both have rules 1, 2, 3, …; the first is the one that the stack begins with. */
export const twoMerchants = { merchants, ruleIds: "sequential" } as const;
/** The token of the other merchant, for one run. */
export const otherToken = { MERCHANT_RULES_TOKEN: "token-globex" };
