import { resolve } from "node:path";
import { EngineError, messageOf } from "../errors.ts";
import { Backend, type StackName } from "../state/backend.ts";
import { readIfThere } from "../state/files.ts";
import { type Project, readProject } from "./project.ts";
import { readStackFile, type StackFile } from "./stack-config.ts";

/** The names by which a call chooses its stack. */
export interface StackChoice {
  /** The project's folder, or one below it. Default: the working directory. */
  readonly cwd?: string | undefined;
  /** Default: what the Pulumi.yaml there says. */
  readonly project?: Project | undefined;
  readonly stack?: string | undefined;
  /** A `file://` URL. */
  readonly backendUrl?: string | undefined;
  /** As readStackFile has it. Default: false */
  readonly withoutSecrets?: boolean | undefined;
  /** Default: this process's environment. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** The stack of a call, which need not exist. */
interface Chosen {
  readonly project: Project;
  readonly backend: Backend;
  readonly stack: StackName;
  readonly stackFile: StackFile;
}

/**
 * Finds the project, backend and stack of a call, and reads the stack's file. The state is not read.
 * @throws EngineError: no project, several stacks to choose from, another backend than files, a broken file
 */
export async function choose(choice: StackChoice): Promise<Chosen> {
  const { env = process.env } = choice;
  const cwd = resolve(choice.cwd ?? process.cwd());
  const project = choice.project ?? (await readProject(cwd));
  const backend = await chooseBackend(project, choice.backendUrl, env, cwd);
  const stack = await chooseStack(project, backend, choice.stack, env);
  return { project, backend, stack, stackFile: await readStackFile(project, stack.name, choice.withoutSecrets) };
}

/** Opens the backend of a call: as given, `PULUMI_BACKEND_URL`, `backend.url` of Pulumi.yaml, the project's folder. */
export async function chooseBackend(
  project: Project,
  given: string | undefined,
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<Backend> {
  const url = given ?? nonEmpty(env.PULUMI_BACKEND_URL);
  if (url !== undefined) return await Backend.open(url, cwd);
  return await Backend.open(project.backendUrl ?? `file://${project.root}`, project.root);
}

/**
 * Chooses the stack of a call: as given, `PULUMI_STACK`, the only one that the project has, or `dev` when it has none. A name
 * may be qualified: `organization/<stack>` or `organization/<project>/<stack>`.
 */
export async function chooseStack(
  project: Project,
  backend: Backend,
  given: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<StackName> {
  const name = given ?? nonEmpty(env.PULUMI_STACK);
  if (name !== undefined) return parseStackName(name, project);
  const stacks = await backend.stacks(project.name);
  if (stacks.length > 1)
    throw new EngineError(
      "BAD_CALL",
      `project ${project.name} has several stacks (${stacks.join(", ")}): name one with --stack`,
    );
  return { project: project.name, name: stacks[0] ?? "dev" };
}

/** Makes the error about a stack that is not there, with those that are. */
export async function noSuchStack(project: Project, backend: Backend, { name }: StackName): Promise<EngineError> {
  const others = await backend.stacks(project.name);
  const there = others.length === 0 ? "it has none yet" : `there are: ${others.join(", ")}`;
  const what = `there is no stack ${name} of project ${project.name} in ${backend.folder}`;
  return new EngineError("STACK_NOT_FOUND", `${what}. What to do: name one of its stacks with --stack (${there})`);
}

function parseStackName(text: string, project: Project): StackName {
  const parts = text.split("/");
  const name = parts.pop() ?? "";
  const [organization = "organization", ofProject = project.name, ...more] = parts;
  const fail = (why: string): EngineError =>
    new EngineError("BAD_CALL", `"${text}" is not a stack of this project: ${why}`);
  if (more.length > 0) throw fail("a name has at most three parts");
  if (organization !== "organization")
    throw fail('the organization of a self-managed backend is called "organization"');
  if (ofProject !== project.name) throw fail(`the project here is ${project.name}`);
  if (!/^[A-Za-z0-9_.-]{1,100}$/.test(name))
    throw fail("a stack's name has letters, digits, dots, dashes and underscores only");
  return { project: project.name, name };
}

/** Reads the passphrase of the environment: `PULUMI_CONFIG_PASSPHRASE`, which may be empty, or the file that `…_FILE` names. */
export async function readPassphrase(env: NodeJS.ProcessEnv, cwd: string): Promise<string> {
  if (env.PULUMI_CONFIG_PASSPHRASE !== undefined) return env.PULUMI_CONFIG_PASSPHRASE;
  const file = nonEmpty(env.PULUMI_CONFIG_PASSPHRASE_FILE);
  if (file === undefined) {
    throw new EngineError(
      "PASSPHRASE",
      "the passphrase of the stack is missing: set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE",
    );
  }
  let text: string | undefined;
  try {
    text = await readIfThere(resolve(cwd, file));
  } catch (error) {
    throw new EngineError("PASSPHRASE", `PULUMI_CONFIG_PASSPHRASE_FILE cannot be read: ${messageOf(error)}`);
  }
  if (text === undefined)
    throw new EngineError("PASSPHRASE", `PULUMI_CONFIG_PASSPHRASE_FILE names ${file}, which does not exist`);
  return text.trim();
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : text;
}
