import type { Contract } from "../../../sdk/contract/index.ts";
import type { RuleStore } from "../store.ts";
import type { HeldRequest } from "./holds.ts";
import type { Fault, FaultKind } from "./schema.ts";
import type { Reply, Visit } from "./visit.ts";

/** The parts of the service that faults work on. */
export interface FaultContext {
  readonly contract: Contract;
  /** The rules of each merchant. */
  readonly stores: readonly RuleStore[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Resolves when a held request is released. */
  readonly hold: (visit: Visit, at: HeldRequest["at"]) => Promise<void>;
  /** Resolves when the faults are cleared, or the service closes. */
  readonly cleared: () => Promise<void>;
  /** Aborted when the service closes. */
  readonly closing: AbortSignal;
}

/** The behaviour of a fault from when it is set; it may remember. */
export interface Behaviour {
  /** Decides whether it is about a request, of those on the fault's operations; default: it is about all. */
  matches?(visit: Visit): boolean;
  inject(visit: Visit): Reply | Promise<Reply>;
  /** Hears of every write of a rule, by request or by hand, after it. */
  wrote?(store: RuleStore, ruleId: string): void;
}

export type FaultOf<Kind extends FaultKind> = Extract<Fault, { kind: Kind }>;
export type Kinds = { readonly [Kind in FaultKind]: (fault: FaultOf<Kind>, context: FaultContext) => Behaviour };
