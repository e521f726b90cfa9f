import { existsSync, statSync } from "node:fs";
import { basename, dirname, extname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { projectFolderAbove } from "../../provider/settings/project-folder.ts";
import { MerchantRulesError } from "../../sdk/errors.ts";
import { type Project, readProject } from "../../stack/project/project.ts";

/** A Pulumi program: a project's folder, a file, or a function. A relative path begins at the working directory. */
export type Program = string | URL | (() => unknown);

/** A program as the engine runs it. */
export interface ProgramToRun {
  readonly project: Project;
  /** Undefined for a program that runs in a process of its own. */
  readonly inlineProgram: (() => unknown) | undefined;
}

/**
 * Finds a program, and what its `Pulumi.yaml` says. The settings of its stacks (`Pulumi.<stack>.yaml`) are not read: they
 * name real services.
 * @param stackFolder where the stack's settings are instead
 * @param name the project's name, where it is given
 * @throws MerchantRulesError SETTINGS_INVALID: there is no such program; EngineError: its Pulumi.yaml is broken
 */
export async function programToRun(program: Program, stackFolder: string, name?: string): Promise<ProgramToRun> {
  const isInline = typeof program === "function";
  const found = isInline ? bare(process.cwd(), ".") : await projectAt(pathOf(program));
  const project = { ...found, name: name ?? found.name, stackConfigFolder: stackFolder, backendUrl: undefined };
  return { project, inlineProgram: isInline ? program : undefined };
}

function pathOf(program: string | URL): string {
  return program instanceof URL ? fileURLToPath(program) : resolve(program);
}

async function projectAt(path: string): Promise<Project> {
  if (!existsSync(path)) throw noProgram(path, "there is no such file or folder");
  const isFile = statSync(path).isFile();
  const folder = isFile ? dirname(path) : path;
  if (projectFolderAbove(folder) !== undefined) {
    const project = await readProject(folder);
    return isFile ? { ...project, programFolder: folder, entryPoint: basename(path) } : project;
  }
  if (isFile && programExtensions.has(extname(path))) return bare(folder, basename(path));
  throw noProgram(path, isFile ? "it is no JavaScript or TypeScript" : "there is no Pulumi.yaml in it, or above it");
}

const programExtensions = new Set([".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"]);

/** Returns a project without a Pulumi.yaml. Node itself then takes the types out of TypeScript. */
function bare(folder: string, entryPoint: string): Project {
  return {
    name: "test",
    root: folder,
    programFolder: folder,
    entryPoint,
    typescript: false,
    tsconfig: undefined,
    nodeArguments: [],
    config: new Map(),
    backendUrl: undefined,
    stackConfigFolder: folder,
  };
}

function noProgram(path: string, reason: string): MerchantRulesError {
  return new MerchantRulesError("SETTINGS_INVALID", reason, {
    attempted: `run the program ${path}`,
    advice: "give the folder of a Pulumi.yaml, the program's file, or a function",
  });
}
