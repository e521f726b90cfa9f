import type { Severity } from "./registration.ts";

/**
 * Turns what a program prints into messages. The SDK prints what the program logs as `<severity>: [runtime] <text>`,
 * which may go on over several lines; everything else is what the program itself prints, and is passed on by the line.
 */
export class ProgramOutput {
  readonly #emit: (severity: Severity, message: string) => void;
  #rest = "";
  #logged: { severity: Severity; lines: string[] } | undefined;

  constructor(emit: (severity: Severity, message: string) => void) {
    this.#emit = emit;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
    // One log call is one write: what comes later, after a whole line, is something else.
    if (this.#rest === "") this.#release();
  }

  /** Emits what is left, at the end of the stream. */
  end(): void {
    if (this.#rest !== "") this.#line(this.#rest);
    this.#rest = "";
    this.#release();
  }

  #line(line: string): void {
    const [prefix = "", word] = /^(debug|info|warning|error): \[runtime\] /.exec(line) ?? [];
    const severity = severities.find((known) => known === word);
    if (severity !== undefined) {
      this.#release();
      this.#logged = { severity, lines: [line.slice(prefix.length)] };
    } else if (this.#logged !== undefined) this.#logged.lines.push(line);
    else this.#emit("info", line);
  }

  #release(): void {
    if (this.#logged === undefined) return;
    const { severity, lines } = this.#logged;
    this.#logged = undefined;
    this.#emit(severity, lines.join("\n").trimEnd());
  }
}

const severities: readonly Severity[] = ["debug", "info", "warning", "error"];
