import { readFileSync, writeFileSync } from "node:fs";
import type { Cell, Ending, Row } from "./cells.ts";

interface Result {
  readonly row: Row;
  readonly cell: Cell;
  readonly ending: Ending;
}

const page = new URL("../../docs/reliability.md", import.meta.url);
const [begin, end] = ["<!-- matrix: written by npm run test:faults -->", "<!-- end of matrix -->"];

/** The matrix as a table; the whole one also goes into docs/reliability.md. */
export function writeMatrix(results: readonly Result[], isWhole: boolean): string {
  const kills = results.filter(({ cell }) => cell.isKill).length;
  const size = `${results.length} cells ran: ${results.length - kills} with a fault at a request, ${kills} with the provider host killed at one.`;
  const table = [size, "", ...tableOf(results)].join("\n");
  if (isWhole) {
    const text = readFileSync(page, "utf8");
    const [before, rest] = text.split(begin);
    const after = rest?.split(end)[1];
    if (before === undefined || after === undefined)
      throw new Error(`docs/reliability.md has no place for the matrix: ${begin}`);
    writeFileSync(page, `${before}${begin}\n${table}\n${end}${after}`);
  }
  return `Fault matrix (${isWhole ? "whole" : "bounded; npm run test:faults runs all of it"}): ${table}`;
}

function tableOf(results: readonly Result[]): string[] {
  const groups = Map.groupBy(results, ({ row }) => `| ${row.contract.name} | \`${row.resource}\` | ${row.operation} |`);
  const lines = [...groups].map(([group, own]) => {
    const count = (ending: Ending): number => own.filter((each) => each.ending === ending).length;
    return `${group} ${own.length} | ${count("went on")} | ${count("next up")} | ${count("said what may exist")} |`;
  });
  return [
    "| contract | resource | operation | cells | nothing failed | failed, and the next `up` did it | an error said that a rule may exist, and how to look |",
    "|---|---|---|---|---|---|---|",
    ...lines,
  ];
}
