import { createInterface } from "node:readline/promises";

/**
 * Runs work once the user has said yes on the terminal.
 * @param kind the name of the work in messages: `update`
 * @returns the exit code: the work's own; 1 where the user declines; 8 where Ctrl-C, or the end of the input, is the answer
 */
export async function confirmed(kind: string, work: () => Promise<number>): Promise<number> {
  const answer = await askUser(`Do you want to perform this ${kind}? (yes/no) `);
  if (answer !== undefined && /^y(es)?$/i.test(answer.trim())) return await work();
  console.error(`confirmation ${answer === undefined ? "cancelled" : "declined"}, not proceeding with the ${kind}`);
  return answer === undefined ? 8 : 1;
}

/** Asks a question on the terminal. @returns whether the user said yes */
export async function ask(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await askUser(question))?.trim() ?? "");
}

/** Asks the user on the terminal; undefined where Ctrl-C, or the end of the input, is the answer. */
export async function askUser(question: string): Promise<string | undefined> {
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<undefined>((resolve) => prompt.once("close", () => resolve(undefined)));
  prompt.once("SIGINT", () => prompt.close());
  try {
    return await Promise.race([prompt.question(question), ended]);
  } finally {
    prompt.close();
  }
}
