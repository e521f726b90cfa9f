/**
 * The time that a core worked for this process so far, in seconds: also for its collector of garbage and for threads of libraries, and
 * not while other processes had the core.
 */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
