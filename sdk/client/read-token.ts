import { exec } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { MerchantRulesError } from "../errors.ts";
import type { Connection, Credentials } from "./connection.ts";

/** Credentials that say where a token is. */
export type TokenPlace = Extract<Credentials, { kind: "tokenFile" | "tokenCommand" }>;

const longestCommandMs = 30_000;

/**
 * Reads a token out of its file, or runs the command that prints it: in the system's shell, as npm runs a script, without input.
 * @param from what messages call the setting
 * @throws MerchantRulesError UNAUTHENTICATED: there is none. The command and what it prints are in no message, nor is the name of
 * a file that is not there: each may hold the token itself
 */
export async function readToken(place: TokenPlace, from: Connection["credentialsFrom"]): Promise<string> {
  const isFile = place.kind === "tokenFile";
  const what = `the ${isFile ? "file" : "command"} of ${from ?? place.kind}`;
  const advice = isFile
    ? "write the file's name there, and the token alone into the file, which this process may read"
    : `run the command by hand in ${place.folder}: it must print the token alone, ask nothing and end with exit code 0`;
  const refused = (why: string): MerchantRulesError =>
    new MerchantRulesError("UNAUTHENTICATED", `${what} ${why}`, { attempted: "read the token", advice });
  const token = (await (isFile ? contentOf(place, refused) : outputOf(place, refused))).trim();
  if (token === "") throw refused(isFile ? "is empty" : "printed nothing");
  if (/[\r\n]/.test(token)) throw refused(`${isFile ? "has" : "printed"} several lines`);
  return token;
}

type Refuse = (why: string) => MerchantRulesError;

async function contentOf({ file }: Extract<TokenPlace, { kind: "tokenFile" }>, refused: Refuse): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw refused(`cannot be read (${textAt(error, "code")})`);
  }
}

async function outputOf(
  { command, folder, timeoutMs = longestCommandMs }: Extract<TokenPlace, { kind: "tokenCommand" }>,
  refused: Refuse,
): Promise<string> {
  try {
    const running = promisify(exec)(command, { cwd: folder, timeout: timeoutMs, killSignal: "SIGKILL" });
    running.child.stdin?.end();
    return (await running).stdout;
  } catch (error) {
    // The error itself has the command and its output.
    const [code, signal] = [textAt(error, "code"), textAt(error, "signal")];
    if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") throw refused("printed more than 1 MiB");
    if (textAt(error, "killed") === "true") throw refused(`did not end within ${timeoutMs} ms`);
    if (signal !== "") throw refused(`was ended by ${signal}`);
    throw refused(/^\d+$/.test(code) ? `ended with exit code ${code}` : `could not be started (${code})`);
  }
}

function textAt(error: unknown, name: string): string {
  const value: unknown = Object(error)[name];
  return value === null || value === undefined ? "" : String(value);
}
