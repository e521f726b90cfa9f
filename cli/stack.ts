import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { type Command, Option } from "commander";
import { z } from "zod";
import { projectFolderAbove } from "../provider/settings/project-folder.ts";
import { type SettingsSources, stackPrefix } from "../provider/settings/sources.ts";
import { isMerchantRulesError, MerchantRulesError } from "../sdk/errors.ts";
import { isEngineError } from "../stack/errors.ts";
import { type LastConfig, lastConfigOf, readExport, readStack } from "../stack/open/read-stack.ts";
import { type StackIdentity, stackIdentity } from "../stack/open/stack-identity.ts";
import type { ResourceState } from "../stack/state/resource-state.ts";
import type { Engine } from "./engine-commands.ts";
import { inputOf } from "./input.ts";

/** The stack that a command works on. */
export interface StackOptions {
  readonly stack?: string;
  readonly cwd?: string;
  readonly engine?: Engine;
  readonly backend?: string;
}

/** A stack as a command sees it: how to reach its services, and the resources in its state. */
export interface Stack {
  /** In words, for reports: `stack dev`; of a state without resources the file. */
  readonly title: string;
  /** Who keeps it; of a state in a file the Pulumi CLI, which exports such files. */
  readonly engine: Engine;
  readonly sources: SettingsSources;
  readonly resources: readonly ResourceState[];
  /** Settings in the state that are secrets which could not be decrypted. */
  readonly undecrypted: readonly string[];
}

/** Adds the options by which a command finds its stack. */
export function withStackOptions(command: Command): Command {
  return withProjectOptions(
    command.option(
      "-s, --stack <name>",
      "the stack (default: the selected one; with the local engine the only one, else dev)",
    ),
  );
}

/** Adds the options by which a command finds its project, and who keeps its stacks. */
export function withProjectOptions(command: Command): Command {
  return command
    .option("-C, --cwd <dir>", "the project's folder, or one below it")
    .addOption(
      new Option(
        "--engine <engine>",
        "who keeps the stack (default: pulumi where it is on the PATH, else local)",
      ).choices(["pulumi", "local"]),
    )
    .option("--backend <url>", "with the local engine: a file:// URL (default: as `merchant-rules local`)");
}

/** Returns the folder in which a command works, as an absolute path. */
export function folderOf({ cwd = "." }: Pick<StackOptions, "cwd">): string {
  return resolve(cwd);
}

/** Decides whether the folder of a command is in a project. */
export function hasProject(options: StackOptions): boolean {
  return projectFolderAbove(folderOf(options)) !== undefined;
}

/** The stack of the local engine that a command works on, read once for its settings and its state. */
export class LocalStack {
  readonly #options: StackOptions;
  #read: ReturnType<typeof readStack> | undefined;

  constructor(options: StackOptions) {
    this.#options = options;
  }

  /** Reads it. @throws EngineError: it cannot be read */
  read(): ReturnType<typeof readStack> {
    const { stack, cwd, backend: backendUrl } = this.#options;
    this.#read ??= readStack({ stack, cwd, backendUrl });
    return this.#read;
  }
}

/** Returns the settings of the environment alone, as outside a project. */
export function environmentAlone(folder: string): SettingsSources {
  return { config: () => undefined, environment: process.env, folder };
}

/**
 * Reads the settings of a project's stack: its config, then the environment. Outside a project the environment alone.
 * @throws MerchantRulesError, EngineError: the stack cannot be read
 */
export async function readSettings(options: StackOptions, local = new LocalStack(options)): Promise<SettingsSources> {
  const folder = folderOf(options);
  if (!hasProject(options)) {
    if (options.stack === undefined) return environmentAlone(folder);
    throw new MerchantRulesError("SETTINGS_INVALID", `there is no Pulumi.yaml in ${folder} or above it`, {
      attempted: `read stack ${options.stack}`,
      advice: "run this in the project's folder, or name it with --cwd",
    });
  }
  if (engineOf(options) === "pulumi") {
    const [config, stack] = await Promise.all([pulumiConfig(options, folder), pulumiStack(options, folder)]);
    return { ...environmentAlone(folder), config, stack };
  }
  const stack = await local.read();
  return { ...environmentAlone(stack.folder), config: (key) => stack.config.get(key)?.text, stack: stack.name };
}

