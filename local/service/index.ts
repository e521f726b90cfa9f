export { type LocalCredentials, localCredentials } from "./credentials.ts";
export type { ServedOperation, ServedRequest } from "./request-log.ts";
export { type LocalService, type LocalServiceOptions, startLocalService } from "./start.ts";
