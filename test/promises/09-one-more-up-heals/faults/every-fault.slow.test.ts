import { expect, test } from "vitest";
import { kinds } from "./kinds.ts";
import { cellsOf } from "./matrix.ts";
import { rows } from "./rows.ts";

// A cell whose fault hits no request fails.
test("every fault has a cell", async () => {
  let idle = kinds.map(({ name }) => name);
  for (const row of rows) {
    if (idle.length === 0) break;
    const cells = [...(await cellsOf(row, "faults")), ...(await cellsOf(row, "timeouts"))];
    idle = idle.filter((name) => !cells.some((cell) => cell.name.startsWith(`${name}, `)));
  }
  expect(idle).toEqual([]);
});
