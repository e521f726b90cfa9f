import { afterAll, describe, expect, test } from "vitest";
import {
  type Cell,
  connectionCells,
  type Ending,
  faultCells,
  killCells,
  type Row,
  requestsOf,
  runCell,
} from "./cells.ts";
import { kinds } from "./kinds.ts";
import { reportOf, writeMatrix } from "./report.ts";
import { contracts, type Resource } from "./scenarios.ts";

const isWhole = process.env.FAULT_MATRIX === "whole";
const resources: readonly Resource[] = ["MerchantRule", "MerchantRuleSet"];
const rows = contracts.flatMap((contract): Row[] =>
  resources.flatMap((resource) => contract.operations.map((operation) => ({ contract, resource, operation }))),
);
const results: { row: Row; cell: Cell; ending: Ending }[] = [];
let failed = 0;

afterAll(() => {
  const isComplete = failed === 0 && new Set(results.map(({ row }) => row)).size === rows.length;
  console.log(reportOf(results, isWhole));
  if (isWhole && isComplete) writeMatrix(results);
});

describe.each(rows.map((row) => [nameOf(row), row] as const))("%s", (_, row) => {
  test("each fault at each request: after one more up, exactly what is declared", async () => {
    const cells = chosen(row, faultCells(await requestsOf(row)));
    const calm = cells.filter(({ isTimed }) => !isTimed);
    await runAll(at(row, calm), isWhole ? 16 : 6);
  });

  // Where a create cannot be looked up, a kill in the middle of it leaves nobody who knows. The engine says so by itself.
  const creates = row.operation === "create" || row.operation === "replace";
  test.skipIf(creates && !row.contract.canLookUp)("the provider host killed at each request: the same", async () => {
    const cells = killCells(await requestsOf(row));
    await runAll(at(row, isWhole ? cells : chosenKills(row, cells)), 2);
  });

  test.skipIf(row.operation !== "create" || row.resource === "MerchantRuleSet")(
    "the engine killed before and after the state has its connection: the same",
    async () => {
      const cells = await connectionCells(row);
      expect(cells).toHaveLength(2);
      await runAll(at(row, cells), 2);
    },
  );
});

// They wait for a timeout, and by themselves: another cell's body of 100 MB would hold up what they don't wait for.
test("each fault at each request of each of these that lasts until a timeout: the same", async () => {
  const timed: Place[] = [];
  for (const row of rows) {
    const cells = chosen(row, faultCells(await requestsOf(row))).filter(({ isTimed }) => isTimed);
    timed.push(...at(row, cells));
  }
  await runAll(timed, 32);
});

/** A cell and its row. */
interface Place {
  readonly row: Row;
  readonly cell: Cell;
}

function at(row: Row, cells: readonly Cell[]): Place[] {
  return cells.map((cell) => ({ row, cell }));
}

function nameOf({ contract, resource, operation }: Row): string {
  return `${contract.name}: ${resource}, ${operation}`;
}

/** All, or of each kind of fault one cell (by the full contract) or every third kind's, another request in each row. */
function chosen(row: Row, cells: readonly Cell[]): readonly Cell[] {
  if (isWhole) return cells;
  const turn = rows.indexOf(row);
  return kinds.flatMap(({ name }, index) => {
    if (row.contract.name !== "full" && (index + turn) % 3 !== 0) return [];
    const own = cells.filter((cell) => cell.name.startsWith(`${name}, `));
    return own.slice((index + turn) % Math.max(1, own.length)).slice(0, 1);
  });
}

function chosenKills(row: Row, cells: readonly Cell[]): readonly Cell[] {
  return row.contract.name === "full" ? cells.slice(-3, -1) : [];
}

async function runAll(places: readonly Place[], atOnce: number): Promise<void> {
  const waiting = [...places];
  const failures: string[] = [];
  const work = async (): Promise<void> => {
    for (let place = waiting.shift(); place !== undefined; place = waiting.shift()) {
      const { row, cell } = place;
      try {
        results.push({ row, cell, ending: await runCell(row, cell) });
      } catch (error) {
        failed++;
        failures.push(`${nameOf(row)}: ${cell.name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  expect(failures, `${failures.length} of ${places.length} cells`).toEqual([]);
}

test("every fault has hit some request", () => {
  const hit = new Set(results.map(({ cell }) => cell.name));
  const idle = kinds.filter(({ name }) => ![...hit].some((cell) => cell.startsWith(`${name}, `)));
  expect(idle.map(({ name }) => name)).toEqual([]);
});
