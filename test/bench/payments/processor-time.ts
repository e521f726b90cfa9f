/** The seconds that a core worked for this process: also for its garbage collector and the threads of libraries. */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
