import type { Severity } from "./registration.ts";

/**
 * Turns what a program prints into messages. The SDK prints what the program logs as `<severity>: [runtime] <text>`,
 * in one line (`logByLines`); everything else is what the program itself prints, and is passed on by the line.
 */
export class ProgramOutput {
  readonly #emit: (severity: Severity, message: string) => void;
  #rest = "";

  constructor(emit: (severity: Severity, message: string) => void) {
    this.#emit = emit;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
  }

  /** Emits what is left, at the end of the stream. */
  end(): void {
    if (this.#rest !== "") this.#line(this.#rest);
    this.#rest = "";
  }

  #line(line: string): void {
    const [prefix = "", word] = logged.exec(line) ?? [];
    const severity = severities.find((known) => known === word);
    if (severity === undefined) this.#emit("info", line);
    else this.#emit(severity, line.slice(prefix.length).replaceAll(lineBreak, "\n").trimEnd());
  }
}

const severities: readonly Severity[] = ["debug", "info", "warning", "error"];
const logged = /^(debug|info|warning|error): \[runtime\] /;

/** What stands for a line break within a message: ASCII's record separator. */
const lineBreak = "\u001e";

/** In the program: what the SDK logs is printed as one line, so that what is printed next is not taken for more of it. */
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
