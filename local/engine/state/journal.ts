import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { z } from "zod";
import { EngineError } from "../errors.ts";
import { settleAliases } from "./aliases.ts";
import { decodeResource, encodeResource, resourceSchema } from "./codec.ts";
import type { Crypter } from "./crypter.ts";
import { writeAtomically } from "./files.ts";
import type { OperationType, PendingOperation, ResourceState } from "./resource-state.ts";

/**
 * One thing that happened to the state. Resources are named by handles: a resource of the state file by its position
 * in it, a later one by the number that its first entry gives it. What begins with a resource that is known by its
 * handle need not repeat it.
 */
export type JournalEntry =
  | readonly ["begin", handle: number, type: OperationType, resource?: ResourceState]
  | readonly ["end", handle: number]
  | readonly ["put", handle: number, resource: ResourceState]
  | readonly ["same", handle: number]
  | readonly ["drop", handle: number];

const handle = z.number().int().nonnegative();
const entrySchema = z.union([
  z.tuple([
    z.literal("begin"),
    handle,
    z.enum(["creating", "updating", "deleting", "reading", "importing"]),
    resourceSchema.optional(),
  ]),
  z.tuple([z.literal("end"), handle]),
  z.tuple([z.literal("put"), handle, resourceSchema]),
  z.tuple([z.literal("same"), handle]),
  z.tuple([z.literal("drop"), handle]),
]);
const lineSchema = z.union([
  z.object({ base: z.string() }),
  z.object({ checkpoint: z.string() }),
  z.array(entrySchema),
]);

/**
 * The log beside a state file: what happened since that file was written. Each line is written before the next thing
 * happens, so a killed run loses nothing; a power failure may lose the last lines, as it may lose the requests.
 */
export class JournalWriter {
  readonly #file: string;
  readonly #crypter: Crypter | undefined;
  #fd: number | undefined;

  constructor(file: string, crypter: Crypter | undefined) {
    this.#file = file;
    this.#crypter = crypter;
  }

  /** Starts a new log upon the state file whose text has this hash. */
  start(baseHash: string): void {
    this.#close();
    writeAtomically(this.#file, `${JSON.stringify({ base: baseHash })}\n`);
    this.#fd = openSync(this.#file, "a");
  }

  append(entries: readonly JournalEntry[]): void {
    const encoded = entries.map((entry) => {
      if (entry[0] === "begin" && entry[3] !== undefined) {
        return [entry[0], entry[1], entry[2], encodeResource(entry[3], this.#crypter)];
      }
      if (entry[0] === "put") return [entry[0], entry[1], encodeResource(entry[2], this.#crypter)];
      return entry;
    });
    this.#write(encoded);
  }

  /** Says that everything before this line is part of the state file whose text has this hash. */
  appendCheckpoint(hash: string): void {
    this.#write({ checkpoint: hash });
  }

  remove(): void {
    this.#close();
    rmSync(this.#file, { force: true });
  }

  #write(line: unknown): void {
    if (this.#fd === undefined) throw new EngineError("FAILED", `the journal ${this.#file} is not open`);
    writeSync(this.#fd, `${JSON.stringify(line)}\n`);
  }

  #close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** What a journal adds to the state that it was written upon. */
export interface Recovered {
  readonly resources: ResourceState[];
  readonly pendingOperations: PendingOperation[];
  /** How many lines were taken into account. */
  readonly lines: number;
}

/**
 * Applies a journal to the resources of the state file with the given hash. Undefined when that file is not the one the
 * journal was written upon: someone else has changed the state since. A torn last line counts as not written.
 */
export function recover(
  text: string,
  file: string,
  base: {
    readonly hash: string;
    readonly resources: readonly ResourceState[];
    readonly pendingOperations: readonly PendingOperation[];
  },
  crypter: Crypter | undefined,
): Recovered | undefined {
  const lines = parseLines(text, file);
  const start = lines.findLastIndex(
    (line) => ("base" in line && line.base === base.hash) || ("checkpoint" in line && line.checkpoint === base.hash),
  );
  if (start < 0) return undefined;
  const replay = new Replay(base.resources);
  let applied = 0;
  for (const line of lines.slice(start + 1)) {
    if (!Array.isArray(line)) continue;
    applied++;
    for (const entry of line) {
      if (entry[0] === "begin") {
        const resource = entry[3] === undefined ? undefined : decodeResource(entry[3], crypter);
        replay.apply(
          resource === undefined ? [entry[0], entry[1], entry[2]] : [entry[0], entry[1], entry[2], resource],
        );
      } else if (entry[0] === "put") replay.apply([entry[0], entry[1], decodeResource(entry[2], crypter)]);
      else replay.apply(entry);
    }
  }
  return {
    resources: settleAliases(replay.resources()),
    pendingOperations: [...replay.pending.values(), ...base.pendingOperations],
    lines: applied,
  };
}

/** The same rules as those by which a run keeps its own list: what the run touched comes first, in the order it was done. */
class Replay {
  readonly #states = new Map<number, ResourceState>();
  readonly #first: number[] = [];
  readonly #last: Set<number>;
  readonly pending = new Map<number, PendingOperation>();

  constructor(base: readonly ResourceState[]) {
    for (const [i, resource] of base.entries()) this.#states.set(i, resource);
    this.#last = new Set(this.#states.keys());
  }

  apply(entry: JournalEntry): void {
    const [kind, at] = entry;
    if (kind === "begin") {
      const resource = entry[3] ?? this.#states.get(at);
      if (resource !== undefined) this.pending.set(at, { type: entry[2], resource });
    } else if (kind === "end") this.pending.delete(at);
    else if (kind === "drop") this.#states.delete(at);
    else if (kind === "same") {
      this.#last.delete(at);
      this.#first.push(at);
    } else {
      if (!this.#states.has(at)) this.#first.push(at);
      this.#states.set(at, entry[2]);
    }
  }

  resources(): ResourceState[] {
    return [...this.#first, ...this.#last].flatMap((at) => this.#states.get(at) ?? []);
  }
}

function parseLines(text: string, file: string): z.infer<typeof lineSchema>[] {
  const lines = text.split("\n");
  const torn = lines.pop() !== "";
  const parsed: z.infer<typeof lineSchema>[] = [];
  for (const [i, line] of lines.entries()) {
    let json: unknown;
    try {
      json = JSON.parse(line);
    } catch {
      json = undefined;
    }
    const result = lineSchema.safeParse(json);
    if (result.success) parsed.push(result.data);
    else if (i < lines.length - 1 || torn) {
      throw new EngineError(
        "STATE_INVALID",
        `line ${i + 1} of ${file}, the journal of an interrupted run, cannot be read: move the file aside to go on without what that run did last`,
      );
    }
  }
  return parsed;
}
