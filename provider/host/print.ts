import { printable } from "../../sdk/json/printable.ts";

/** The local engine puts a function here that tells facts from warnings. Other engines show all of standard error alike. */
const inform = Symbol.for("pulumi-merchant-rules:inform");

/**
 * Prints what a run does or did, one line a string; the engine shows what a provider prints. This and `warn` are the only
 * ways: names and values in a line are foreign, and are made printable here.
 */
export function print(...lines: readonly string[]): void {
  const tell: unknown = Reflect.get(globalThis, inform);
  if (typeof tell === "function") tell(shown(lines));
  else console.error(shown(lines));
}

/** Prints what a person should look at, or do. */
export function warn(...lines: readonly string[]): void {
  console.error(shown(lines));
}

function shown(lines: readonly string[]): string {
  return lines.map((line) => printable(line)).join("\n");
}
