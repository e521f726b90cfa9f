import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { newFolder } from "../support/folder.ts";
import type { EngineName } from "../support/stack/project.ts";
import { pageAt, root } from "./page.ts";

/** One thing that a page asks its reader to do. */
export type PageStep =
  | { readonly kind: "write"; readonly file: string; readonly text: string }
  | { readonly kind: "edit"; readonly file: string; readonly from: string; readonly to: string }
  | { readonly kind: "run"; readonly commands: string; readonly prints: readonly string[] };

/** The marks that begin what is for one engine alone. It ends at the next heading. */
const marks: Readonly<Record<string, EngineName>> = {
  "**With the Pulumi CLI**": "pulumi",
  "**Without the Pulumi CLI**": "local",
};

/**
 * The steps of a page, in order. A block below a sentence that names a file in code and ends with a colon is that file. A block
 * of sh is run, and a block of text right below has lines that its output has, in this order; … stands for what differs.
 */
export function stepsOf(page: string, engine: EngineName): PageStep[] {
  const steps: PageStep[] = [];
  let only: EngineName | undefined;
  let last: { commands: string; prints: string[] } | undefined;
  for (const [part] of page.matchAll(/^```\w*\n.*?^```$|^[^\n]+$/gms)) {
    const [, language, text = ""] = /^```(\w*)\n(.*)```$/s.exec(part) ?? [];
    const before = last;
    last = undefined;
    if (part.startsWith("#")) only = undefined;
    else only = marks[part] ?? only;
    const isForOther = only !== undefined && only !== engine;
    const edit = /^In `(.+?)`, change `(.+?)` to `(.*?)`\./.exec(part);
    const named = sentenceAbove(page, part);
    if (language === undefined) {
      const [, file = "", from = "", to = ""] = edit ?? [];
      if (edit !== null && !isForOther) steps.push({ kind: "edit", file, from, to });
    } else if (language === "sh") {
      last = { commands: text, prints: [] };
      if (!isForOther) steps.push({ kind: "run", ...last });
    } else if (language === "text" && before !== undefined) before.prints.push(...text.trimEnd().split("\n"));
    else if (named !== undefined && !isForOther) steps.push({ kind: "write", file: named, text });
  }
  return steps;
}

