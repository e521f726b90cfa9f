import { resolve } from "node:path";
import { EngineError } from "../errors.ts";
import { chooseBackend, chooseStack, readPassphrase, type StackChoice } from "../project/choice.ts";
import { readProject } from "../project/project.ts";
import { applyConfig, type Config, readStackFile } from "../project/stack-config.ts";
import { openCrypter } from "../state/crypter.ts";

/** The name of a stack, and the key of its secrets. */
export interface StackIdentity {
  readonly project: string;
  readonly stack: string;
  /** The local engine keeps no stack of the project yet: its first import or up makes this one. */
  readonly isFirst: boolean;
  /** The folder of its Pulumi.yaml. */
  readonly folder: string;
  /** The folder in which its program runs. */
  readonly programFolder: string;
  /** Reads the config in Pulumi.yaml, for a stack that does not exist yet. */
  projectConfig(): Promise<Config>;
  /**
   * Encrypts a string as the stack's state keeps secrets. Undefined where that cannot be done here: the stack has no
   * passphrase yet, or another secrets provider, or the passphrase is not in the environment.
   */
  encrypter(): Promise<((text: string) => string) | undefined>;
}

/** Returns the names of a project's stacks in its backend, in order. @throws EngineError: no project, another backend than files */
export async function stackNames({
  cwd = process.cwd(),
  backendUrl,
  env = process.env,
}: StackChoice): Promise<string[]> {
  const project = await readProject(resolve(cwd));
  const backend = await chooseBackend(project, backendUrl, env, resolve(cwd));
  return await backend.stacks(project.name);
}

/**
 * Reads the identity of the stack that a choice names. The state is not read.
 * @param named the stack's name, where who asks knows it; else it is chosen as the local engine chooses it
 * @throws EngineError: no project, several stacks to choose from, another backend than files
 */
export async function stackIdentity(choice: StackChoice, named?: string): Promise<StackIdentity> {
  const { env = process.env } = choice;
  const cwd = resolve(choice.cwd ?? process.cwd());
  const project = await readProject(cwd);
  const backend = named === undefined ? await chooseBackend(project, choice.backendUrl, env, cwd) : undefined;
  const chosen = backend === undefined ? undefined : await chooseStack(project, backend, choice.stack, env);
  const stack = named ?? chosen?.name ?? "";
  const isFirst = backend !== undefined && (await backend.stacks(project.name)).length === 0;
  const encrypter = async (): Promise<((text: string) => string) | undefined> => {
    if (env.PULUMI_CONFIG_PASSPHRASE === undefined && env.PULUMI_CONFIG_PASSPHRASE_FILE === undefined) return undefined;
    const salt = await readStackFile(project, stack).then(
      ({ encryptionSalt }) => encryptionSalt,
      (error: unknown) => {
        if (error instanceof EngineError && error.code === "UNSUPPORTED") return undefined;
        throw error;
      },
    );
    if (salt === undefined) return undefined;
    const crypter = await openCrypter(await readPassphrase(env, cwd), salt);
    return (text) => crypter.encrypt(text);
  };
  const projectConfig = async (): Promise<Config> =>
    applyConfig(project, await readStackFile(project, stack), stack, undefined);
  return {
    project: project.name,
    stack,
    isFirst,
    folder: project.root,
    programFolder: project.programFolder,
    projectConfig,
    encrypter,
  };
}
