import { readFileSync, writeFileSync } from "node:fs";
import type { Cell, Ending, Row } from "./cells.ts";

interface Result {
  readonly row: Row;
  readonly cell: Cell;
  readonly ending: Ending;
}

const page = new URL("../../../docs/reliability.md", import.meta.url);
const [begin, end] = ["<!-- matrix: written by npm run test:faults -->", "<!-- end of matrix -->"];

/** The size of the matrix that ran, and its table. */
export function reportOf(results: readonly Result[], isWhole: boolean): string {
  return `Fault matrix (${isWhole ? "whole" : "bounded; npm run test:faults runs all of it"}): ${table(results)}`;
}

/** Puts the table of the whole matrix into docs/reliability.md. */
export function writeMatrix(results: readonly Result[]): void {
  const [before, rest] = readFileSync(page, "utf8").split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`docs/reliability.md has no place for the matrix: ${begin}`);
  writeFileSync(page, `${before}${begin}\n${table(results)}\n${end}${after}`);
}

function table(results: readonly Result[]): string {
  const kills = results.filter(({ cell }) => cell.isKill).length;
  const size = `${results.length} cells ran: ${results.length - kills} with a fault at a request, ${kills} with the provider host killed at one.`;
  return [size, "", ...tableOf(results)].join("\n");
}

function tableOf(results: readonly Result[]): string[] {
  const groups = Map.groupBy(results, ({ row }) => `| ${row.contract.name} | \`${row.resource}\` | ${row.operation} |`);
  const lines = [...groups].map(([group, own]) => {
    const count = (ending: Ending): number => own.filter((each) => each.ending === ending).length;
    return `${group} ${own.length} | ${count("went on")} | ${count("next up")} | ${count("said what to set")} | ${count("said what may exist")} |`;
  });
  return [
    "| contract | resource | operation | cells | nothing failed | failed, and the next `up` did it | the next `up` said what to set for one run, and that run did it | an error said that a rule may exist, and how to look |",
    "|---|---|---|---|---|---|---|---|",
    ...lines,
  ];
}
