import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { z } from "zod";
import { describeIssues, EngineError, messageOf } from "../errors.ts";
import { unsupported } from "../unsupported.ts";
import { parseYaml } from "../yaml-file.ts";

/** A configuration key as Pulumi.yaml declares it. `value` is what stacks get that do not set the key themselves. */
export interface DeclaredConfig {
  readonly value: unknown;
  readonly type: string | undefined;
  readonly secret: boolean;
}

/** The content of a Pulumi.yaml that a run needs. */
export interface Project {
  readonly name: string;
  /** The folder of Pulumi.yaml. */
  readonly root: string;
  /** The program's folder, and the entry point in it (`.` leaves it to package.json). */
  readonly programFolder: string;
  readonly entryPoint: string;
  readonly typescript: boolean;
  readonly tsconfig: string | undefined;
  readonly nodeArguments: readonly string[];
  /** By full key, `<namespace>:<name>`. */
  readonly config: ReadonlyMap<string, DeclaredConfig>;
  readonly backendUrl: string | undefined;
  /** The folder of the Pulumi.<stack>.yaml files. */
  readonly stackConfigFolder: string;
}

const runtimeOptionsSchema = z.looseObject({
  typescript: z.boolean().optional(),
  tsconfig: z.string().optional(),
  nodeargs: z.string().optional(),
});

const runtimeSchema = z.union([
  z.string().transform((name) => ({ name, options: undefined })),
  z.looseObject({ name: z.string(), options: runtimeOptionsSchema.optional() }),
]);

const projectSchema = z.looseObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,100}$/, "a project's name has letters, digits, dots, dashes and underscores only"),
  runtime: runtimeSchema,
  main: z.string().optional(),
  config: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
  stackConfigDir: z.string().optional(),
  backend: z.looseObject({ url: z.string().optional() }).nullish(),
});

/** Finds and reads the Pulumi.yaml of a folder or of one above it. */
export async function readProject(cwd: string): Promise<Project> {
  const file = findUpwards(cwd);
  if (file === undefined)
    throw new EngineError(
      "BAD_CALL",
      `no Pulumi.yaml was found in ${resolve(cwd)} or above it: give the project's folder with --cwd`,
    );
  const root = dirname(file);
  const parsed = projectSchema.safeParse(parseYaml(await read(file), file));
  if (!parsed.success)
    throw new EngineError("PROJECT_INVALID", `${file} is not a Pulumi project: ${describeIssues(parsed.error)}`);
  const { name, runtime, main, config, stackConfigDir, backend } = parsed.data;
  if (runtime.name === "bun")
    throw new EngineError(
      "PROJECT_INVALID",
      `${file} has the runtime "bun", in which merchant rules do not run, here or with the Pulumi CLI: write runtime: nodejs`,
    );
  if (runtime.name !== "nodejs") throw unsupported("runtime", `the runtime "${runtime.name}" (${file})`);
  const { folder, entryPoint } = programOf(root, main, file);
  const options = runtime.options ?? runtimeOptionsSchema.parse({});
  return {
    name,
    root,
    programFolder: folder,
    entryPoint,
    typescript: options.typescript ?? true,
    tsconfig: options.tsconfig,
    nodeArguments: (options.nodeargs ?? "").split(/\s+/).filter((word) => word !== ""),
    config: typeof config === "string" ? new Map() : declaredConfig(name, config ?? {}, file),
    backendUrl: backend?.url,
    stackConfigFolder: join(root, stackConfigDir ?? (typeof config === "string" ? config : "")),
  };
}

function findUpwards(cwd: string): string | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    for (const name of ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"]) {
      const file = join(folder, name);
      if (existsSync(file)) return file;
    }
    if (folder === dirname(folder)) return undefined;
  }
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new EngineError("PROJECT_INVALID", `${file} cannot be read: ${messageOf(error)}`);
  }
}

/** Finds the program that `main` names: a folder, or a file in one; without it the project's folder. */
function programOf(root: string, main: string | undefined, file: string): { folder: string; entryPoint: string } {
  if (main === undefined || main === "") return { folder: root, entryPoint: "." };
  const path = resolve(root, main);
  if (!existsSync(path)) throw new EngineError("PROJECT_INVALID", `${file}: main names ${path}, which does not exist`);
  if (statSync(path).isDirectory()) return { folder: path, entryPoint: "." };
  return { folder: dirname(path), entryPoint: basename(path) };
}

const declarationSchema = z.looseObject({
  type: z.string().optional(),
  default: z.unknown().optional(),
  value: z.unknown().optional(),
  secret: z.boolean().optional(),
});

function declaredConfig(
  project: string,
  config: { [key: string]: unknown },
  file: string,
): Map<string, DeclaredConfig> {
  const declared = new Map<string, DeclaredConfig>();
  for (const [name, raw] of Object.entries(config)) {
    const key = name.includes(":") ? name : `${project}:${name}`;
    const short = raw === null || typeof raw !== "object" || Array.isArray(raw);
    const { data } = declarationSchema.safeParse(short ? { value: raw ?? undefined } : raw);
    if (data === undefined)
      throw new EngineError("PROJECT_INVALID", `${file}: config ${name} is neither a value nor a declaration`);
    const { type, default: preset, value, secret } = data;
    if (preset !== undefined && value !== undefined)
      throw new EngineError("PROJECT_INVALID", `${file}: config ${name} has both a default and a value; give one`);
    if (!key.startsWith(`${project}:`) && value === undefined) {
      throw new EngineError(
        "PROJECT_INVALID",
        `${file}: config ${name} is of another namespace than the project, and must give a value`,
      );
    }
    declared.set(key, { value: preset ?? value, type, secret: secret ?? false });
  }
  return declared;
}
