import { resolve } from "node:path";
import { choose, noSuchStack, readPassphrase, type StackChoice } from "../project/choice.ts";
import { applyConfig, type Config } from "../project/stack-config.ts";
import { parseExport } from "../state/checkpoint.ts";
import { decodeResource, noKey } from "../state/codec.ts";
import { openCrypter } from "../state/crypter.ts";
import { defaultProviderName, defaultProviderType, isDynamic, type ResourceState } from "../state/resource-state.ts";
import { readStack as readStored } from "../state/store.ts";
import { parseUrn } from "../state/urn.ts";
import { containsUnknown, reveal } from "../values/value.ts";
import { open, openCrypters, saltOf } from "./open.ts";

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
  const { project, backend, stack, stackFile } = await choose(choice);
  const stored = await readStored(backend, stack);
  if (!stored.exists && stackFile.text === undefined) {
    throw await noSuchStack(project, backend, stack);
  }
  const crypters = await openCrypters(stored, stackFile, () => readPassphrase(env, cwd), true);
  const config = applyConfig(project, stackFile, stack.name, crypters.config);
  const { resources } = await open({ backend, stack, stackFile, stored, crypters, preview: true });
  return { name: stack.name, folder: project.root, config, resources };
}

/**
 * Reads the resources in what `pulumi stack export` printed. Those that no dynamic provider has come without properties,
 * which may be of kinds that are not known here, but where `whole` asks for them. A secret that cannot be decrypted here,
 * without the passphrase or with another secrets provider, is a secret whose value is unknown.
 * @throws EngineError STATE_INVALID, naming the source; PASSPHRASE: the passphrase is wrong; UNSUPPORTED: where `whole`, a
 * property of a kind that is not known here
 */
export async function readExport(text: string, source: string, whole = false): Promise<readonly ResourceState[]> {
  const { env } = process;
  const checkpoint = parseExport(text, source);
  const hasPassphrase = env.PULUMI_CONFIG_PASSPHRASE !== undefined || env.PULUMI_CONFIG_PASSPHRASE_FILE !== undefined;
  // To derive the key takes half a second, and an export with --show-secrets has nothing to decrypt.
  const isEncrypted = text.includes('"ciphertext"') && checkpoint.secretsProvider?.type === "passphrase";
  const salt = hasPassphrase && isEncrypted ? saltOf(checkpoint) : undefined;
  const decrypter = salt === undefined ? noKey : await openCrypter(await readPassphrase(env, process.cwd()), salt);
  return checkpoint.resources.map((resource) =>
    decodeResource(isDynamic(resource.type) || whole ? resource : { ...resource, inputs: {}, outputs: {} }, decrypter),
  );
}

/** The configuration with which the program of a stack ran last. */
export interface LastConfig {
  /** By whole key; secrets are plain here. */
  readonly texts: ReadonlyMap<string, string>;
  /** The keys of secrets that could not be decrypted. */
  readonly undecrypted: readonly string[];
}

/** Reads the last configuration from a state, where the engine keeps it as the inputs of the default provider. */
export function lastConfigOf(resources: readonly ResourceState[]): LastConfig {
  const stored = resources.find(
    ({ urn, type }) => type === defaultProviderType && parseUrn(urn).name === defaultProviderName,
  );
  return configIn(stored?.inputs ?? {});
}

/** Reads the settings in the inputs of a provider. */
export function configIn(properties: ResourceState["inputs"]): LastConfig {
  const inputs = Object.entries(properties);
  return {
    texts: new Map(
      inputs.flatMap(([key, value]) => {
        const text = reveal(value);
        return typeof text === "string" ? [[key, text]] : [];
      }),
    ),
    undecrypted: inputs.filter(([, value]) => containsUnknown(value)).map(([key]) => key),
  };
}
