import { hash } from "node:crypto";
import { renameSync } from "node:fs";
import { EngineError, messageOf } from "../errors.ts";
import type { Backend, StackName } from "./backend.ts";
import { type Checkpoint, emptyCheckpoint, formatCheckpoint, parseCheckpoint, type Snapshot } from "./checkpoint.ts";
import { decodeOperation, decodeResource } from "./codec.ts";
import type { Crypter } from "./crypter.ts";
import { readIfThere } from "./files.ts";
import { type JournalEntry, JournalWriter, recover, wholeLines } from "./journal.ts";
import type { Ledger } from "./ledger.ts";
import { integrityProblem, type ResourceState } from "./resource-state.ts";

/** A stack's state file as it was read, before anything in it is decrypted. */
export interface StoredStack {
  readonly exists: boolean;
  readonly text: string;
  readonly checkpoint: Checkpoint;
}

export async function readStack(backend: Backend, stack: StackName): Promise<StoredStack> {
  const text = await backend.read(stack);
  if (text === undefined) return { exists: false, text: "", checkpoint: emptyCheckpoint };
  return { exists: true, text, checkpoint: parseCheckpoint(text, backend.stackFile(stack)) };
}

/** The state that a run starts from. */
export interface OpenedState {
  readonly snapshot: Snapshot;
  /** Set when an interrupted run was found and taken up; says so, for the user. */
  readonly recovered: string | undefined;
}

/** Whole states are written at most so often, and take at most one part in so many of the time. */
const leastBetweenMs = 1_000;
const partOfTime = 20;

/** The state of one stack during one run: reads it, takes up what an interrupted run left, and keeps it on disk. */
export class StateStore {
  readonly #backend: Backend;
  readonly #stack: StackName;
  readonly #crypter: Crypter | undefined;
  readonly #stored: StoredStack;
  readonly #journal: JournalWriter;
  #journalOpen = false;
  #timer: NodeJS.Timeout | undefined;
  /** True once a whole state is written that says what was begun first. */
  #hasBegun = false;
  #isBackedUp = false;
  /** Why the last whole state that was due could not be written. */
  #overdue: EngineError | undefined;
  /** The resources that the run began to create. */
  readonly #begun = new Set<ResourceState>();
  /** Those of them that were made, and are neither in the journal nor in a whole state. */
  #unnoted: ResourceState[] = [];
  #hash: string;
  #lastWriteMs = 0;
  #writeTookMs = 0;

  constructor(backend: Backend, stack: StackName, stored: StoredStack, crypter: Crypter | undefined) {
    this.#backend = backend;
    this.#stack = stack;
    this.#stored = stored;
    this.#crypter = crypter;
    this.#hash = hash("sha256", stored.text);
    this.#journal = new JournalWriter(backend.journalFile(stack), crypter);
  }

