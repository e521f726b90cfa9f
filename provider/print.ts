import { printable } from "../sdk/rules/printable.ts";

/**
 * Says to the user of a run what it does or did, one line a text; the engine shows what a provider prints. This and `warn`
 * are the only ways: names and values in a text are those of others.
 */
export function print(...lines: readonly string[]): void {
  console.info(shown(lines));
}

/** Says what a person should look at, or do. */
export function warn(...lines: readonly string[]): void {
  console.error(shown(lines));
}

function shown(lines: readonly string[]): string {
  return lines.map((line) => printable(line)).join("\n");
}
