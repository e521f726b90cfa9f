export type { Connection, Credentials } from "./connection.ts";
export type { LiveRule } from "./response.ts";
export {
  type CallOptions,
  type CreatedRule,
  type CreateOptions,
  type ListOptions,
  RulesClient,
  type RulesClientOptions,
  type UpdateOptions,
} from "./rules-client.ts";
