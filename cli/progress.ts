import { clearLine, cursorTo } from "node:readline";
import type { Writable } from "node:stream";

/** Says how far the work is: so many done, of so many where that is known. */
export type OnProgress = (done: number, total?: number) => void;

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
 * Runs work that may take long, and shows how far it is: a moving line with a bar on a terminal, plain lines elsewhere.
 * @param title what is done, as `reading rules`
 * @param work calls what it is given as often as it likes
 */
export async function withProgress<T>(
  title: string,
  work: (step: OnProgress) => Promise<T>,
  { stream = process.stderr, quiet = false, delayMs = 1_000, lineEveryMs = 10_000 }: ProgressOptions = {},
): Promise<T> {
  if (quiet) return await work(() => {});
  const isTerminal = stream.isTTY === true && process.env.TERM !== "dumb" && process.env.CI === undefined;
  const display = isTerminal ? movingLine(stream) : plainLines(stream, lineEveryMs);
  let state = `${title} ...`;
  let isShown = false;
  const timer = setTimeout(() => {
    isShown = true;
    display.show(state);
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
  /** Shows how far the work is. @param isLast shows it in any case */
  show(state: string, isLast?: boolean): void;
  end(): void;
}

/** Writes one line of a terminal over and over again. */
function movingLine(stream: Writable): Display {
  const end = (): void => {
    cursorTo(stream, 0);
    clearLine(stream, 1);
  };
  const show = (state: string): void => {
    end();
    stream.write(state);
  };
  return { show, end };
}

/** Writes a line every so many milliseconds, as a log has it. */
function plainLines(stream: Writable, everyMs: number): Display {
  let last = Number.NEGATIVE_INFINITY;
  const show = (state: string, isLast = false): void => {
    if (!isLast && performance.now() - last < everyMs) return;
    last = performance.now();
    stream.write(`${state}\n`);
  };
  return { show, end: () => {} };
}

const barWidth = 20;

/** Returns a bar, such as `[##########          ] `; nothing where the end is not known. */
function barOf(done: number, total: number | undefined): string {
  if (total === undefined || total <= 0) return "";
  const full = Math.round(barWidth * Math.min(1, done / total));
  return `[${"#".repeat(full)}${" ".repeat(barWidth - full)}] `;
}

function countOf(done: number, total: number | undefined): string {
  return total === undefined ? String(done) : `${done} of ${total}`;
}
