import { clearLine, cursorTo } from "node:readline";
import type { Writable } from "node:stream";

/** Says how far the work is: so many done, of so many where that is known. */
export type Step = (done: number, total?: number) => void;

export interface ProgressOptions {
  /** The stream that a person reads. Default: standard error, so that the output stays what was asked for. */
  readonly stream?: Writable & { readonly isTTY?: boolean };
  /** Says nothing, as where the output is JSON. Default false. */
  readonly quiet?: boolean;
  /** Work that is done sooner shows nothing, in milliseconds. Default 1000. */
  readonly delayMs?: number;
  /** Time between the plain lines of a log, in milliseconds. Default 10,000. */
  readonly lineEveryMs?: number;
}

/**
 * Does work that may take long, and shows how far it is: a moving line with a bar on a terminal, plain lines elsewhere.
 * @param title what is done, as `reading rules`
 * @param work calls what it is given as often as it likes
 */
export async function withProgress<T>(
  title: string,
  work: (step: Step) => Promise<T>,
  { stream = process.stderr, quiet = false, delayMs = 1_000, lineEveryMs = 10_000 }: ProgressOptions = {},
): Promise<T> {
  if (quiet) return await work(() => {});
  const isTerminal = stream.isTTY === true && process.env.TERM !== "dumb" && process.env.CI === undefined;
  const display = isTerminal ? new MovingLine(stream) : new PlainLines(stream, lineEveryMs);
  let state = `${title} ...`;
  let isShown = false;
  const timer = setTimeout(() => {
    isShown = true;
    display.start(state);
  }, delayMs);
  // It tells nobody anything that the process is kept alive for.
  timer.unref();
  try {
    const result = await work((done, total) => {
      state = `${title}: ${isTerminal ? barOf(done, total) : ""}${countOf(done, total)}`;
      if (isShown) display.show(state);
    });
    if (isShown && !isTerminal) display.show(`${title}: done`, true);
    return result;
  } finally {
    clearTimeout(timer);
    if (isShown) display.end();
  }
}

interface Display {
  start(state: string): void;
  /** @param isLast whether it is to be seen in any case */
  show(state: string, isLast?: boolean): void;
  end(): void;
}

/** One line of a terminal, written over again and again. */
class MovingLine implements Display {
  readonly #stream: Writable;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  start(state: string): void {
    this.end();
    this.#stream.write(state);
  }

  show(state: string): void {
    this.start(state);
  }

  end(): void {
    cursorTo(this.#stream, 0);
    clearLine(this.#stream, 1);
  }
}

class PlainLines implements Display {
  readonly #stream: Writable;
  readonly #everyMs: number;
  #last = 0;

  constructor(stream: Writable, everyMs: number) {
    this.#stream = stream;
    this.#everyMs = everyMs;
  }

  start(state: string): void {
    this.#last = performance.now();
    this.#stream.write(`${state}\n`);
  }

  show(state: string, isLast = false): void {
    if (isLast || performance.now() - this.#last >= this.#everyMs) this.start(state);
  }

  end(): void {}
}

const barWidth = 20;

/** `[##########          ] `; nothing where the end is not known. */
function barOf(done: number, total: number | undefined): string {
  if (total === undefined || total <= 0) return "";
  const full = Math.round(barWidth * Math.min(1, done / total));
  return `[${"#".repeat(full)}${" ".repeat(barWidth - full)}] `;
}

function countOf(done: number, total: number | undefined): string {
  return total === undefined ? String(done) : `${done} of ${total}`;
}
