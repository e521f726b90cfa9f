import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";

const rulesPath = "/api/v1/merchants/rules";
const headers = { authorization: "Bearer local-token", "content-type": "application/json" };
const ruleSchema = z.looseObject({ id: z.string(), name: z.string(), priority: z.number() });
const listSchema = z.object({ rules: z.array(ruleSchema) });
type Rule = z.infer<typeof ruleSchema>;

const startLimitMs = 120_000;

/** A `merchant-rules serve` that a consumer has started. */
export class LocalService {
  readonly settings: Readonly<Record<string, string>>;
  readonly #child: ChildProcess;
  readonly #url: string;

  private constructor(child: ChildProcess, settings: Readonly<Record<string, string>>) {
    this.#child = child;
    this.settings = settings;
    this.#url = settings.MERCHANT_RULES_BASE_URL ?? "";
  }

  /** Starts it by a command line, and reads the settings that it prints. */
  static async start(
    [file = "", ...words]: readonly string[],
    options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  ): Promise<LocalService> {
    // A group of its own, because a package manager starts it as its child.
    const child = spawn(file, words, { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (bytes: Buffer) => {
        output += bytes.toString();
      });
    child.on("error", (error) => {
      output += error.message;
    });
    for (let waited = 0; waited < startLimitMs && child.exitCode === null; waited += 50) {
      const settings = Object.fromEntries(
        [...output.matchAll(/export (MERCHANT_RULES_\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]),
      );
      if (output.includes("Ctrl-C")) return new LocalService(child, settings);
      await sleep(50);
    }
    stopGroup(child);
    throw new Error(`merchant-rules serve did not start:\n${output}`);
  }

  async rules(): Promise<Rule[]> {
    const response = await fetch(`${this.#url}${rulesPath}`, { headers });
    return listSchema.parse(await response.json()).rules;
  }

  /** Edits a rule past the program, as somebody does by hand. */
  async edit(name: string, change: Readonly<Record<string, unknown>>): Promise<void> {
    const rule = (await this.rules()).find((each) => each.name === name);
    if (rule === undefined) throw new Error(`the service has no rule ${name}`);
    const { id, createdAt, updatedAt, ...fields } = rule;
    const body = JSON.stringify({ ...fields, ...change });
    const response = await fetch(`${this.#url}${rulesPath}/${id}`, { method: "PUT", body, headers });
    if (!response.ok) throw new Error(`the service answered the edit of ${name} with ${response.status}`);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const closed = once(this.#child, "close");
    stopGroup(this.#child);
    await closed;
  }
}

function stopGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGTERM");
  } catch (error) {
    // It has ended by itself.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
