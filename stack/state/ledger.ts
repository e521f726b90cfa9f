import { settleAliases } from "./aliases.ts";
import type { Snapshot } from "./checkpoint.ts";
import type { JournalEntry, Position } from "./journal-entry.ts";
import type { OperationType, PendingOperation, ResourceState } from "./resource-state.ts";

/**
 * The state of a stack in the course of a run. Resources that it touched come first, in the order they were done; those
 * it has not come to yet follow as they were. That order always puts a resource behind what it needs.
 */
export class Ledger {
  #base: ReadonlySet<ResourceState>;
  readonly #done = new Set<ResourceState>();
  readonly #new = new Set<ResourceState>();
  readonly #running = new Map<ResourceState, OperationType>();
  readonly #handles = new Map<ResourceState, number>();
  #interrupted: readonly PendingOperation[];
  #entries: JournalEntry[] = [];
  #changed = false;

  constructor(base: Snapshot) {
    this.#base = new Set(base.resources);
    this.#interrupted = base.pendingOperations;
    for (const resource of base.resources) this.#handle(resource);
  }

  /** True where the state differs from the one that the run began with. */
  get changed(): boolean {
    return this.#changed;
  }

  begin(resource: ResourceState, type: OperationType): void {
    this.#running.set(resource, type);
    const inState = this.#base.has(resource) || this.#new.has(resource);
    const handle = this.#handle(resource);
    this.#log(inState ? ["begin", handle, type] : ["begin", handle, type, resource]);
  }

  end(resource: ResourceState): void {
    this.#running.delete(resource);
    this.#log(["end", this.#handle(resource)]);
  }

  /** Adds a resource, or says that one which is there already was changed in place. */
  put(resource: ResourceState): void {
    if (!this.#base.has(resource) || this.#done.has(resource)) this.#new.add(resource);
    this.#log(["put", this.#handle(resource), resource]);
  }

  drop(resource: ResourceState): void {
    this.#done.add(resource);
    this.#new.delete(resource);
    this.#log(["drop", this.#handle(resource)]);
  }

  /** Notes a resource that the run went over without a change worth writing; `now` takes the place of `old`. */
  same(old: ResourceState, now: ResourceState): void {
    this.#done.add(old);
    this.#new.add(now);
    const handle = this.#handle(old);
    this.#handles.set(now, handle);
    this.#entries.push(["same", handle]);
  }

  /**
   * Starts over from other resources, those that a refresh found; handles count anew. The whole state, and a new journal,
   * must be written next.
   */
  rebase(resources: readonly ResourceState[]): void {
    this.#base = new Set(resources);
    this.#done.clear();
    this.#new.clear();
    this.#changed = true;
    this.#entries = [];
    this.#handles.clear();
    for (const resource of resources) this.#handle(resource);
  }

  /** Forgets the operations that an earlier run left unfinished. Creates are kept until somebody says otherwise. */
  clearInterrupted(alsoCreates: boolean): void {
    const left = alsoCreates ? [] : this.#interrupted.filter(({ type }) => type === "creating");
    if (left.length !== this.#interrupted.length) this.#changed = true;
    this.#interrupted = left;
  }

  /** Forgets that an earlier run left the create of a resource open: the state has it now. */
  settleCreate(urn: string): void {
    const left = this.#interrupted.filter(({ type, resource }) => type !== "creating" || resource.urn !== urn);
    if (left.length === this.#interrupted.length) return;
    this.#interrupted = left;
    this.#log(["settled", urn]);
  }

  get interrupted(): readonly PendingOperation[] {
    return this.#interrupted;
  }

  /** Takes the changes since the last call, for the journal; sames alone are not worth a line. */
  takeEntries(): readonly JournalEntry[] {
    return this.#entries.every(([kind]) => kind === "same") ? [] : this.takeAllEntries();
  }

  /** Takes all changes since the last call: a whole state is written next, and the journal goes on behind it. */
  takeAllEntries(): readonly JournalEntry[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }

  /** Returns the resources of the whole state of now, by the handles of a journal. */
  position(): Position {
    return {
      order: this.#order().map((resource) => this.#handle(resource)),
      touched: this.#touched().length,
      running: [...this.#running.keys()].map((resource) => this.#handle(resource)),
    };
  }

  snapshot(): Snapshot {
    const pendingOperations = [...this.#running].map(([resource, type]) => ({ resource, type }));
    return { resources: settleAliases(this.#order()), pendingOperations: [...pendingOperations, ...this.#interrupted] };
  }

  #touched(): ResourceState[] {
    return [...this.#new].filter((resource) => !this.#done.has(resource));
  }

  #order(): ResourceState[] {
    const rest = [...this.#base].filter((resource) => !this.#done.has(resource) && !this.#new.has(resource));
    return [...this.#touched(), ...rest];
  }

  #handle(resource: ResourceState): number {
    let handle = this.#handles.get(resource);
    if (handle === undefined) {
      handle = this.#handles.size;
      this.#handles.set(resource, handle);
    }
    return handle;
  }

  #log(entry: JournalEntry): void {
    this.#changed = true;
    this.#entries.push(entry);
  }
}
