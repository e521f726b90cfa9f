export type { Connection, Credentials } from "./connection.ts";
export type { LiveRule } from "./response.ts";
export type { CallOptions, UpdateOptions } from "./rules-client.ts";
export { RulesClient, type RulesClientOptions } from "./rules-client.ts";
export { demandOwnFields } from "./update-body.ts";
