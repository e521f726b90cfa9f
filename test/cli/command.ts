import { vi } from "vitest";
import { main } from "../../cli/main.ts";

/** A command's end. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `merchant-rules` in this process. Gives what it printed, without its progress, which only work over a second shows. */
export async function command(...argv: readonly string[]): Promise<Ran> {
  const written = { stdout: "", stderr: "" };
  const writing = (to: keyof typeof written) => (chunk: unknown) => {
    written[to] += String(chunk);
    return true;
  };
  const saying =
    (to: keyof typeof written) =>
    (...words: unknown[]) =>
      void writing(to)(`${words.join(" ")}\n`);
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation(writing("stdout")),
    vi.spyOn(process.stderr, "write").mockImplementation(writing("stderr")),
    vi.spyOn(console, "log").mockImplementation(saying("stdout")),
    vi.spyOn(console, "error").mockImplementation(saying("stderr")),
  ];
  try {
    const code = await main(argv);
    const progress = /^(?:reading|previewing|running) .*(?: \.\.\.|: done|: \d+(?: of \d+)?)\n/gm;
    return { code, stdout: written.stdout, stderr: written.stderr.replace(progress, "") };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** Runs `merchant-rules` in this process, with variables of its own. Gives what it printed, without the end of the last line. */
export async function run(argv: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ran> {
  setVariables(environment);
  try {
    const { code, stdout, stderr } = await command(...argv);
    return { code, stdout: stdout.replace(/\n$/, ""), stderr: stderr.replace(/\n$/, "") };
  } finally {
    vi.unstubAllEnvs();
  }
}

/** Sets these variables, and no others that the product or Pulumi read, until `vi.unstubAllEnvs`. */
export function setVariables(environment: Readonly<Record<string, string>> = {}): void {
  for (const name of Object.keys(process.env).filter((each) => /^(?:MERCHANT_RULES|PULUMI)_/.test(each)))
    vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
}
