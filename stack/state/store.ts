import { hash } from "node:crypto";
import { renameSync } from "node:fs";
import { EngineError, messageOf } from "../errors.ts";
import type { Backend, StackName } from "./backend.ts";
import { type Checkpoint, emptyCheckpoint, formatCheckpoint, parseCheckpoint, type Snapshot } from "./checkpoint.ts";
import { decodeOperation, decodeResource } from "./codec.ts";
import type { Crypter } from "./crypter.ts";
import { readIfThere } from "./files.ts";
import { JournalWriter, recover, wholeLines } from "./journal.ts";
import type { JournalEntry, Position } from "./journal-entry.ts";
import type { Ledger } from "./ledger.ts";
import { integrityProblem, type OperationType, type ResourceState } from "./resource-state.ts";
import { ResourceTexts } from "./resource-texts.ts";

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

/**
 * So often at most are whole states written for what ends, and they take at most one part in so many of the time. What
 * begins to be created waits for one.
 */
const leastBetweenMs = 1_000;
const partOfTime = 20;

/** The way on from a whole state. */
interface Going {
  /** The journal's entry of it; undefined where there is no journal. */
  readonly position?: Position;
  /** The run writes another one later. Default: false. */
  readonly goesOn?: boolean;
}

/** The state of one stack during one run: reads it, takes up what an interrupted run left, and keeps it on disk. */
export class StateStore {
  readonly #backend: Backend;
  readonly #stack: StackName;
  readonly #crypter: Crypter | undefined;
  readonly #stored: StoredStack;
  readonly #texts: ResourceTexts;
  readonly #journal: JournalWriter;
  #journalOpen = false;
  #timer: NodeJS.Timeout | undefined;
  /** The whole state that is written when the one before it is. */
  #next: Promise<void> | undefined;
  /** Resolves when none is being written, whether well or not. */
  #written: Promise<void> = Promise.resolve();
  /** True once a whole state is written that says what was begun first. */
  #hasBegun = false;
  #isBackedUp = false;
  /** Why the last whole state that was due could not be written. */
  #overdue: { readonly error: unknown } | undefined;
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
    this.#texts = new ResourceTexts(crypter);
    this.#journal = new JournalWriter(backend.journalFile(stack), this.#texts);
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
        : `went on from where an interrupted run left the state (${found.lines} steps of its journal)`;
    if (keep) {
      if (found.lines > 0) await this.#writeFile(found);
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

  /** Tells what is wrong with a state, if anything. A file that belongs to another stack would have everything in it deleted. */
  #problemOf({ resources, pendingOperations }: Snapshot): string | undefined {
    const { project, name } = this.#stack;
    const all = [...resources, ...pendingOperations.map(({ resource }) => resource)];
    const foreign = all.find(({ urn }) => !urn.startsWith(`urn:pulumi:${name}::${project}::`));
    if (foreign !== undefined) return `${foreign.urn} is of another stack than ${project}/${name}`;
    return integrityProblem(resources);
  }

  /** Creates the stack's file, with no resources. */
  async create(): Promise<void> {
    await this.#writeFile({ resources: [], pendingOperations: [] });
  }