  /** Decrypts the state, and folds in what an interrupted run had noted. `keep` is whether that may be written at once. */
  async open(keep: boolean): Promise<OpenedState> {
    const file = this.#backend.stackFile(this.#stack);
    const { resources: stored, pendingOperations } = this.#stored.checkpoint;
    const snapshot = this.#decoded(file, () => ({
      resources: stored.map((resource) => decodeResource(resource, this.#crypter)),
      pendingOperations: pendingOperations.map((operation) => decodeOperation(operation, this.#crypter)),
    }));
    const problem = this.#problemOf(snapshot);
    if (problem !== undefined)
      throw new EngineError("STATE_INVALID", `the state in ${file} is not sound: ${problem}. It was not changed`);
    const journalFile = this.#backend.journalFile(this.#stack);
    const journal = await readIfThere(journalFile, wholeLines);
    if (journal === undefined) return { snapshot, recovered: undefined };
    const found = recover(journal, journalFile, { hash: this.#hash, ...snapshot }, this.#crypter);
    if (found === undefined) {
      const aside = `${journalFile}.${Date.now()}.unused`;
      if (keep) renameSync(journalFile, aside);
      const where = keep ? aside : journalFile;
      return {
        snapshot,
        recovered: `an earlier run was interrupted, and the state has been changed since by another program; what that run had noted is kept in ${where}, and is not used`,
      };
    }
    const unsound = this.#problemOf(found);
    if (unsound !== undefined) {
      throw new EngineError(
        "STATE_INVALID",
        `${journalFile}, the journal of an interrupted run, does not fit ${file}: ${unsound}. Neither was changed; move the journal aside to go on without what that run did last`,
      );
    }
    const recovered =
      found.lines === 0
        ? undefined
        : `took up the state where an interrupted run left it (${found.lines} steps of its journal)`;
    if (keep) {
      if (found.lines > 0) this.#writeFile(found);
      this.#journal.remove();
    }
    return { snapshot: found, recovered };
  }

  #decoded<T>(file: string, decode: () => T): T {
    try {
      return decode();
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      throw new EngineError(error.code, `the state in ${file} cannot be used: ${error.message}. It was not changed`);
    }
  }

  /** A file that belongs to another stack would have everything in it deleted. */
  #problemOf({ resources, pendingOperations }: Snapshot): string | undefined {
    const { project, name } = this.#stack;
    const all = [...resources, ...pendingOperations.map(({ resource }) => resource)];
    const foreign = all.find(({ urn }) => !urn.startsWith(`urn:pulumi:${name}::${project}::`));
    if (foreign !== undefined) return `${foreign.urn} is of another stack than ${project}/${name}`;
    return integrityProblem(resources);
  }

  /** Creates the stack's file, with no resources. */
  create(): void {
    this.#writeFile({ resources: [], pendingOperations: [] });
  }

  /**
   * Writes what happened since the last call: at once to the journal, and soon after as a whole state, so that the CLI,
   * too, goes on from it after a kill. What is begun first is in the whole state before it is done. Synchronous, so that nothing can happen between the two.
   * @throws EngineError FAILED: the journal cannot be written; or something is begun, and the whole state could not be
   * written the last time
   */
  save(ledger: Ledger): void {
    const entries = ledger.takeEntries();
    if (entries.length === 0) return;
    this.#note(entries);
    const begins = entries.some(([kind]) => kind === "begin");
    // What is under way is noted to its end; nothing new begins.
    if (begins && this.#overdue !== undefined) throw this.#overdue;
    if (begins && !this.#hasBegun) {
      this.#hasBegun = true;
      this.#checkpoint(ledger, true);
    } else this.#timer ??= setTimeout(() => this.#checkpointWhenDue(ledger), this.#dueMs).unref();
  }

  #note(entries: readonly JournalEntry[]): void {
    for (const entry of entries)
      if (entry[0] === "begin" && entry[2] === "creating" && entry[3] !== undefined) this.#begun.add(entry[3]);
    const made = entries.flatMap((entry) => (entry[0] === "put" && this.#begun.has(entry[2]) ? [entry[2]] : []));
    this.#unnoted.push(...made);
    if (!this.#journalOpen) this.#journal.start(this.#hash);
    this.#journalOpen = true;
    this.#journal.append(entries);
    this.#unnoted = this.#unnoted.filter((resource) => !made.includes(resource));
  }

  /** Nobody waits for it, so the next one who begins something hears of its failure. */
  #checkpointWhenDue(ledger: Ledger): void {
    try {
      this.#checkpoint(ledger, true);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.#overdue = error;
    }
  }

  get #dueMs(): number {
    const betweenMs = Math.max(leastBetweenMs, partOfTime * this.#writeTookMs);
    return Math.max(0, this.#lastWriteMs + betweenMs - performance.now());
  }

  /** The same, and resolves when it is on the disk. */
  async commit(ledger: Ledger): Promise<void> {
    this.save(ledger);
    await this.#journal.durable();
  }

  /** Writes the whole state at once, after the ledger was based on other resources. */
  rewrite(ledger: Ledger): void {
    this.#checkpoint(ledger, false);
    ledger.restart();
    if (this.#journalOpen) this.#journal.start(this.#hash);
  }

  /**
   * Writes the whole state, when the run changed it, and ends the journal.
   * @throws EngineError FAILED: it cannot be written; the journal stays, and what it does not hold is named
   */
  finish(ledger: Ledger): void {
    clearTimeout(this.#timer);
    if (ledger.changed) this.#checkpoint(ledger, false);
    if (this.#journalOpen) this.#journal.remove();
    this.#journalOpen = false;
  }

  #checkpoint(ledger: Ledger, goesOn: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const started = performance.now();
    this.#writeFile(ledger.snapshot());
    this.#writeTookMs = performance.now() - started;
    this.#lastWriteMs = performance.now();
    if (!goesOn) return;
    ledger.restart();
    this.#journal.start(this.#hash, ledger.continuation());
  }

  #writeFile(snapshot: Snapshot): void {
    const problem = integrityProblem(snapshot.resources);
    const { project, name } = this.#stack;
    const text = formatCheckpoint(
      `organization/${project}/${name}`,
      snapshot,
      this.#stored.checkpoint.rest,
      this.#crypter,
    );
    const textHash = hash("sha256", text);
    if (this.#journalOpen) this.#journal.appendCheckpoint(textHash);
    try {
      // What the run began with; not what it has written itself a moment ago.
      this.#isBackedUp ||= this.#backend.backUp(this.#stack);
      this.#backend.write(this.#stack, text);
    } catch (cause) {
      throw this.#notWritten(cause);
    }
    this.#hash = textHash;
    this.#overdue = undefined;
    this.#unnoted = [];
    if (problem !== undefined) {
      throw new EngineError(
        "STATE_INVALID",
        `the state that was written to ${this.#backend.stackFile(this.#stack)} is not sound: ${problem}; the one before it is in the .bak file beside it`,
      );
    }
  }

  #notWritten(cause: unknown): EngineError {
    const file = this.#backend.stackFile(this.#stack);
    const journal = this.#backend.journalFile(this.#stack);
    const made = this.#unnoted.map(({ urn, id }) => `\n  * ${urn}, whose id is ${id}`).join("");
    const rest =
      made === ""
        ? `${journal} beside it holds what this run did. What to do: make room, and run again: the next run goes on from there`
        : `This was made, and is in no file:${made}\nWhat to do: make room; delete these by their ids where they were made, and say so by refresh --clear-pending-creates; then run again`;
    return new EngineError("FAILED", `the state ${file} cannot be written: ${messageOf(cause)}. ${rest}`, { cause });
  }
}
