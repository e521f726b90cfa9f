import { vi } from "vitest";
import { main } from "../../cli/main.ts";

/** A command's end. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `merchant-rules` in this process, with variables of its own. */
export async function run(argv: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const [out, err]: [string[], string[]] = [[], []];
  const log = vi.spyOn(console, "log").mockImplementation((...words) => void out.push(words.join(" ")));
  const error = vi.spyOn(console, "error").mockImplementation((...words) => void err.push(words.join(" ")));
  const printed = vi.spyOn(process.stdout, "write").mockImplementation((text) => out.push(String(text)) > 0);
  const written = vi.spyOn(process.stderr, "write").mockImplementation((text) => err.push(String(text)) > 0);
  const inherited = Object.keys(process.env).filter((name) => /^(?:MERCHANT_RULES|PULUMI)_/.test(name));
  for (const name of inherited) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  try {
    const code = await main(argv);
    return { code, stdout: out.join("\n"), stderr: err.join("\n") };
  } finally {
    for (const spy of [log, error, printed, written]) spy.mockRestore();
    vi.unstubAllEnvs();
  }
}
