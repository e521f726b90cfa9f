import { printable } from "../sdk/rules/printable.ts";

/**
 * Says something to the user of a run, one line a text; the engine shows what a provider prints. It is the only way: names
 * and values in a text are those of others.
 */
export function print(...lines: readonly string[]): void {
  console.error(lines.map((line) => printable(line)).join("\n"));
}
