import { contracts, type MatrixContract, type OperationName, type Resource } from "./scenarios.ts";

/** Where a row of cells stands: everything but the fault and the request that it hits. */
export interface Row {
  readonly contract: MatrixContract;
  readonly resource: Resource;
  readonly operation: OperationName;
}

/** The part of a row that one test runs: cells with a fault, those of them that wait for timeouts, and kills. */
export type Part = "faults" | "timeouts" | "kills" | "connection";

const resources: readonly Resource[] = ["MerchantRule", "MerchantRuleSet"];

/** All rows, in the order of the table. */
export const rows = contracts.flatMap((contract): Row[] =>
  (contract.resources ?? resources).flatMap((resource) =>
    contract.operations.map((operation) => ({ contract, resource, operation })),
  ),
);

export function nameOf({ contract, resource, operation }: Row): string {
  return `${contract.name}: ${resource}, ${operation}`;
}

/** A contract's name in the names of files. */
export function slugOf({ name }: MatrixContract): string {
  return name.toLowerCase().replace(/\W+/g, "-");
}

export function partsOf({ contract, resource, operation }: Row): Part[] {
  // Where a create cannot be looked up, a kill in the middle of it leaves nobody who knows. The engine says so by itself.
  const isKilled = contract.canLookUp || (operation !== "create" && operation !== "replace");
  const hasConnection = operation === "create" && resource === "MerchantRule";
  return [
    "faults",
    "timeouts",
    ...(isKilled ? (["kills"] as const) : []),
    ...(hasConnection ? (["connection"] as const) : []),
  ];
}
