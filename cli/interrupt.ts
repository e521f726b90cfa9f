/** The signals for work that can be interrupted. */
interface Interrupts {
  /** Begin nothing more, and let what is under way end. */
  readonly signal: AbortSignal;
  /** End every child process: this one ends right after. */
  readonly killSignal: AbortSignal;
}

/** npm and npx pass a Ctrl-C on that the terminal has sent to this process already; nobody types two that fast. */
const echoMs = 200;

/**
 * Runs work that Ctrl-C, SIGTERM or the end of the terminal (SIGHUP) stop gently; a second one ends this process at
 * once, with exit code 8.
 */
export async function interruptible<T>(work: (interrupts: Interrupts) => Promise<T>): Promise<T> {
  const gently = new AbortController();
  const atOnce = new AbortController();
  let last: { signal: NodeJS.Signals; at: number } | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    const at = performance.now();
    if (last?.signal === signal && at - last.at < echoMs) return;
    last = { signal, at };
    const name = signal === "SIGINT" ? "Ctrl-C" : signal;
    if (gently.signal.aborted) {
      console.error(`${name} again: stopping at once; the next run goes on from what has been recorded`);
      atOnce.abort();
      process.exit(8);
    }
    console.error(`${name}: what is under way is finished, and nothing new is started (once more to stop at once)`);
    gently.abort();
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  try {
    return await work({ signal: gently.signal, killSignal: atOnce.signal });
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
  }
}
