import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

/**
 * Watches the provider host of a project from outside, where the system has /proc. Returns what ends the watch and says
 * how much memory the host had at most, in bytes; undefined where none was seen.
 */
export function watchHostMemory(folder: string): () => number | undefined {
  let most: number | undefined;
  const look = (): void => {
    for (const pid of hostsIn(folder)) most = Math.max(most ?? 0, peakOf(pid));
  };
  const timer = existsSync("/proc/self/status") ? setInterval(look, 100) : undefined;
  return () => {
    clearInterval(timer);
    return most;
  };
}

function hostsIn(folder: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      return words.includes("dynamic-provider") && readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false; // It has ended meanwhile.
    }
  });
}

function peakOf(pid: string): number {
  try {
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return peak === undefined ? 0 : Number(peak) * 1024;
  } catch {
    return 0; // It has ended meanwhile.
  }
}