/**
 * Reads the settings of a stack, and its identity. One that the local engine does not keep yet has the project's config. Outside
 * a project the environment alone has settings, and there is no stack.
 * @throws MerchantRulesError, EngineError: the stack cannot be read
 */
export async function readStackSettings(
  options: StackOptions,
): Promise<{ sources: SettingsSources; identity: StackIdentity | undefined }> {
  const { stack, cwd, backend } = options;
  const folder = folderOf(options);
  if (!hasProject(options)) return { sources: await readSettings(options), identity: undefined };
  const isLocal = engineOf(options) === "local";
  const named = isLocal ? undefined : await nameOfStack(options, folder);
  const identity = await stackIdentity({ stack, cwd, backendUrl: backend }, named);
  try {
    return { sources: await readSettings(options), identity };
  } catch (error) {
    if (!identity.isFirst || !isEngineError(error) || error.code !== "STACK_NOT_FOUND") throw error;
    const config = await identity.projectConfig();
    const own = { config: (key: string) => config.get(key)?.text, stack: identity.stack };
    return { sources: { ...environmentAlone(identity.folder), ...own }, identity };
  }
}

/**
 * Reads a stack's state, from its engine or from a file that holds what `pulumi stack export` prints (`-`: standard input).
 * Its settings are those of its last `up`, as a refresh sees them, then the environment. From a file, resources of other
 * providers come without their properties.
 * @throws MerchantRulesError, EngineError: the state cannot be read
 */
export async function readState(
  options: StackOptions & { readonly state?: string },
  local = new LocalStack(options),
): Promise<Stack> {
  const folder = folderOf(options);
  // Not the engine's index: with it comes all that runs programs, which takes several times as long to load.
  const { state } = options;
  if (state !== undefined || engineOf(options) === "pulumi") {
    const resources =
      state === undefined
        ? await readExport(
            await pulumi(["stack", "export", "--show-secrets"], options, folder),
            "`pulumi stack export`",
          )
        : await readExport(await inputOf(state, "read state", stateAdvice), sourceOf(state));
    const title = titleOf(options.stack, resources, state);
    return {
      title,
      engine: "pulumi",
      ...settingsIn(lastConfigOf(resources), folder, options.stack ?? stackIn(resources)),
      resources,
    };
  }
  const stack = await local.read();
  return {
    title: `stack ${stack.name}`,
    engine: "local",
    ...settingsIn(lastConfigOf(stack.resources), stack.folder, stack.name),
    resources: stack.resources,
  };
}

/** Returns the names of the stacks that the Pulumi CLI keeps of a project. @throws MerchantRulesError: it failed, with its own words */
export async function pulumiStacks(folder: string): Promise<string[]> {
  const listed = await pulumi(["stack", "ls", "--json"], {}, folder);
  const stacks = z.array(z.object({ name: z.string() })).parse(JSON.parse(listed));
  return stacks.map(({ name }) => name);
}

/** Adds to an error about a stack that is not there the names of those that are. */
async function namingStacks(error: MerchantRulesError, folder: string): Promise<MerchantRulesError> {
  if (!/no stack (named|selected)/.test(error.reason)) return error;
  const names = await pulumiStacks(folder).catch((failed: unknown) => {
    if (isMerchantRulesError(failed)) return [];
    throw failed;
  });
  return error.with({
    advice:
      names.length === 0
        ? "make a stack, for the project has none yet: pulumi stack init dev"
        : `name one of the project's stacks with --stack (there are: ${names.join(", ")})`,
  });
}

/** Returns the name of the stack of resources, as the URN of the first has it. */
export function stackIn([first]: readonly { readonly urn: string }[]): string | undefined {
  return first?.urn.split("::")[0]?.replace(/^urn:pulumi:/, "");
}

/** Returns the name of their project. */
export function projectIn([first]: readonly { readonly urn: string }[]): string | undefined {
  return first?.urn.split("::")[1];
}