/** The file that a block of a page is, where the sentence above says so. */
function sentenceAbove(page: string, block: string): string | undefined {
  const above = page.slice(0, page.indexOf(block)).trimEnd();
  const line = above.slice(above.lastIndexOf("\n\n") + 2).replaceAll("\n", " ");
  return /Make `([^`]+)`.*:$/.exec(line)?.[1];
}

/** A reader who does what a page says, in an empty folder, in one terminal and, for services, in others. */
export class Reader {
  /** The folder in which the reader is. */
  folder: string;
  readonly #start: string;
  readonly #services: ChildProcess[] = [];
  #environment: Readonly<Record<string, string | undefined>>;
  #ports: Readonly<Record<string, string>> = {};

  constructor(engine: EngineName) {
    this.#start = newFolder();
    this.folder = this.#start;
    this.#environment = environmentFor(engine);
  }

  async follow(steps: readonly PageStep[]): Promise<void> {
    for (const step of steps) {
      if (step.kind === "run") await this.#type(step.commands, step.prints);
      else if (step.kind === "write") this.write(step.file, step.text);
      else this.#edit(step.file, step.from, step.to);
    }
  }

  write(name: string, text: string): void {
    const file = join(this.folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, this.#withPorts(text));
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  /** Runs commands as they would be typed; gives what they printed. Folder and variables stay as they leave them. */
  async run(commands: string, variables: Readonly<Record<string, string>> = {}): Promise<string> {
    const script = `set -e\n${this.#withPorts(commands)}\nset +e\n{ pwd; env -0; } >&3`;
    const child = spawn("bash", ["-c", script], {
      cwd: this.folder,
      env: { ...this.#environment, ...variables },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    const [printed, left] = [[1, 2], [3]].map((outputs) => {
      const chunks: string[] = [];
      for (const output of outputs) child.stdio[output]?.on("data", (chunk) => chunks.push(String(chunk)));
      return chunks;
    });
    const [status] = await once(child, "close");
    const text = printed?.join("") ?? "";
    if (status !== 0) throw new Error(`exit code ${status} of:\n${commands}\n${text}`);
    const [folder = "", all = ""] = (left?.join("") ?? "").split(/\n(.*)/s);
    this.folder = folder;
    const pairs = all.split("\0").map((pair) => pair.split(/=(.*)/s));
    const names = new Set([...Object.keys(variables), "_", "SHLVL", "PWD", "OLDPWD", ""]);
    this.#environment = Object.fromEntries(pairs.filter(([name = ""]) => !names.has(name)));
    return text;
  }

  async leave(): Promise<void> {
    for (const child of this.#services.filter(({ exitCode }) => exitCode === null)) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGINT");
      await ended;
    }
    rmSync(this.#start, { recursive: true });
  }

  async #type(commands: string, prints: readonly string[]): Promise<void> {
    const rest = this.#withoutInstall(commands);
    if (/\bnpm run rules -- serve\b/.test(rest)) return await this.#serve(rest.trim(), prints);
    const printed = await this.run(rest);
    let from = 0;
    for (const line of prints.flatMap((each) => this.#withPorts(each.trim()).split("…"))) {
      const at = printed.indexOf(line, from);
      if (at === -1) throw new Error(`not printed: ${line}\nby:\n${rest}\nwhich printed:\n${printed}`);
      from = at + line.length;
    }
  }

  /** The one place where a reader does otherwise than the page says: the packages are those of this repository. */
  #withoutInstall(commands: string): string {
    const lines = commands.split("\n");
    const others = lines.filter((line) => !/^npm (?:install|ci)\b/.test(line));
    const modules = join(this.folder, "node_modules");
    if (others.length < lines.length && !existsSync(modules)) symlinkSync(join(root, "node_modules"), modules);
    return others.join("\n");
  }

  /** Leaves a service running on a free port, which is meant from now on wherever the page has the port that it prints. */
  async #serve(command: string, prints: readonly string[]): Promise<void> {
    const [, port = "4010"] = / --port (\d+)/.exec(command) ?? [];
    const words = command.replace(/ --port \d+/, "").split(" ");
    const service = spawn(join("node_modules", ".bin", "merchant-rules"), [...words.slice(4), "--port", "0"], {
      cwd: this.folder,
      env: this.#environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#services.push(service);
    const printed = await new Promise<string>((resolve, reject) => {
      let text = "";
      const hear = (chunk: unknown): void => {
        text += String(chunk);
        if (text.includes("Stop with Ctrl-C.")) resolve(text);
      };
      service.stdout.on("data", hear);
      service.stderr.on("data", hear);
      service.once("exit", () => reject(new Error(`the service ended:\n${text}`)));
      service.once("error", reject);
    });
    this.#ports = { ...this.#ports, [port]: /127\.0\.0\.1:(\d+)/.exec(printed)?.[1] ?? "" };
    for (const line of prints.map((each) => this.#withPorts(each)))
      if (!printed.includes(line)) throw new Error(`not printed: ${line}\nbut:\n${printed}`);
  }

  #edit(name: string, from: string, to: string): void {
    const text = this.read(name);
    if (!text.includes(from)) throw new Error(`${name} has no ${from}`);
    this.write(name, text.replaceAll(from, to));
  }

  #withPorts(text: string): string {
    return text.replace(/127\.0\.0\.1:(\d+)/g, (all, port: string) => {
      const other = this.#ports[port];
      return other === undefined ? all : `127.0.0.1:${other}`;
    });
  }
}

/** A reader who has done what the first page says, up to its service, and keeps the state in the project's folder. */
export async function beginner(engine: EngineName): Promise<Reader> {
  const page = pageAt("docs/getting-started.md");
  const reader = new Reader(engine);
  try {
    await reader.follow(stepsOf(page.slice(0, page.indexOf("\n## 6. ")), engine));
    await reader.run('export PULUMI_BACKEND_URL="file://$PWD"');
    return reader;
  } catch (error) {
    await reader.leave();
    throw error;
  }
}

/** Variables as a reader has them: none of this product or of Pulumi, and no Pulumi CLI for those who have none. */
function environmentFor(engine: EngineName): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(?:MERCHANT_RULES_|npm_|VITEST|NODE_ENV|NODE_OPTIONS)/.test(name) && !isOfPulumi(name),
  );
  const folders = [dirname(process.execPath), ...(process.env.PATH ?? "").split(delimiter)];
  const kept = folders.filter((folder) => engine === "pulumi" || !existsSync(join(folder, "pulumi")));
  const quiet = { NO_COLOR: "1", PULUMI_SKIP_UPDATE_CHECK: "true" };
  return { ...Object.fromEntries(inherited), ...quiet, PATH: kept.join(delimiter) };
}

function isOfPulumi(name: string): boolean {
  return name.startsWith("PULUMI_") && name !== "PULUMI_HOME";
}
