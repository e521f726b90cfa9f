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

type Action = "same" | "update" | "delete" | "create" | "fail" | "mark";

/** Does one thing to a ledger, as a run would, in the lines that a run would write. */
function act(
  ledger: Ledger,
  action: Action,
  old: ResourceState,
  n: number,
  save: () => void,
): ResourceState | undefined {
  if (action === "same") {
    const now = resource(old.urn, 0);
    Object.assign(now, old);
    ledger.same(old, now);
    return now;
  }
  if (action === "mark") {
    old.delete = true;
    ledger.put(old);
    save();
    return old;
  }
  const now = action === "create" ? resource(`new-${n}`, n) : { ...old, inputs: { mark: n } };
  const subject = action === "delete" ? old : now;
  ledger.begin(subject, action === "delete" ? "deleting" : action === "create" ? "creating" : "updating");
  save();
  ledger.end(subject);
  if (action === "update" || action === "delete") ledger.drop(old);
  if (action === "update" || action === "create") ledger.put(now);
  save();
  return action === "delete" ? undefined : action === "fail" ? old : now;
}

const look = (resources: readonly ResourceState[]) =>
  resources.map(({ urn, inputs, delete: gone }) => `${urn.split("::").at(-1)} ${inputs.mark} ${gone}`);

describe("the journal of a run", () => {
  test("gives back, from any of its lines on, the state that the run had there", () => {
    const actions = fc.array(
      fc.tuple(fc.constantFrom<Action[]>("same", "update", "delete", "create", "fail", "mark"), fc.nat(5)),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(actions, fc.boolean(), (plan, torn) => {
        const file = join(folder, "journal");
        const base = [0, 1, 2, 3].map((i) => resource(`base-${i}`));
        const stored = structuredClone(base);
        const ledger = new Ledger({ resources: base, pendingOperations: [] });
        const writer = new JournalWriter(file, new ResourceTexts(undefined));
        writer.start("hash");
        const seen: { resources: string[]; pending: string[] }[] = [];
        const save = (): void => {
          const entries = ledger.takeEntries();
          if (entries.length === 0) return;
          writer.append(entries);
          const { resources, pendingOperations } = ledger.snapshot();
          seen.push({
            resources: look(resources),
            pending: pendingOperations.map(({ type, resource: { urn } }) => `${type} ${urn}`),
          });
        };
        const live = [...base];
        for (const [n, [action, at]] of plan.entries()) {
          const old = live[at % live.length];
          if (old === undefined) break;
          // A run goes over each resource that it began with once.
          if ((action === "same" || action === "update") && !base.includes(old)) continue;
          const now = act(ledger, action, old, n + 1, save);
          if (action === "create" && now !== undefined) live.push(now);
          else if (now === undefined) live.splice(live.indexOf(old), 1);
          else live[live.indexOf(old)] = now;
        }
        const lines = readFileSync(file, "utf8").trimEnd().split("\n");
        expect(lines).toHaveLength(seen.length + 1);
        for (const [i, expected] of seen.entries()) {
          const text = `${lines.slice(0, i + 2).join("\n")}\n${torn ? '[["put",3' : ""}`;
          const found = recover(
            text,
            file,
            { hash: "hash", resources: structuredClone(stored), pendingOperations: [] },
            undefined,
          );
          expect(look(found?.resources ?? [])).toEqual(expected.resources);
          expect(found?.pendingOperations.map(({ type, resource: { urn } }) => `${type} ${urn}`)).toEqual(
            expected.pending,
          );
        }
        writer.remove();
      }),
      { numRuns: 60 },
    );
  });

  test("is not applied to a state that someone else has written since", () => {
    const checkpoint = { checkpoint: "two", order: [1, 2], touched: 0, running: [] };
    const text = `{"base":"one"}\n[["drop",0]]\n${JSON.stringify(checkpoint)}\n[["drop",2]]\n`;
    const from = (hash: string, ...names: string[]) => {
      const resources = names.map((name) => resource(name));
      const found = recover(text, "journal", { hash, resources, pendingOperations: [] }, undefined);
      return found?.resources.map(({ id }) => id);
    };
    expect(from("one", "a", "b", "c")).toEqual(["b"]);
    expect(from("two", "b", "c")).toEqual(["b"]);
    expect(from("three", "b", "c")).toBeUndefined();
  });

  test("is refused as a whole where a whole line is none of its own, be it the last one, and the line is named", () => {
    const resources = [resource("a"), resource("b")];
    const reading = (text: string) => () =>
      recover(text, "the-file", { hash: "one", resources, pendingOperations: [] }, undefined);
    for (const rest of ["nonsense\n", 'nonsense\n[["drop",0]]\n', '[["put",0[["drop",1]]\n'])
      expect(reading(`{"base":"one"}\n${rest}`)).toThrow(/line 2 of the-file.*: it is damaged/);
    for (const rest of ['[["unheard",0]]\n', '{"later":true}\n[["drop",0]]\n'])
      expect(reading(`{"base":"one"}\n${rest}`)).toThrow(/line 2 of the-file.*: it is no entry of a journal that this/);
    expect(reading('[["drop",0]]\n')).toThrow(/line 1 of the-file.*: it does not say what it was written upon/);
  });
});
