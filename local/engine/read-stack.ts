import { resolve } from "node:path";
import { EngineError } from "./errors.ts";
import { open, openCrypters, saltOf } from "./open.ts";
import { chooseBackend, chooseStack, readPassphrase } from "./project/choice.ts";
import { readProject } from "./project/project.ts";
import { applyConfig, type Config, readStackFile } from "./project/stack-config.ts";
import { parseExport } from "./state/checkpoint.ts";
import { decodeResource, noKey } from "./state/codec.ts";
import { openCrypter } from "./state/crypter.ts";
import type { ResourceState } from "./state/resource-state.ts";
import { readStack as readStored } from "./state/store.ts";

export interface StackChoice {
  /** The project's folder, or one below it. Default: the working directory. */
  readonly cwd?: string | undefined;
  readonly stack?: string | undefined;
  readonly backendUrl?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
}

/** A stack as it is stored. Nothing is locked and nothing is written. */
export interface StoredStackView {
  /** The stack's name. */
  readonly name: string;
  /** The folder of its Pulumi.yaml. */
  readonly folder: string;
  readonly config: Config;
  /** The resources in state; none where the stack has never been applied. */
  readonly resources: readonly ResourceState[];
}

/**
 * Reads a stack's configuration and state.
 * @throws EngineError: no project, several stacks to choose from, a wrong passphrase, a broken file; STACK_NOT_FOUND:
 * the stack was named, and neither its state nor its stack file exists
 */
export async function readStack(choice: StackChoice): Promise<StoredStackView> {
  const { env = process.env } = choice;
  const cwd = resolve(choice.cwd ?? process.cwd());
  const project = await readProject(cwd);
  const backend = await chooseBackend(project, choice.backendUrl, env, cwd);
  const stack = await chooseStack(project, backend, choice.stack, env);
  const stackFile = await readStackFile(project, stack.name);
  const stored = await readStored(backend, stack);
  if (!stored.exists && stackFile.text === undefined) {
    const others = await backend.stacks(project.name);
    const there = others.length === 0 ? "it has none yet" : `there are: ${others.join(", ")}`;
    const what = `there is no stack ${stack.name} of project ${project.name} in ${backend.folder}`;
    throw new EngineError("STACK_NOT_FOUND", `${what}. What to do: name one of its stacks with --stack (${there})`);
  }
  const crypters = await openCrypters(stored, stackFile, () => readPassphrase(env, cwd), true);
  const config = applyConfig(project, stackFile, stack.name, crypters.config);
  const { resources } = await open({ backend, stack, stackFile, stored, crypters, preview: true });
  return { name: stack.name, folder: project.root, config, resources };
}

/**
 * The resources in what `pulumi stack export` printed; of those that no dynamic provider has, without properties, which
 * may be of kinds that are not known here. A secret that cannot be decrypted here is a secret whose value is
 * unknown: without the passphrase, or with another secrets provider, only
 * `pulumi stack export --show-secrets` shows it.
 * @throws EngineError STATE_INVALID, naming the source; PASSPHRASE: the passphrase is wrong
 */
export async function readExport(text: string, source: string, env = process.env): Promise<readonly ResourceState[]> {
  const checkpoint = parseExport(text, source);
  const hasPassphrase = env.PULUMI_CONFIG_PASSPHRASE !== undefined || env.PULUMI_CONFIG_PASSPHRASE_FILE !== undefined;
  // To derive the key takes half a second, and an export with --show-secrets has nothing to decrypt.
  const isEncrypted = text.includes('"ciphertext"') && checkpoint.secretsProvider?.type === "passphrase";
  const salt = hasPassphrase && isEncrypted ? saltOf(checkpoint) : undefined;
  const decrypter = salt === undefined ? noKey : await openCrypter(await readPassphrase(env, process.cwd()), salt);
  return checkpoint.resources.map((resource) => {
    const isDynamic = resource.type.startsWith("pulumi-nodejs:") || resource.type === "pulumi:providers:pulumi-nodejs";
    return decodeResource(isDynamic ? resource : { ...resource, inputs: {}, outputs: {} }, decrypter);
  });
}
