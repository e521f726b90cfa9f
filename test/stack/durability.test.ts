import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { Backend } from "../../stack/state/backend.ts";
import { JournalWriter, recover } from "../../stack/state/journal.ts";
import { Ledger } from "../../stack/state/ledger.ts";
import { ResourceTexts } from "../../stack/state/resource-texts.ts";
import { readStack, StateStore } from "../../stack/state/store.ts";
import { resource } from "./resource.ts";

/** Each sync of a file, as it ends: how much of the file was there when it began. */
const syncs = vi.hoisted(() => ({
  lengths: [] as number[],
  fail: undefined as Error | undefined,
}));
/** The room that the disk has for the next lines, in pieces of a few bytes; then it is full. */
const disk = vi.hoisted(() => ({ left: Number.POSITIVE_INFINITY, piece: Number.POSITIVE_INFINITY }));
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  return {
    ...fs,
    writeSync: (fd: number, bytes: Buffer, at: number) => {
      if (disk.left === 0) throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
      const written = fs.writeSync(fd, bytes, at, Math.min(bytes.length - at, disk.piece, disk.left));
      disk.left -= written;
      return written;
    },
    fdatasync: (fd: number, done: (error: Error | null) => void) => {
      const { size } = fs.fstatSync(fd);
      // Slow enough for others to come meanwhile.
      setTimeout(() => {
        syncs.lengths.push(size);
        done(syncs.fail ?? null);
      }, 20);
    },
  };
});

const folder = mkdtempSync(join(tmpdir(), "merchant-rules-durability-"));
const file = join(folder, "journal");
afterEach(() => {
  syncs.lengths.length = 0;
  syncs.fail = undefined;
  disk.left = Number.POSITIVE_INFINITY;
  disk.piece = Number.POSITIVE_INFINITY;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function started(): JournalWriter {
  const writer = new JournalWriter(file, new ResourceTexts(undefined));
  writer.start("hash");
  return writer;
}

describe("what happened is on the disk before the run goes on:", () => {
  test("a line is safe only after a sync that began when it was written", async () => {
    const writer = started();
    writer.append([["drop", 0]]);
    const first = writer.durable();
    writer.append([["drop", 1]]);
    const length = readFileSync(file).length;
    await first;
    expect(syncs.lengths).toHaveLength(1);
    expect(syncs.lengths[0]).toBeLessThanOrEqual(length);
    await writer.durable();
    expect(syncs.lengths.at(-1)).toBe(length);
    writer.remove();
  });

  test("many operations side by side share their syncs, and none waits when all is safe", async () => {
    const writer = started();
    await Promise.all(
      Array.from({ length: 100 }, async (_, k) => {
        writer.append([["drop", k]]);
        await writer.durable();
      }),
    );
    expect(syncs.lengths.length).toBeLessThanOrEqual(2);
    expect(syncs.lengths.at(-1)).toBe(readFileSync(file).length);
    await writer.durable();
    expect(syncs.lengths.length).toBeLessThanOrEqual(2);
    writer.remove();
  });

  test("a disk that fails fails whoever waits, and a state that was written whole needs no sync of the journal", async () => {
    const writer = started();
    syncs.fail = new Error("EIO: i/o error");
    writer.append([["drop", 0]]);
    await expect(writer.durable()).rejects.toThrow(/journal cannot be brought to the disk: EIO/);
    syncs.fail = undefined;
    writer.start("another");
    const before = syncs.lengths.length;
    await writer.durable();
    expect(syncs.lengths).toHaveLength(before);
    writer.remove();
  });

  test("a journal that is begun anew, or ends, during a sync lets those who wait go on", async () => {
    const writer = started();
    writer.append([["drop", 0]]);
    const one = writer.durable();
    writer.start("another");
    writer.append([["drop", 1]]);
    const other = writer.durable();
    writer.remove();
    await Promise.all([one, other]);
  });
});

describe("a disk that takes only a part of a line", () => {
  const urns = ["a", "b", "c"].map((name) => resource(name).urn);
  /** The state as the next run finds it. */
  const left = () => {
    const base = { hash: "hash", resources: [resource("a"), resource("b"), resource("c")], pendingOperations: [] };
    return recover(readFileSync(file, "utf8"), file, base, undefined)?.resources.map(({ urn }) => urn);
  };

  test("is given the rest of it", () => {
    const writer = started();
    disk.piece = 3;
    writer.append([["drop", 0]]);
    writer.append([["drop", 1]]);
    expect(left()).toEqual(urns.slice(2));
    writer.remove();
  });

  test.each([0, 1, 7, 12])(
    "and is full after %i bytes: it is an error, nothing is written after it, and what was whole before can be read",
    async (bytes) => {
      const writer = started();
      writer.append([["drop", 0]]);
      disk.left = bytes;
      expect(() => writer.append([["drop", 1]])).toThrow(/journal cannot be written: ENOSPC/);
      disk.left = Number.POSITIVE_INFINITY;
      const length = readFileSync(file).length;
      expect(() => writer.append([["drop", 2]])).toThrow(/journal cannot be written: ENOSPC/);
      await writer.appendCheckpoint("another", { order: [], touched: 0, running: [] });
      expect(readFileSync(file)).toHaveLength(length);
      expect(left()).toEqual(urns.slice(1));

      // The whole state was written meanwhile.
      writer.start("hash");
      writer.append([["drop", 2]]);
      expect(left()).toEqual(urns.slice(0, 2));
      writer.remove();
    },
  );

  test("does not keep the whole state from being written at the end of the run", async () => {
    const backend = await Backend.open(pathToFileURL(mkdtempSync(join(folder, "backend-"))).href, folder);
    const stack = { project: "p", name: "s" };
    const store = new StateStore(backend, stack, await readStack(backend, stack), undefined);
    await store.create();
    const ledger = new Ledger({ resources: [], pendingOperations: [] });
    ledger.put(resource("a"));
    store.save(ledger);
    disk.left = 5;
    ledger.put(resource("b"));
    expect(() => store.save(ledger)).toThrow(/ENOSPC/);
    disk.left = Number.POSITIVE_INFINITY;
    ledger.put(resource("c"));
    expect(() => store.save(ledger)).toThrow(/ENOSPC/);
    await store.finish(ledger);

    const { snapshot, recovered } = await new StateStore(
      backend,
      stack,
      await readStack(backend, stack),
      undefined,
    ).open(false);
    expect(snapshot.resources.map(({ id }) => id).toSorted()).toEqual(["a", "b", "c"]);
    expect(recovered).toBeUndefined();
  });
});

test("what a power failure left of lines that were never synced is not taken for damage", () => {
  const resources = [resource("a"), resource("b"), resource("c")];
  const base = { hash: "hash", resources, pendingOperations: [] };
  const safe = '{"base":"hash"}\n[["drop",0]]\n';
  for (const rest of ["\0\0\0\0", '[["drop"\0\0\0\n[["drop",2]]\n', '\0\0\n[["drop",2]]\n', '[["drop",1'])
    expect(recover(safe + rest, "journal", base, undefined)?.resources.map(({ urn }) => urn)).toEqual(
      resources.slice(1).map(({ urn }) => urn),
    );
});
