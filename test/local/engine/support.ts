import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll } from "vitest";
import { z } from "zod";
import { type RunEvent, type RunOptions, type RunResult, runEngine, type Verb } from "../../../local/engine/index.ts";
import { newFolder } from "../../support/folder.ts";

const here = import.meta.dirname;
export const passphrase = "fixture passphrase";

/** Tests of one file run side by side, so everything is put away at the end of the file. */
const folders: string[] = [];
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** The parts of a state file that tests read. */
const stateSchema = z.looseObject({
  version: z.number(),
  checkpoint: z.looseObject({
    stack: z.string(),
    latest: z.looseObject({
      manifest: z.looseObject({}),
      resources: z.array(z.looseObject({ urn: z.string(), type: z.string(), id: z.string().optional() })).default([]),
      pending_operations: z
        .array(z.looseObject({ type: z.string(), resource: z.looseObject({ urn: z.string() }) }))
        .default([]),
    }),
  }),
});
export type State = z.infer<typeof stateSchema>;
export type StateResource = State["checkpoint"]["latest"]["resources"][number];

/** A Pulumi project in a folder of its own. */
export class Project {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;

  constructor(program: string, env: NodeJS.ProcessEnv = {}) {
    this.folder = newFolder();
    cpSync(join(here, "fixtures/project"), this.folder, { recursive: true });
    symlinkSync(resolve(here, "../../../node_modules"), join(this.folder, "node_modules"), "dir");
    const { PULUMI_BACKEND_URL: _url, PULUMI_STACK: _stack, ...inherited } = process.env;
    this.env = { ...inherited, PULUMI_CONFIG_PASSPHRASE: passphrase, ...env };
    this.program(program);
    folders.push(this.folder);
  }

  /** Writes the program; `pulumi`, `Rule`, `Connection` and `Group` are at hand in it. */
  program(source: string): void {
    this.write("index.js", `const { pulumi, Rule, Connection, Group } = require("./rule.js");\n${source}\n`);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, text: string): void {
    writeFileSync(this.path(name), text);
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  exists(name: string): boolean {
    return existsSync(this.path(name));
  }

  /** The provider's calls since the last look, in order. */
  takeCalls(): string[] {
    const calls = this.exists("calls.log") ? this.read("calls.log").trimEnd().split("\n") : [];
    rmSync(this.path("calls.log"), { force: true });
    return calls;
  }

  /** The rules that the service has, by file. */
  rules(): string[] {
    return this.exists("service") ? readdirSync(this.path("service")).sort() : [];
  }

  readonly stateFile = ".pulumi/stacks/fixture/dev.json";

  stateText(): string {
    return this.read(this.stateFile);
  }

  state(): State["checkpoint"]["latest"] {
    return stateSchema.parse(JSON.parse(this.stateText())).checkpoint.latest;
  }

  /** A resource in state by its name; fails when there is none. */
  resource(name: string): StateResource {
    const found = this.state().resources.find(({ urn }) => urn.endsWith(`::${name}`));
    if (found === undefined) throw new Error(`there is no ${name} in state`);
    return found;
  }

  async run(
    verb: Verb,
    options: Partial<RunOptions> = {},
  ): Promise<RunResult & { events: RunEvent[]; messages: string[] }> {
    const events: RunEvent[] = [];
    const result = await runEngine({
      verb,
      cwd: this.folder,
      env: this.env,
      onEvent: (event) => events.push(event),
      ...options,
    });
    const messages = events.flatMap((event) => (event.kind === "diagnostic" ? [event.message] : []));
    return { ...result, events, messages };
  }

  /** Runs a verb that must succeed. */
  async ok(verb: Verb, options: Partial<RunOptions> = {}) {
    const result = await this.run(verb, options);
    if (!result.ok) throw new Error(`${verb} failed: ${result.errors.map(({ message }) => message).join("; ")}`);
    return result;
  }

  /** Runs the command in a process of its own. */
  cli(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(here, "fixtures/cli.ts"), "local", ...args], {
      cwd: this.folder,
      env: { ...this.env, ...env },
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  }

  /** Starts the command, to be signalled while it runs. */
  start(args: readonly string[]): { child: ChildProcess; exited: Promise<number | null> } {
    const child = spawn(process.execPath, [join(here, "fixtures/cli.ts"), "local", ...args], {
      cwd: this.folder,
      env: this.env,
      stdio: "ignore",
    });
    children.push(child);
    return { child, exited: new Promise((done) => child.on("close", (code) => done(code))) };
  }

  /** Starts the Pulumi CLI on this folder, with a home of its own, and the backend that the local engine uses too. */
  pulumi(words: readonly string[], more: NodeJS.ProcessEnv = {}) {
    const home = this.path("pulumi-home");
    mkdirSync(home, { recursive: true });
    const env = {
      ...this.env,
      PULUMI_HOME: home,
      PULUMI_BACKEND_URL: `file://${this.folder}`,
      PULUMI_SKIP_UPDATE_CHECK: "true",
      ...more,
    };
    return { words: [...words, "--non-interactive"], options: { cwd: this.folder, env } };
  }

  /** Resolves when a condition holds; the test's own timeout is the limit. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise((next) => setTimeout(next, 10));
  }
}

/** The name of the resource of each step, with its operation: `create a`. */
export function stepNames(
  result: RunResult,
  ops: readonly string[] = ["create", "update", "replace", "delete"],
): string[] {
  return result.steps
    .filter(({ op }) => ops.includes(op))
    .map(({ op, urn }) => `${op} ${urn.split("::").at(-1)}`)
    .sort();
}

/** The paths that a resource's step names, with their kinds. */
export function pathsOf(result: RunResult, name: string): { [path: string]: string } {
  const step = result.steps.find(({ urn, detailedDiff }) => urn.endsWith(`::${name}`) && detailedDiff !== null);
  return Object.fromEntries(Object.entries(step?.detailedDiff ?? {}).map(([path, { kind }]) => [path, kind]));
}
