import { vi } from "vitest";
import { main } from "../../cli/main.ts";

/** Runs the command in this process. */
export async function command(
  ...argv: readonly string[]
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const written = { stdout: "", stderr: "" };
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
      written.stdout += String(chunk);
      return true;
    }),
    vi.spyOn(process.stderr, "write").mockImplementation((chunk) => {
      written.stderr += String(chunk);
      return true;
    }),
    vi.spyOn(console, "log").mockImplementation((...words) => {
      written.stdout += `${words.join(" ")}\n`;
    }),
    vi.spyOn(console, "error").mockImplementation((...words) => {
      written.stderr += `${words.join(" ")}\n`;
    }),
  ];
  try {
    const code = await main(argv);
    // Only work over a second shows its progress.
    const stderr = written.stderr.replace(
      /^(?:reading|previewing|running) .*(?: \.\.\.|: done|: \d+(?: of \d+)?)\n/gm,
      "",
    );
    return { code, stdout: written.stdout, stderr };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
