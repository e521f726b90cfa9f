import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JournalWriter, recover } from "../../stack/state/journal.ts";
import { Ledger } from "../../stack/state/ledger.ts";
import type { ResourceState } from "../../stack/state/resource-state.ts";
import { ResourceTexts } from "../../stack/state/resource-texts.ts";
import { newFolder } from "../support/folder.ts";
import { resource } from "./resource.ts";

const folder = newFolder();

const names = (resources: readonly ResourceState[]): string[] => resources.map(({ id }) => id);

describe("what an interrupted run leaves", () => {
  const step = fc.record({
    what: fc.constantFrom("same", "update", "delete", "create", "begin a create", "write the whole state"),
    which: fc.nat({ max: 5 }),
  });

  test("is recovered from the last whole state and the journal exactly as the run had it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 5 }), fc.array(step, { maxLength: 25 }), async (count, steps) => {
        const base = Array.from({ length: count }, (_, index) => resource(`base${index}`));
        const file = join(folder, "journal");
        const journal = new JournalWriter(file, new ResourceTexts(undefined));
        let hash = "0";
        // An operation of an earlier run that nobody knows the end of.
        const interrupted = { type: "creating" as const, resource: resource("interrupted") };
        const ledger = new Ledger({ resources: base, pendingOperations: [interrupted] });
        let written = ledger.snapshot();
        journal.start(hash);
        const untouched = [...base];
        let created = 0;
        for (const { what, which } of steps) {
          const old = untouched[which % Math.max(1, untouched.length)];
          const take = (): void => void untouched.splice(untouched.indexOf(old ?? resource("")), 1);
          if (what === "same" && old !== undefined) {
            take();
            ledger.same(old, { ...old });
          } else if (what === "update" && old !== undefined) {
            take();
            ledger.begin(old, "updating");
            ledger.same(old, { ...old });
            ledger.end(old);
          } else if (what === "delete" && old !== undefined) {
            take();
            ledger.begin(old, "deleting");
            ledger.drop(old);
            ledger.end(old);
          } else if (what === "create" || what === "begin a create") {
            const now = resource(`new${created++}`);
            ledger.begin(now, "creating");
            if (what === "create") {
              ledger.put(now);
              ledger.end(now);
            }
          } else if (what === "write the whole state") {
            const sofar = ledger.takeAllEntries();
            if (sofar.length > 0) journal.append(sofar);
            const told = `${Number(hash) + 1}`;
            const snapshot = ledger.snapshot();
            await journal.appendCheckpoint(told, ledger.position());
            // A run may be killed before it could write the state that its journal speaks of.
            if (which > 0) [hash, written] = [told, snapshot];
          }
          const entries = ledger.takeEntries();
          if (entries.length > 0) journal.append(entries);
        }
        const now = ledger.snapshot();
        const found = recover(readFileSync(file, "utf8"), file, { hash, ...written }, undefined);
        journal.remove();
        expect(names(found?.resources ?? []).sort()).toEqual(names(now.resources).sort());
        // What the run has come to stands in its order; what it has not, behind that. Sames alone are noted with what follows them.
        const touched = names(now.resources).filter((name) => name.startsWith("new"));
        expect(names(found?.resources ?? []).filter((name) => name.startsWith("new"))).toEqual(touched);
        expect(names((found?.pendingOperations ?? []).map((pending) => pending.resource)).sort()).toEqual(
          names(now.pendingOperations.map((pending) => pending.resource)).sort(),
        );
      }),
    );
  });

  test("keeps what came first in front of what came after a whole state was written", async () => {
    const file = join(folder, "order");
    const journal = new JournalWriter(file, new ResourceTexts(undefined));
    const ledger = new Ledger({ resources: [], pendingOperations: [] });
    for (const name of ["stack", "provider", "a"]) ledger.put(resource(name));
    const written = [...ledger.snapshot().resources];
    journal.start("begin");
    journal.append(ledger.takeAllEntries());
    await journal.appendCheckpoint("hash", ledger.position());
    ledger.put(resource("b"));
    journal.append(ledger.takeEntries());
    const found = recover(
      readFileSync(file, "utf8"),
      file,
      { hash: "hash", resources: written, pendingOperations: [] },
      undefined,
    );
    journal.remove();
    expect(names(found?.resources ?? [])).toEqual(["stack", "provider", "a", "b"]);
  });
});
