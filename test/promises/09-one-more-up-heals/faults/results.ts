import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Ending } from "./cells.ts";
import { nameOf, type Part, type Row, slugOf } from "./rows.ts";

/** A line of a contract's file. */
type Line =
  | { readonly row: string; readonly part: Part; readonly cell: string; readonly ending: Ending }
  | { readonly row: string; readonly part: Part; readonly cell: string; readonly failure: string }
  | { readonly row: string; readonly part: Part; readonly ended: true };

/** A cell that ended as it has to. */
export interface Result {
  readonly row: string;
  readonly part: Part;
  readonly cell: string;
  readonly ending: Ending;
}

/** The cells that have run, noted as they end: each contract runs in a process of its own. */
export class Results {
  readonly #folder: string;

  /** Those of the whole matrix, or of the bounded one. */
  constructor(isWhole: boolean) {
    const name = `../../../../node_modules/.cache/fault-matrix/${isWhole ? "whole" : "bounded"}`;
    this.#folder = fileURLToPath(new URL(name, import.meta.url));
  }

  clear(): void {
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { recursive: true });
  }

  add(row: Row, part: Part, outcome: { cell: string; ending: Ending } | { cell: string; failure: string }): void {
    this.#append(row, { row: nameOf(row), part, ...outcome });
  }

  /** The part has run to its end, whatever came of its cells. */
  end(row: Row, part: Part): void {
    this.#append(row, { row: nameOf(row), part, ended: true });
  }

  read(): { ended: Result[]; failed: number; isComplete: (row: Row, part: Part) => boolean } {
    const files = existsSync(this.#folder) ? readdirSync(this.#folder) : [];
    const lines = files.flatMap((file) => linesOf(join(this.#folder, file)));
    const complete = new Set(lines.flatMap((line) => ("ended" in line ? [`${line.row}, ${line.part}`] : [])));
    return {
      ended: lines.filter((line) => "ending" in line),
      failed: lines.filter((line) => "failure" in line).length,
      isComplete: (row, part) => complete.has(`${nameOf(row)}, ${part}`),
    };
  }

  #append(row: Row, line: Line): void {
    appendFileSync(join(this.#folder, `${slugOf(row.contract)}.jsonl`), `${JSON.stringify(line)}\n`);
  }
}

function linesOf(file: string): Line[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
