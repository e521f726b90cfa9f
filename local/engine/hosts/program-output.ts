import type { Severity } from "./registration.ts";

/**
 * Returns the message in a line of what a program prints. The SDK prints what the program logs as `<severity>: [runtime] <text>`,
 * in one line (`logByLines`); everything else is what the program itself prints.
 */
export function messageOfLine(line: string): [severity: Severity, message: string] {
  const [prefix = "", word] = logged.exec(line) ?? [];
  const severity = severities.find((known) => known === word);
  if (severity === undefined) return ["info", line];
  return [severity, line.slice(prefix.length).replaceAll(lineBreak, "\n").trimEnd()];
}

const severities: readonly Severity[] = ["debug", "info", "warning", "error"];
const logged = /^(debug|info|warning|error): \[runtime\] /;

/** The character for a line break within a message: ASCII's record separator. */
const lineBreak = "\u001e";

/** Lets a program print what the SDK logs as one line, so that what is printed next is not taken for more of it. */
export function logByLines(): void {
  for (const method of ["log", "warn", "error"] as const) {
    const print = console[method].bind(console);
    console[method] = (...args: unknown[]): void => {
      const [text] = args;
      if (args.length === 1 && typeof text === "string" && logged.test(text)) print(text.replaceAll("\n", lineBreak));
      else print(...args);
    };
  }
}
