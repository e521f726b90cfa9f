import { closeSync, fdatasync, openSync, rmSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import { z } from "zod";
import { EngineError, type EngineErrorCode, messageOf } from "../errors.ts";
import { settleAliases } from "./aliases.ts";
import type { Snapshot } from "./checkpoint.ts";
import { decodeResource } from "./codec.ts";
import type { Crypter } from "./crypter.ts";
import { tryJson, writeAtomically } from "./files.ts";
import type { JournalEntry, Position } from "./journal-entry.ts";
import { operationTypeSchema, type PendingOperation, type ResourceState, resourceSchema } from "./resource-state.ts";
import type { ResourceTexts } from "./resource-texts.ts";

const handle = z.number().int().nonnegative();
const entrySchema = z.union([
  z.tuple([z.literal("begin"), handle, operationTypeSchema, resourceSchema.optional()]),
  z.tuple([z.literal("put"), handle, resourceSchema]),
  z.tuple([z.enum(["end", "same", "drop"]), handle]),
  z.tuple([z.literal("settled"), z.string()]),
]);
const lineSchema = z.union([
  z.object({ base: z.string() }),
  z.object({ checkpoint: z.string(), order: z.array(handle), touched: handle, running: z.array(handle) }),
  z.array(entrySchema),
]);

const syncFile = promisify(fdatasync);

/**
 * The log beside a state file: what happened since that file was written. Each line is written before the next thing
 * happens, so a killed run loses nothing; what `durable` has waited for, a power failure does not lose either.
 */
export class JournalWriter {
  readonly #file: string;
  readonly #texts: ResourceTexts;
  #fd: number | undefined;
  /** Lines so far, how many of them are on the disk, and the sync that is under way. */
  #written = 0;
  #safe = 0;
  #sync: Promise<void> | undefined;
  /** Why nothing more may be written: what follows a line that is cut off would make the whole log unreadable. */
  #failure: { readonly cause: unknown } | undefined;

  constructor(file: string, texts: ResourceTexts) {
    this.#file = file;
    this.#texts = texts;
  }

  /** Starts a new log upon the state file whose text has this hash; one that had failed goes on from there. */
  start(baseHash: string): void {
    this.#close();
    this.#failure = undefined;
    try {
      writeAtomically(this.#file, `${JSON.stringify({ base: baseHash })}\n`);
      this.#safe = this.#written;
      this.#fd = openSync(this.#file, "a");
    } catch (cause) {
      throw this.#failed(cause);
    }
  }

  /** True where nothing more may be written. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Appends a line. @throws EngineError FAILED when not all of it could be written, and from then on always. */
  append(entries: readonly JournalEntry[]): void {
    this.#texts.forgetChanged(entries);
    this.#write(`[${entries.map((entry) => this.#textOf(entry)).join(",")}]`);
  }

  #textOf(entry: JournalEntry): string {
    const [kind, at, ...rest] = entry;
    const parts = rest.map((part) => (typeof part === "object" ? this.#texts.of(part) : JSON.stringify(part)));
    return `[${[JSON.stringify(kind), JSON.stringify(at), ...parts].join(",")}]`;
  }

  /**
   * Resolves when every line so far is on the disk. The lines that come while one sync is under way share the next, so
   * that many operations side by side cost few of them.
   */
  async durable(): Promise<void> {
    const lines = this.#written;
    while (this.#safe < lines) {
      this.#sync ??= this.#syncOnce();
      await this.#sync;
    }
  }

  /**
   * Says that everything before this line is part of the state file whose text has this hash, and is to be written next.
   * Resolves when the line is on the disk. A log that has failed says nothing, so that it does not hinder that state: a run
   * that is killed in between leaves a log that does not belong to the state file, and is not used.
   */
  async appendCheckpoint(hash: string, position: Position): Promise<void> {
    if (this.#failure !== undefined) return;
    this.#write(JSON.stringify({ checkpoint: hash, ...position }));
    await this.durable();
  }

  remove(): void {
    this.#close();
    rmSync(this.#file, { force: true });
    this.#safe = this.#written;
  }

  #write(line: string): void {
    if (this.#failure !== undefined) throw this.#failed(this.#failure.cause);
    const fd = this.#fd;
    if (fd === undefined) throw new EngineError("FAILED", `the journal ${this.#file} is not open`);
    const bytes = Buffer.from(`${line}\n`);
    try {
      // A disk that is almost full takes a part.
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    } catch (cause) {
      throw this.#failed(cause);
    }
    this.#written++;
  }

  #failed(cause: unknown): EngineError {
    this.#failure = { cause };
    return new EngineError(
      "FAILED",
      `the journal ${this.#file} cannot be written: ${messageOf(cause)}; nothing more is noted in it until the state has been written whole`,
      { cause },
    );
  }

  async #syncOnce(): Promise<void> {
    const lines = this.#written;
    const fd = this.#fd;
    try {
      if (fd !== undefined) await syncFile(fd);
      this.#safe = Math.max(this.#safe, lines);
    } catch (cause) {
      // A later sync may succeed although it does not bring what this one lost.
      if (fd === this.#fd) this.#failure = { cause };
      throw new EngineError("FAILED", `${this.#file} cannot be brought to the disk: ${messageOf(cause)}`, { cause });
    } finally {
      this.#sync = undefined;
    }
  }

  #close(): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    this.#fd = undefined;
    // A sync that is under way holds on to the number, which must not stand for another file meanwhile.
    if (this.#sync === undefined) closeSync(fd);
    else this.#sync.catch(() => {}).finally(() => closeSync(fd));
  }
}

/** The additions of a journal to the state that it was written upon. */
export interface Recovered extends Snapshot {
  /** Number of lines that were taken into account. */
  readonly lines: number;
}

/**
 * Applies a journal to the resources of the state file with the given hash. Undefined when that file is not the one the
 * journal was written upon: someone else has changed the state since. A torn last line counts as not written, and so
 * does everything from a NUL on: that is what some file systems leave, after a power failure, of what was not synced.
 */
export function recover(
  text: string,
  file: string,
  base: Snapshot & { readonly hash: string },
  crypter: Crypter | undefined,
): Recovered | undefined {
  const lines = parseLines(text, file);
  const start = lines.findLastIndex(
    (line) => ("base" in line && line.base === base.hash) || ("checkpoint" in line && line.checkpoint === base.hash),
  );
  const from = lines[start];
  if (from === undefined) return undefined;
  const replay = new Replay(base, "order" in from ? from : undefined);
  let applied = 0;
  for (const [i, line] of lines.entries()) {
    if (i <= start || !Array.isArray(line)) continue;
    applied++;
    try {
      for (const entry of line) replay.apply(decodeEntry(entry, crypter));
    } catch (error) {
      throw error instanceof EngineError ? unusable(file, i, error.message, error.code) : error;
    }
  }
  return {
    resources: settleAliases(replay.resources()),
    pendingOperations: [...replay.pending.values(), ...replay.interrupted],
    lines: applied,
  };
}

function decodeEntry(entry: z.infer<typeof entrySchema>, crypter: Crypter | undefined): JournalEntry {
  if (entry[0] === "put") return [entry[0], entry[1], decodeResource(entry[2], crypter)];
  if (entry[0] !== "begin") return entry;
  const [kind, at, type, resource] = entry;
  return resource === undefined ? [kind, at, type] : [kind, at, type, decodeResource(resource, crypter)];
}

function unusable(file: string, index: number, why: string, code: EngineErrorCode = "STATE_INVALID"): EngineError {
  return new EngineError(
    code,
    `line ${index + 1} of ${file}, the journal of an interrupted run, cannot be read: ${why}. Move the file aside to go on without what that run did last`,
  );
}

/** The same rules as those by which a run keeps its own list: what the run touched comes first, in the order it was done. */
class Replay {
  readonly #states = new Map<number, ResourceState>();
  readonly #first: number[] = [];
  readonly #last: Set<number>;
  readonly pending = new Map<number, PendingOperation>();
  /** The operations that runs before this one left open. */
  interrupted: readonly PendingOperation[];

  constructor({ resources, pendingOperations }: Snapshot, position?: Position) {
    const { order = [...resources.keys()], touched = 0, running = [] } = position ?? {};
    for (const [i, at] of order.entries()) {
      const resource = resources[i];
      if (resource !== undefined) this.#states.set(at, resource);
    }
    this.#first.push(...order.slice(0, touched));
    this.#last = new Set(order.slice(touched));
    for (const [i, at] of running.entries()) {
      const operation = pendingOperations[i];
      if (operation !== undefined) this.pending.set(at, operation);
    }
    this.interrupted = pendingOperations.slice(running.length);
  }

  apply(entry: JournalEntry): void {
    if (entry[0] === "settled") {
      const [, urn] = entry;
      this.interrupted = this.interrupted.filter(({ type, resource }) => type !== "creating" || resource.urn !== urn);
      return;
    }
    const [kind, at] = entry;
    if (kind === "begin") {
      const resource = entry[3] ?? this.#states.get(at);
      if (resource === undefined) throw unknownHandle(at);
      this.pending.set(at, { type: entry[2], resource });
    } else if (kind === "put") {
      if (!this.#states.has(at)) this.#first.push(at);
      this.#states.set(at, entry[2]);
    } else if (kind === "end") this.pending.delete(at);
    else if (kind === "drop") this.#states.delete(at);
    else {
      if (!this.#states.has(at)) throw unknownHandle(at);
      this.#last.delete(at);
      this.#first.push(at);
    }
  }

  resources(): ResourceState[] {
    return [...this.#first, ...this.#last].flatMap((at) => this.#states.get(at) ?? []);
  }
}

function unknownHandle(at: number): EngineError {
  return new EngineError("STATE_INVALID", `it speaks of resource ${at}, which no line before it has`);
}

/** Returns the part of a journal that must be UTF-8: a line that was torn may end in the middle of a character. */
export function wholeLines(journal: Buffer): Buffer {
  const nul = journal.indexOf(0);
  const written = nul === -1 ? journal : journal.subarray(0, nul);
  return written.subarray(0, written.lastIndexOf("\n") + 1);
}

function parseLines(text: string, file: string): z.infer<typeof lineSchema>[] {
  const lines = text.replace(/\0.*$/s, "").split("\n");
  // Empty where the last line is whole, else what was written of one that was cut off.
  lines.pop();
  const parsed = lines.map((line, i) => {
    const json = tryJson(line);
    if (json === undefined) throw unusable(file, i, "it is damaged");
    const { data } = lineSchema.safeParse(json);
    if (data === undefined) throw unusable(file, i, "it is no entry of a journal that this version knows");
    return data;
  });
  const [first] = parsed;
  if (first === undefined || Array.isArray(first)) throw unusable(file, 0, "it does not say what it was written upon");
  return parsed;
}
