export { type LocalCredentials, localCredentials } from "./credentials.ts";
export type {
  CountedFault,
  Fault,
  FaultInput,
  FaultKind,
  HeldRequest,
  InjectedFault,
  LocalFaults,
} from "./faults/index.ts";
export { eventsPath, type LivePage } from "./live.ts";
export type { LocalMerchant, RulesByHand } from "./merchants.ts";
export type { ServedOperation, ServedRequest } from "./request-log.ts";
export { type LocalService, type LocalServiceOptions, startLocalService } from "./start.ts";
