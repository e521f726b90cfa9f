import { expect, test } from "vitest";
import { cells, runCells } from "./matrix.ts";

test("every lie, at the first three requests of a kind: no run that ends well was lied to, and none that was told the truth fails", async () => {
  expect(await runCells(cells(), "whole")).toEqual([]);
});
