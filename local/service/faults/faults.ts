import type { RuleStore } from "../store.ts";
import type { Behaviour, FaultContext } from "./behaviour.ts";
import { type HeldRequest, Holds } from "./holds.ts";
import { behaviourOf } from "./kinds.ts";
import { parseFaults, sentence } from "./parse.ts";
import type { Fault, FaultInput, FaultKind } from "./schema.ts";
import type { Reply, Visit } from "./visit.ts";

/** The faults of a running service. */
export interface LocalFaults {
  /**
   * Sets one fault or several in the place of all that are set, and begins to count anew. Of those that match a request
   * the first is injected; every one counts it.
   * @throws TypeError for a fault that is none, naming path, what was found and what is allowed. Then nothing has changed.
   */
  set(faults: FaultInput | readonly FaultInput[]): void;
  /** Adds faults to those that are set, as {@link LocalFaults.set} sets them. */
  add(faults: FaultInput | readonly FaultInput[]): void;
  /** Clears all faults: every request is answered as it should be, held and silenced ones too. `injected` can still be read. */
  clear(): void;
  /** The last 10,000 faults that were injected since the last `set`, oldest first. */
  readonly injected: readonly InjectedFault[];
  /** Every fault that is set, with its counts. */
  readonly current: readonly CountedFault[];
  /** The requests that are held now, oldest first. */
  readonly held: readonly HeldRequest[];
  /** Waits for the next request that a `hold` fault holds; each is given once. Rejects when the service closes first. */
  nextHeld(): Promise<HeldRequest>;
  /** Lets all held requests go on; returns how many there were. */
  release(): number;
}

/** A fault and the request that it hit. */
export interface InjectedFault {
  readonly fault: Fault;
  readonly operation: Visit["operation"];
  readonly method: string;
  readonly path: string;
  /** Number of this request among those that match the fault, from 1. */
  readonly request: number;
}

export interface CountedFault {
  readonly fault: Fault;
  /** Number of requests that matched it since it was set. */
  readonly matched: number;
  /** Number of requests that it was injected into. */
  readonly injected: number;
}

const kept = 10_000;

interface SetFault {
  readonly fault: Fault;
  readonly behaviour: Behaviour;
  matched: number;
  injected: number;
}

/** Keeps the faults that are set, chooses the one for a request and lets it happen. */
export class Faults implements LocalFaults {
  readonly #context: FaultContext;
  readonly #holds = new Holds();
  readonly #closing = new AbortController();
  #cleared = Promise.withResolvers<void>();
  #set: SetFault[] = [];
  #injected: InjectedFault[] = [];

  constructor(context: Omit<FaultContext, "hold" | "cleared" | "closing">) {
    this.#context = {
      ...context,
      hold: (visit, at) => this.#holds.hold(visit, at),
      cleared: () => this.#cleared.promise,
      closing: this.#closing.signal,
    };
    for (const store of context.stores) store.watch((ruleId) => this.#wrote(store, ruleId));
  }

  /** True where no fault is set. A request then costs this question alone. */
  get isEmpty(): boolean {
    return this.#set.length === 0;
  }

  set(faults: FaultInput | readonly FaultInput[]): void {
    const parsed = demandFaults(faults);
    this.clear();
    this.#injected = [];
    this.add(parsed);
  }

  add(faults: FaultInput | readonly FaultInput[]): void {
    const added = demandFaults(faults).map((fault) => ({
      fault,
      behaviour: behaviourOf(fault.kind, fault, this.#context),
      matched: 0,
      injected: 0,
    }));
    this.#set = [...this.#set, ...added];
  }

  clear(): void {
    this.#set = [];
    this.release();
    this.#cleared.resolve();
    this.#cleared = Promise.withResolvers();
  }

  get injected(): readonly InjectedFault[] {
    return this.#injected.slice(-kept);
  }

  get current(): readonly CountedFault[] {
    return this.#set.map(({ fault, matched, injected }) => ({ fault, matched, injected }));
  }

  get held(): readonly HeldRequest[] {
    return this.#holds.held;
  }

  nextHeld(): Promise<HeldRequest> {
    return this.#holds.next();
  }

  release(): number {
    return this.#holds.release();
  }

  /** Replies to a request, and returns the fault that was injected into the reply. */
  async replyTo(visit: Visit): Promise<{ reply: Reply; fault?: Fault }> {
    const chosen = this.#choose(visit);
    if (chosen === undefined) return { reply: { send: "whole", response: visit.serve() } };
    const { fault, behaviour, matched } = chosen;
    const { operation, request } = visit;
    // Taken before the fault happens: one that waits must not hit a second request in the meantime.
    chosen.injected++;
    const record = { fault, operation, method: request.method, path: request.path, request: matched };
    this.#injected.push(record);
    if (this.#injected.length >= 2 * kept) this.#injected = this.#injected.slice(-kept);
    const reply = await this.#happen(behaviour, visit);
    if (reply.send !== "unharmed") return { reply, fault };
    chosen.injected--;
    this.#injected = this.#injected.filter((other) => other !== record);
    return { reply };
  }

  /** Drops what waits; nothing is carried out any more. */
  close(): void {
    this.#set = [];
    this.#closing.abort();
    this.#cleared.resolve();
    this.#holds.close();
  }

  #wrote(store: RuleStore, ruleId: string): void {
    for (const { behaviour } of this.#set) behaviour.wrote?.(store, ruleId);
  }

  #choose(visit: Visit): SetFault | undefined {
    const matching = this.#set.filter(({ fault, behaviour }) => {
      const operations: readonly string[] = fault.operations;
      return operations.includes(visit.operation) && (behaviour.matches?.(visit) ?? true);
    });
    for (const each of matching) each.matched++;
    return matching.find(({ fault, matched, injected }) => isHit(fault, matched, injected));
  }

  async #happen(behaviour: Behaviour, visit: Visit): Promise<Reply> {
    try {
      return await behaviour.inject(visit);
    } catch (error) {
      if (this.#closing.signal.aborted) return { send: "nothing" };
      throw error;
    }
  }
}

function demandFaults(input: unknown): Fault[] {
  const parsed = parseFaults(input);
  if ("faults" in parsed) return parsed.faults;
  throw new TypeError(parsed.issues.map(sentence).join("; "));
}

/** The kinds that make sense for more than one request: they stay unless told otherwise. */
const lasting: ReadonlySet<FaultKind> = new Set([
  "stale-list",
  "repeat-cursor",
  "shifting-list",
  "late-get",
  "normalise",
]);

function isHit(fault: Fault, number: number, injected: number): boolean {
  const times = fault.times ?? (fault.probability !== undefined || lasting.has(fault.kind) ? "always" : 1);
  if (number < fault.request || (times !== "always" && injected >= times)) return false;
  return fault.probability === undefined || draw(fault.seed, number) < fault.probability;
}

/** Draws a number from 0 to below 1 that depends on nothing but seed and number (the mixing of MurmurHash3). */
function draw(seed: number, number: number): number {
  let bits = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(number, 0xc2b2ae35);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}
