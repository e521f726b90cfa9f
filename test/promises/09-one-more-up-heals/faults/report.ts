import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { TestProject } from "vitest/node";
import type { Ending } from "./cells.ts";
import { type Result, Results } from "./results.ts";
import { nameOf, partsOf, rows, slugOf } from "./rows.ts";
import { contracts } from "./scenarios.ts";

const page = new URL("../../../../docs/reliability.md", import.meta.url);
const [begin, end] = ["<!-- matrix: written by npm run test:faults -->", "<!-- end of matrix -->"];

/**
 * Before all tests, it forgets the results of former runs. After them, it prints the table of all contracts, and puts it
 * into docs/reliability.md where the whole matrix ran and no cell failed.
 */
export default function report({ config }: TestProject): () => void {
  demandFiles();
  const isWhole = config.env.FAULT_MATRIX === "whole";
  const results = new Results(isWhole);
  results.clear();
  return () => {
    const { ended, failed, isComplete } = results.read();
    if (ended.length + failed === 0) return;
    const size = isWhole ? "whole" : "bounded; npm run test:faults runs all of it";
    console.log(`Fault matrix (${size}), ${failed} cells failed: ${table(ended)}\n`);
    if (!isWhole) return;
    const missing = rows.filter((row) => !partsOf(row).every((part) => isComplete(row, part)));
    if (missing.length + failed === 0) writeTable(table(ended));
    else console.log(`docs/reliability.md stays: ${failed} cells failed, ${missing.length} rows are not complete.\n`);
  };
}

/** @throws Error where a contract has no test file, or a file no contract. */
function demandFiles(): void {
  const files = readdirSync(new URL("contracts", import.meta.url));
  const expected = contracts.map((contract) => `${slugOf(contract)}.slow.test.ts`);
  const wrong = [...files, ...expected].filter((file) => !files.includes(file) || !expected.includes(file));
  if (wrong.length > 0)
    throw new Error(`test/promises/09-one-more-up-heals/faults/contracts is not as scenarios.ts: ${wrong.join(", ")}`);
}

function writeTable(text: string): void {
  const [before, rest] = readFileSync(page, "utf8").split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`docs/reliability.md has no place for the matrix: ${begin}`);
  writeFileSync(page, `${before}${begin}\n${text}\n${end}${after}`);
}

function table(results: readonly Result[]): string {
  const kills = results.filter(({ part }) => part === "kills" || part === "connection").length;
  const size = `${results.length} cells ran: ${results.length - kills} with a fault at a request, ${kills} with the provider host killed at one.`;
  return [size, "", ...tableOf(results)].join("\n");
}

function tableOf(results: readonly Result[]): string[] {
  const groups = Map.groupBy(results, ({ row }) => row);
  const lines = rows.flatMap((row) => {
    const own = groups.get(nameOf(row));
    if (own === undefined) return [];
    const count = (ending: Ending): number => own.filter((each) => each.ending === ending).length;
    const group = `| ${row.contract.name} | \`${row.resource}\` | ${row.operation} |`;
    return [
      `${group} ${own.length} | ${count("went on")} | ${count("next up")} | ${count("said what to set")} | ${count("said what may exist")} |`,
    ];
  });
  return [
    "| contract | resource | operation | cells | nothing failed | failed, and the next `up` did it | the next `up` said what to set for one run, and that run did it | an error said that a rule may exist, and how to look |",
    "|---|---|---|---|---|---|---|---|",
    ...lines,
  ];
}
