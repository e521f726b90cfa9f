import PQueue from "p-queue";
import { describe, expect, test, vi } from "vitest";
import { type Cell, connectionCells, faultCells, killCells, requestsOf, runCell } from "./cells.ts";
import { kinds } from "./kinds.ts";
import { Results } from "./results.ts";
import { nameOf, type Part, partsOf, type Row, rows } from "./rows.ts";

const isWhole = process.env.FAULT_MATRIX === "whole";
const results = new Results(isWhole);

const titles: Readonly<Record<Part, string>> = {
  faults: "each fault at each request: after one more up, exactly what is declared",
  timeouts: "each fault at each request that lasts until a timeout: the same",
  kills: "the provider host killed at each request: the same",
  connection: "the engine killed before and after the state has its owner, and its connection: the same",
};

/** The cells of a part that run at once, in all rows of a contract. */
const atOnce: Readonly<Record<Part, PQueue>> = {
  faults: new PQueue({ concurrency: 16 }),
  // Begun one after the other, so that none has to wait for the others' first runs.
  timeouts: new PQueue({ concurrency: 48, interval: 100, intervalCap: 1 }),
  // Each starts a process.
  kills: new PQueue({ concurrency: 2 }),
  connection: new PQueue({ concurrency: 2 }),
};

/** The tests of one contract: a test for each part of each row. */
export function faultMatrix(contract: string): void {
  const own = rows.filter((row) => row.contract.name === contract);
  if (own.length === 0) throw new Error(`scenarios.ts has no contract ${contract}`);
  // The queues say what runs at once.
  vi.setConfig({ maxConcurrency: 2 * own.length });
  // The kills work in processes of their own. All other work in this process would hold up the cells that wait for a
  // timeout, and what they don't wait for would time out.
  describe("with little work in this process", () => runParts(["timeouts", "kills", "connection"]));
  describe("with much work in this process", () => runParts(["faults"]));

  function runParts(parts: readonly Part[]): void {
    const places = own.flatMap((row) => {
      const among = partsOf(row).filter((part) => parts.includes(part));
      return among.map((part) => [nameOf(row), titles[part], row, part] as const);
    });
    test.concurrent.each(places)("%s: %s", async (name, _, row, part) => {
      const cells = await cellsOf(row, part);
      const failures: string[] = [];
      await Promise.all(cells.map((cell) => atOnce[part].add(() => run(row, part, cell, failures))));
      results.end(row, part);
      const seconds = Math.round(performance.now() / 1000);
      if (isWhole)
        console.log(`${name}, ${part}: ${cells.length} cells, ${failures.length} failed, ended after ${seconds} s`);
      expect(failures, `${failures.length} of ${cells.length} cells`).toEqual([]);
    });
  }

  async function run(row: Row, part: Part, cell: Cell, failures: string[]): Promise<void> {
    try {
      results.add(row, part, { cell: cell.name, ending: await runCell(row, cell) });
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      results.add(row, part, { cell: cell.name, failure });
      failures.push(`${cell.name}: ${failure}`);
      console.error(`failed: ${nameOf(row)}: ${cell.name}: ${failure}`);
    }
  }
}

/** The cells that run: all, or those of the bounded matrix. */
export async function cellsOf(row: Row, part: Part): Promise<readonly Cell[]> {
  switch (part) {
    case "faults":
    case "timeouts": {
      const cells = chosen(row, faultCells(await requestsOf(row)));
      return cells.filter(({ isTimed }) => isTimed === (part === "timeouts"));
    }
    case "kills":
      return chosenKills(row, killCells(await requestsOf(row)));
    case "connection": {
      const cells = await connectionCells(row);
      expect(cells).toHaveLength(4);
      return cells;
    }
  }
}

/** All, or of each kind of fault one cell (by the full contract) or every third kind's, another request in each row. */
function chosen(row: Row, cells: readonly Cell[]): readonly Cell[] {
  const isFull = row.contract.name === "full";
  if (isWhole) return cells.filter(({ isLikeAnother }) => isFull || isLikeAnother !== true);
  const turn = rows.indexOf(row);
  return kinds.flatMap(({ name }, index) => {
    if (!isFull && (index + turn) % 3 !== 0) return [];
    const own = cells.filter((cell) => cell.name.startsWith(`${name}, `));
    return own.slice((index + turn) % Math.max(1, own.length)).slice(0, 1);
  });
}

function chosenKills(row: Row, cells: readonly Cell[]): readonly Cell[] {
  if (isWhole) return cells;
  return row.contract.name === "full" ? cells.slice(-3, -1) : [];
}