  /**
   * Writes what happened since the last call: at once to the journal, and soon after as a whole state, so that the CLI,
   * too, goes on from it after a kill.
   * @throws EngineError FAILED: the journal cannot be written; or something is begun, and the whole state could not be
   * written the last time
   */
  save(ledger: Ledger): void {
    const entries = ledger.takeEntries();
    if (entries.length === 0) return;
    this.#note(entries);
    // Operations under way are noted to their ends; nothing new begins.
    if (this.#overdue !== undefined && entries.some(([kind]) => kind === "begin")) throw this.#overdue.error;
    this.#timer ??= setTimeout(() => this.#whole(ledger), this.#dueMs).unref();
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

  get #dueMs(): number {
    const betweenMs = Math.max(leastBetweenMs, partOfTime * this.#writeTookMs);
    return Math.max(0, this.#lastWriteMs + betweenMs - performance.now());
  }

  /**
   * Says what happened since the last call, and resolves when it is on the disk. What is begun first, and each create that
   * begins, is in the state file then: the CLI does not read the journal, and nothing else would tell it of a create whose
   * response never comes.
   * @throws EngineError as `save`
   */
  async commit(ledger: Ledger, begins?: OperationType): Promise<void> {
    this.save(ledger);
    const isNamed = begins === "creating" || (begins !== undefined && !this.#hasBegun);
    if (begins !== undefined) this.#hasBegun = true;
    await (isNamed ? this.#whole(ledger) : this.#journal.durable());
  }

  /** Writes the whole state and a new journal, after the ledger was based on other resources. */
  async rewrite(ledger: Ledger): Promise<void> {
    await this.#last(ledger);
    if (this.#journalOpen) this.#journal.start(this.#hash);
  }

  /**
   * Writes the whole state, when the run changed it, and ends the journal.
   * @throws EngineError FAILED: it cannot be written; the journal stays, and what it does not hold is named
   */
  async finish(ledger: Ledger): Promise<void> {
    if (ledger.changed) await this.#last(ledger);
    clearTimeout(this.#timer);
    await this.#written;
    if (this.#journalOpen) this.#journal.remove();
    this.#journalOpen = false;
  }

  /** Writes the whole state when nothing is under way any more. */
  async #last(ledger: Ledger): Promise<void> {
    clearTimeout(this.#timer);
    await this.#written;
    this.#texts.forgetChanged(ledger.takeAllEntries());
    await this.#writeFile(ledger.snapshot(), { position: ledger.position() });
  }

  /** Writes the state of now as a whole. All who ask while one is being written share the next. */
  #whole(ledger: Ledger): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    const next = this.#written.then(async () => {
      this.#next = undefined;
      clearTimeout(this.#timer);
      this.#timer = undefined;
      const started = performance.now();
      const entries = ledger.takeAllEntries();
      // A log that has failed does not hinder the whole state, which has all of it.
      if (this.#journalOpen && !this.#journal.hasFailed && entries.length > 0) this.#note(entries);
      else this.#texts.forgetChanged(entries);
      await this.#writeFile(ledger.snapshot(), { position: ledger.position(), goesOn: true });
      this.#lastWriteMs = performance.now();
      this.#writeTookMs = this.#lastWriteMs - started;
    });
    this.#next = next;
    this.#written = next.then(
      () => {
        this.#overdue = undefined;
      },
      (error: unknown) => {
        // Where nobody waits for it, the next who begins something hears of its failure.
        this.#overdue = { error };
      },
    );
    return next;
  }

  async #writeFile(snapshot: Snapshot, { position, goesOn = false }: Going = {}): Promise<void> {
    const problem = goesOn ? undefined : integrityProblem(snapshot.resources);
    const { project, name } = this.#stack;
    const checkpoint = formatCheckpoint(
      `organization/${project}/${name}`,
      snapshot,
      this.#stored.checkpoint.rest,
      this.#crypter,
      this.#texts,
    );
    const text = Buffer.from(checkpoint);
    const textHash = hash("sha256", text);
    const made = this.#unnoted;
    try {
      const isTold = position !== undefined && this.#journalOpen;
      const told = isTold ? this.#journal.appendCheckpoint(textHash, position) : Promise.resolve();
      // The state that the run began with, not the one that it has written a moment ago.
      this.#isBackedUp ||= this.#backend.backUp(this.#stack);
      await Promise.all([told, this.#backend.write(this.#stack, text, { ready: told, goesOn })]);
    } catch (cause) {
      throw this.#notWritten(cause);
    }
    this.#hash = textHash;
    this.#unnoted = this.#unnoted.filter((resource) => !made.includes(resource));
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
