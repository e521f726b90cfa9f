import { copyFileSync, existsSync, rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { describeIssues, EngineError, systemCode } from "../errors.ts";
import { unsupported } from "../unsupported.ts";
import { parseYaml } from "../yaml-file.ts";
import { makeFolderDurably, type Replacement, readIfThere, replaceAtomically, writeAtomically } from "./files.ts";

const metaSchema = z.looseObject({ version: z.number() });

/** A stack in the self-managed backend, whose organization is always called `organization`. */
export interface StackName {
  readonly project: string;
  readonly name: string;
}

/** The CLI's self-managed backend on a folder: `.pulumi` with layout version 1 (stacks in folders of their project). */
export class Backend {
  /** The folder that holds `.pulumi`. */
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * Opens a `file://` backend: an absolute path, a path relative to `cwd`, or `~` for the home folder. Fails on every
   * other kind of backend, and on a layout that is not version 1. Creates nothing.
   */
  static async open(url: string, cwd: string): Promise<Backend> {
    const backend = new Backend(folderOf(url, cwd));
    const meta = await readIfThere(join(backend.root, "meta.yaml"));
    if (meta === undefined) {
      const stacks = await entries(join(backend.root, "stacks"));
      if (stacks.some((name) => name.endsWith(".json")))
        throw unsupported("backend layout", `the backend ${backend.folder}, whose layout has no .pulumi/meta.yaml,`);
      return backend;
    }
    const file = join(backend.root, "meta.yaml");
    const parsed = metaSchema.safeParse(parseYaml(meta, file, "STATE_INVALID"));
    if (!parsed.success)
      throw new EngineError("STATE_INVALID", `${file} cannot be read: ${describeIssues(parsed.error)}`);
    const { version } = parsed.data;
    if (version !== 1) throw unsupported("backend layout", `version ${version} of the backend layout (${file})`);
    return backend;
  }

  get root(): string {
    return join(this.folder, ".pulumi");
  }

  stackFile(stack: StackName): string {
    return join(this.root, "stacks", stack.project, `${stack.name}.json`);
  }

  journalFile(stack: StackName): string {
    return `${this.stackFile(stack)}.journal`;
  }

  lockFolder(stack: StackName): string {
    return join(this.root, "locks", "organization", stack.project, stack.name);
  }

  /** Reads the names of a project's stacks, in order. */
  async stacks(project: string): Promise<string[]> {
    const names = await entries(join(this.root, "stacks", project));
    return names
      .filter((name) => name.endsWith(".json"))
      .map((name) => name.slice(0, -".json".length))
      .sort();
  }

  /** Reads the text of a stack's checkpoint; undefined when there is no such stack. */
  async read(stack: StackName): Promise<string | undefined> {
    const file = this.stackFile(stack);
    for (const extension of [".gz", ".zst"]) {
      if (existsSync(file + extension))
        throw unsupported("compressed state", `the compressed state ${file}${extension}`);
    }
    return await readIfThere(file);
  }

  /** Keeps a stack's checkpoint as `.bak`, as the CLI does. @returns whether there is one */
  backUp(stack: StackName): boolean {
    const file = this.stackFile(stack);
    if (!existsSync(file)) return false;
    copyFileSync(file, `${file}.bak`);
    return true;
  }

  /** Replaces a stack's checkpoint. */
  async write(stack: StackName, text: Buffer, how: Replacement): Promise<void> {
    const file = this.stackFile(stack);
    makeFolderDurably(join(this.root, "stacks", stack.project));
    if (!existsSync(join(this.root, "meta.yaml"))) writeAtomically(join(this.root, "meta.yaml"), "version: 1\n");
    await replaceAtomically(file, text, how);
    // The CLI's file store keeps a checksum beside each file; one that no longer fits must not stay.
    for (const stale of [`${file}.attrs`, `${file}.bak.attrs`]) rmSync(stale, { force: true });
  }
}

function folderOf(url: string, cwd: string): string {
  if (!url.startsWith("file://")) {
    throw unsupported("backend", `the backend ${url.replace(/\/\/[^@/]*@/, "//")} (only file:// is)`);
  }
  const path = url.slice("file://".length).split("?")[0] ?? "";
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return resolve(cwd, path === "" ? "." : path);
}

async function entries(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}
