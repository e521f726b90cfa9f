/**
 * Turns what the provider host writes to stderr into messages for the user. The host writes each error that it also
 * returns, twice in one line and with a stack trace: that is dropped, and a stack trace is dropped wherever it is.
 */
export class StderrFilter {
  readonly #emit: (message: string) => void;
  #rest = "";
  #block: string[] = [];
  #traced = false;

  constructor(emit: (message: string) => void) {
    this.#emit = emit;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
    // A message without a trace that is complete by now need not wait for what comes after it.
    if (this.#rest === "" && !this.#traced && !isEcho(this.#block.join("\n"))) this.#release();
  }

  /** Emits what is left, at the end of the stream. */
  end(): void {
    if (this.#rest !== "") this.#line(this.#rest);
    this.#rest = "";
    this.#release();
  }

  #line(line: string): void {
    const isFrame = /^\s+at .+/.test(line);
    if (this.#traced && !isFrame) this.#release();
    if (isFrame) this.#traced = true;
    else this.#block.push(line);
  }

  #release(): void {
    const message = this.#block.join("\n").trim();
    this.#block = [];
    this.#traced = false;
    if (message !== "" && !isEcho(message)) this.#emit(message);
  }
}

/** Whether a text is one error twice: `<name>: <message>: <name>: <message>`, where the names may differ. */
function isEcho(text: string): boolean {
  const bare = (error: string): string => error.replace(/^[\w$.]*Error(?: \[\w+\])?: /, "").trim();
  for (let at = text.indexOf(": "); at >= 0; at = text.indexOf(": ", at + 1)) {
    if (bare(text.slice(0, at)) === bare(text.slice(at + 2))) return true;
  }
  return false;
}
