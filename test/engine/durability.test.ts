import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { JournalWriter, recover } from "../../local/engine/state/journal.ts";
import { resource } from "./resource.ts";

/** Each sync of a file, as it ends: how much of the file was there when it began. */
const syncs = vi.hoisted(() => ({
  lengths: [] as number[],
  fail: undefined as Error | undefined,
}));
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  return {
    ...fs,
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
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function started(): JournalWriter {
  const writer = new JournalWriter(file, undefined);
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

test("what a power failure left of lines that were never synced is not taken for damage", () => {
  const resources = [resource("a"), resource("b"), resource("c")];
  const base = { hash: "hash", resources, pendingOperations: [] };
  const safe = '{"base":"hash"}\n[["drop",0]]\n';
  for (const rest of ["\0\0\0\0", '[["drop"\0\0\0\n[["drop",2]]\n', '\0\0\n[["drop",2]]\n', '[["drop",1'])
    expect(recover(safe + rest, "journal", base, undefined)?.resources.map(({ urn }) => urn)).toEqual(
      resources.slice(1).map(({ urn }) => urn),
    );
});
