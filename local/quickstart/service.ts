import { type ChildProcess, spawn } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Narrator } from "./narrator.ts";

const rulesPath = "/api/v1/merchants/rules";
const token = "local-token";
const startMs = 60_000;

const ruleSchema = z.looseObject({ id: z.string(), name: z.string(), priority: z.number() });
const listSchema = z.object({ rules: z.array(z.looseObject({ id: z.string() })) });
export type Rule = z.infer<typeof ruleSchema>;

interface StartOptions {
  readonly narrator: Narrator;
  readonly interrupted: AbortSignal;
  /** The quickstart's folder, for the rules and the log. */
  readonly folder: string;
  /** The file of the command `merchant-rules`. */
  readonly merchantRules: string;
  /** Hears of the process as soon as there is one. */
  readonly onProcess: (service: ChildProcess) => void;
}

/** Starts the local rules service in a process of its own, which outlives this one. Gives its address. */
export async function startService(options: StartOptions): Promise<string> {
  const { narrator, interrupted, folder, merchantRules, onProcess } = options;
  const words = ["serve", "--contract", "illustrative", "--port", "0", "--data", join(folder, "rules.sqlite")];
  narrator.command(["npx", "--no-install", "merchant-rules", ...words].join(" "));
  // Its output goes to a file: with --keep it outlives this process, and a pipe would not.
  const log = join(folder, "service.log");
  const output = openSync(log, "w");
  const child = spawn(process.execPath, [merchantRules, ...words], {
    cwd: folder,
    detached: true,
    stdio: ["ignore", output, output],
  });
  child.unref();
  let failure: Error | undefined;
  child.on("error", (error) => {
    failure = error;
  });
  onProcess(child);
  for (const until = performance.now() + startMs; performance.now() < until; await sleep(50)) {
    interrupted.throwIfAborted();
    if (failure !== undefined) throw failure;
    const text = readFileSync(log, "utf8");
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
    if (url !== undefined) {
      for (const line of text.split("\n").slice(0, 2)) narrator.output(line);
      return url;
    }
    if (child.exitCode !== null) throw new Error(`the service did not start:\n${text}`);
  }
  throw new Error(
    `the service did not print its address within ${startMs / 1000} seconds; it printed:\n${readFileSync(log, "utf8")}`,
  );
}

/** The rules at the service, as anybody can read them there, past the engine. */
export class QuickstartRules {
  readonly #url: string;
  readonly #narrator: Narrator;
  readonly #interrupted: AbortSignal;

  constructor(url: string, narrator: Narrator, interrupted: AbortSignal) {
    this.#url = url;
    this.#narrator = narrator;
    this.#interrupted = interrupted;
  }

  /** The command that lists them. */
  get listing(): string {
    return curl(`${this.#url}${rulesPath}`);
  }

  async read(): Promise<Rule[]> {
    this.#narrator.command(this.listing);
    const { rules } = listSchema.parse(await this.#send("GET", rulesPath));
    const all = await Promise.all(
      rules.map(async ({ id }) => ruleSchema.parse(await this.#send("GET", `${rulesPath}/${id}`))),
    );
    if (all.length === 0) this.#narrator.output("(no rules)");
    for (const { id, name, priority } of all) this.#narrator.output(`${id}  ${name.padEnd(15)} priority ${priority}`);
    return all;
  }

  async edit({ id, createdAt, updatedAt, ...rule }: Rule): Promise<void> {
    const body = JSON.stringify(rule);
    const path = `${rulesPath}/${id}`;
    this.#narrator.command(`${curl(`${this.#url}${path}`)} -X PUT -H 'Content-Type: application/json' -d '${body}'`);
    await this.#send("PUT", path, body);
  }

  async #send(method: "GET" | "PUT", path: string, body?: string): Promise<unknown> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      signal: this.#interrupted,
      ...(body === undefined ? {} : { body }),
    });
    if (!response.ok) throw new Error(`${method} ${path} should succeed, and the service answered ${response.status}`);
    return await response.json();
  }
}

function curl(url: string): string {
  return `curl -s -H 'Authorization: Bearer ${token}' ${url}`;
}
