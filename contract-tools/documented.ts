import type { Json } from "../sdk/json/index.ts";

/** A thing that the service's specification says of a field, and in which of its sections. */
export interface Documented {
  readonly field: string;
  readonly value: Json;
  readonly section: number;
}

/** All that the specification says of what a contract can say. Everything else is a gap. */
export const documented: readonly Documented[] = [
  { field: "operations.create.method", value: "POST", section: 4 },
  { field: "operations.create.path", value: "/api/v1/merchants/rules", section: 4 },
  { field: "operations.create.success", value: [201], section: 4 },
  { field: "operations.get.method", value: "GET", section: 4 },
  { field: "operations.get.path", value: "/api/v1/merchants/rules/{ruleId}", section: 4 },
  { field: "operations.get.success", value: [200], section: 4 },
  { field: "operations.delete.method", value: "DELETE", section: 4 },
  { field: "operations.delete.path", value: "/api/v1/merchants/rules", section: 4 },
  { field: "operations.delete.success", value: [200], section: 4 },
  { field: "operations.update.method", value: "PUT", section: 4 },
  { field: "operations.list.method", value: "GET", section: 4 },
  { field: "auth.token.method", value: "POST", section: 5 },
];
