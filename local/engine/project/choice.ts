import { resolve } from "node:path";
import { EngineError, messageOf } from "../errors.ts";
import { Backend, type StackName } from "../state/backend.ts";
import { readIfThere } from "../state/files.ts";
import type { Project } from "./project.ts";

/** The backend of a call: as given, `PULUMI_BACKEND_URL`, `backend.url` of Pulumi.yaml, the project's folder. */
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
 * The stack of a call: as given, `PULUMI_STACK`, the only one that the project has, or `dev` when it has none. A name
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

/** The passphrase of the environment: `PULUMI_CONFIG_PASSPHRASE`, which may be empty, or the file that `…_FILE` names. */
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
