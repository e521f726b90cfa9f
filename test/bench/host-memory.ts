import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Watches the provider host of a project; see {@link watchMemory}. */
export function watchHostMemory(folder: string): () => number | undefined {
  return watchMemory(() => hostsIn(folder));
}

/** Reads again and again how long cores worked for a process, in seconds. Returns what ends that and tells the last; undefined without /proc. */
export function watchProcessorTime(pid: number): () => number | undefined {
  let last: number | undefined;
  const look = (): void => {
    try {
      // Behind the name in brackets, which may have anything in it, the 12th and 13th word are hundredths of a second.
      const words = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
      last = (Number(words[11]) + Number(words[12])) / 100;
    } catch {
      return; // It has ended meanwhile.
    }
  };
  const timer = setInterval(look, 50);
  return () => {
    clearInterval(timer);
    return last;
  };
}

/**
 * Watches processes from outside, where the system has /proc. Returns what ends the watch and says how much memory one of
 * them had at most, in bytes; undefined where none was seen.
 * @param pids finds them, each time anew
 */
export function watchMemory(pids: () => readonly string[]): () => number | undefined {
  let most: number | undefined;
  const look = (): void => {
    for (const pid of pids()) most = Math.max(most ?? 0, peakOf(pid));
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
