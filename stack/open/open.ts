import { EngineError } from "../errors.ts";
import { type StackFile, writeEncryptionSalt } from "../project/stack-config.ts";
import type { Backend, StackName } from "../state/backend.ts";
import type { Checkpoint } from "../state/checkpoint.ts";
import { type Crypter, newCrypter, openCrypter } from "../state/crypter.ts";
import { Ledger } from "../state/ledger.ts";
import { isDynamic, type ResourceState, type StoredResource } from "../state/resource-state.ts";
import { StateStore, type StoredStack } from "../state/store.ts";
import { unsupported } from "../unsupported.ts";

export interface Opened {
  readonly store: StateStore;
  readonly ledger: Ledger;
  readonly resources: readonly ResourceState[];
  readonly created: boolean;
  readonly recovered: string | undefined;
}

export interface Crypters {
  readonly config: Crypter | undefined;
  readonly state: Crypter | undefined;
}

/** Decrypts the state, and creates the stack where it is new. */
export async function open(call: {
  backend: Backend;
  stack: StackName;
  stackFile: StackFile;
  stored: StoredStack;
  crypters: Crypters;
  preview: boolean;
}): Promise<Opened> {
  const { backend, stack, stackFile, stored, crypters, preview } = call;
  refuseForeign(stored.checkpoint.resources);
  const store = new StateStore(backend, stack, stored, crypters.state);
  const { snapshot, recovered } = await store.open(!preview);
  const created = !stored.exists && !preview;
  if (crypters.config !== undefined && stackFile.encryptionSalt === undefined && !preview) {
    writeEncryptionSalt(stackFile, crypters.config.salt);
  }
  if (created) await store.create();
  return { store, ledger: new Ledger(snapshot), resources: snapshot.resources, created, recovered };
}

/** Derives the keys of the stack file's secrets and of the state's; they are one, but for a stack file that was made anew. */
export async function openCrypters(
  stored: StoredStack,
  stackFile: StackFile,
  passphrase: () => Promise<string>,
  preview: boolean,
): Promise<Crypters> {
  const stateSalt = saltOf(stored.checkpoint);
  const fileSalt = stackFile.encryptionSalt;
  if (fileSalt === undefined && stateSalt === undefined) {
    if (preview) return { config: undefined, state: undefined };
    const crypter = await newCrypter(await passphrase());
    return { config: crypter, state: crypter };
  }
  const text = await passphrase();
  const state = await openCrypter(text, stateSalt ?? fileSalt ?? "");
  const config = fileSalt === undefined || fileSalt === state.salt ? state : await openCrypter(text, fileSalt);
  return { config, state };
}

/** Returns the salt that a state names; undefined where it holds no secrets. */
export function saltOf({ secretsProvider: provider }: Checkpoint): string | undefined {
  if (provider === undefined || provider.type === "") return undefined;
  if (provider.type !== "passphrase")
    throw unsupported("secrets provider", `the secrets provider "${provider.type}" of the state`);
  const { state } = provider;
  if (typeof state === "object" && state !== null && "salt" in state && typeof state.salt === "string")
    return state.salt;
  throw new EngineError("STATE_INVALID", "the state names the passphrase secrets provider, but no salt");
}

/** Fails, by name, on resources in state that belong to another provider than the dynamic one. */
function refuseForeign(resources: readonly StoredResource[]): void {
  for (const { urn, type, custom, external } of resources) {
    if (!custom) continue;
    if (!isDynamic(type))
      throw unsupported("resource in state", `the resource type ${type}, which the state of this stack holds,`, urn);
    if (external)
      throw unsupported(
        "resource in state",
        "a resource that was read, not created, which the state of this stack holds,",
        urn,
      );
  }
}
