/** Makes a function that runs work for all its callers, each by a run that begins after the call: a run that has not begun is joined. */
export function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  return () => {
    next ??= Promise.allSettled([running]).then(() => {
      next = undefined;
      running = work();
      return running;
    });
    return next;
  };
}
