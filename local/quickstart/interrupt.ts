import { constants } from "node:os";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
type Ending = (typeof signals)[number];

/** The signals for work that can be interrupted. */
export interface Interrupts {
  /** Begin nothing more; the work then tidies up. */
  readonly interrupted: AbortSignal;
  /** Wait for no child any longer. */
  readonly impatient: AbortSignal;
}

/** A terminal sends Ctrl-C to every process of a command, and some pass it on. Nobody types two that fast. */
const echoMs = 200;

/**
 * Does work that Ctrl-C, SIGTERM or the end of the terminal (SIGHUP) interrupts. Gives its result, and the exit code that
 * tells of the signal (130, 143, 129) where there was one.
 */
export async function interruptible<T>(
  work: (interrupts: Interrupts) => Promise<T>,
): Promise<{ readonly result: T; readonly signalCode: number | undefined }> {
  const interrupted = new AbortController();
  const impatient = new AbortController();
  let first: Ending | undefined;
  let lastAt = 0;
  const onSignal = (signal: Ending): void => {
    const at = performance.now();
    if (first !== undefined && at - lastAt < echoMs) return;
    lastAt = at;
    if (first !== undefined) {
      impatient.abort();
      return;
    }
    first = signal;
    const name = signal === "SIGINT" ? "Ctrl-C" : signal;
    console.error(
      `\nInterrupted by ${name}: what is under way is finished, then everything is removed (once more to stop at once)`,
    );
    interrupted.abort(new Error(`interrupted by ${signal}`));
  };
  for (const signal of signals) process.on(signal, onSignal);
  try {
    const result = await work({ interrupted: interrupted.signal, impatient: impatient.signal });
    return { result, signalCode: first === undefined ? undefined : 128 + constants.signals[first] };
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
  }
}
