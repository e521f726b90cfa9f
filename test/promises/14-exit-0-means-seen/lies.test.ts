import { expect, test } from "vitest";
import { cells, runCells } from "./matrix.ts";

test("some of every lie: no run that ends well was lied to, and none that was told the truth fails", async () => {
  expect(await runCells(cells(37), "bounded")).toEqual([]);
});