/** Returns a stack in words for reports: `stack dev`; for a state without resources, the file that holds it. */
export function titleOf(
  stack: string | undefined,
  resources: readonly { readonly urn: string }[],
  file?: string,
): string {
  if (resources.length === 0 && file !== undefined) return sourceOf(file);
  const name = stack ?? stackIn(resources);
  return name === undefined ? "the selected stack" : `stack ${name}`;
}

function settingsIn(
  { texts, undecrypted }: LastConfig,
  folder: string,
  stack: string | undefined,
): Pick<Stack, "sources" | "undecrypted"> {
  return {
    sources: { ...environmentAlone(folder), config: (key) => texts.get(key), stack },
    undecrypted: undecrypted.filter((key) => key.startsWith("merchant-rules:")),
  };
}

/** Returns a file that the user named in words: `standard input` for `-`. */
export function sourceOf(file: string): string {
  return file === "-" ? "standard input" : file;
}

/** The advice for a state that is given by a file. */
export const stateAdvice = "name a file that holds what `pulumi stack export` prints, or - for standard input";

/** Finds the engine that keeps the stack: the one in the options, else Pulumi where its CLI is on the PATH, else the local one. */
export function engineOf({ engine, backend }: StackOptions): Engine {
  if (engine !== undefined) return engine;
  const folders = (process.env.PATH ?? "").split(process.platform === "win32" ? ";" : ":");
  const names = process.platform === "win32" ? ["pulumi.exe", "pulumi.cmd"] : ["pulumi"];
  const isThere = folders.some((folder) => names.some((name) => folder !== "" && existsSync(join(folder, name))));
  return isThere && backend === undefined ? "pulumi" : "local";
}

/** Returns the name of the stack, where its own variables may count; the CLI is asked for it only then. */
async function pulumiStack(options: StackOptions, folder: string): Promise<string | undefined> {
  const isAnyGiven = Object.keys(process.env).some((variable) => variable.startsWith(stackPrefix));
  if (options.stack !== undefined || !isAnyGiven) return options.stack;
  return await nameOfStack(options, folder);
}

async function nameOfStack(options: StackOptions, folder: string): Promise<string> {
  return (await pulumi(["stack", "--show-name"], options, folder)).trim();
}

async function pulumiConfig(options: StackOptions, folder: string): Promise<SettingsSources["config"]> {
  const shown: unknown = JSON.parse(await pulumi(["config", "--json", "--show-secrets"], options, folder));
  return (key) => {
    const entry = typeof shown === "object" && shown !== null ? new Map(Object.entries(shown)).get(key) : undefined;
    if (typeof entry !== "object" || entry === null || !("value" in entry)) return undefined;
    return typeof entry.value === "string" ? entry.value : undefined;
  };
}

/** Runs the Pulumi CLI on the stack. @returns what it printed. @throws MerchantRulesError: it failed, with its own words */
export async function pulumi(words: readonly string[], options: StackOptions, folder: string): Promise<string> {
  const { stdout, failure } = await runPulumi(words, options, folder);
  if (failure !== undefined) throw failure;
  return stdout;
}

/** Runs the Pulumi CLI on the stack. @returns what it printed, and where it failed, why, in its own words */
export async function runPulumi(
  words: readonly string[],
  { stack }: StackOptions,
  folder: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<{ readonly stdout: string; readonly failure: MerchantRulesError | undefined }> {
  const named = stack === undefined ? [] : ["--stack", stack];
  const child = spawn("pulumi", [...words, ...named, "--non-interactive", "--color", "never"], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | string>((done) => {
    child.on("error", (error) => done(error.message));
    child.on("close", (code) => done(code ?? "a signal"));
  });
  const [stdout, stderr, how] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (how === 0) return { stdout, failure: undefined };
  const why = stderr.trim().replace(/^error: /, "") || `it ended with ${how}`;
  const failure = new MerchantRulesError("SETTINGS_INVALID", why, {
    attempted: `pulumi ${[...words, ...named].join(" ")}`,
    advice:
      "name the stack with --stack and the project's folder with --cwd; --engine local reads a stack of the local engine",
  });
  return { stdout, failure: await namingStacks(failure, folder) };
}
