import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { defined } from "../../../sdk/json/index.ts";
import { EngineError } from "../../../stack/errors.ts";
import { open, openCrypters } from "../../../stack/open/open.ts";
import { choose, readPassphrase, type StackChoice } from "../../../stack/project/choice.ts";
import { applyConfig, type Config } from "../../../stack/project/stack-config.ts";
import type { StackName } from "../../../stack/state/backend.ts";
import { decodeResource } from "../../../stack/state/codec.ts";
import type { Crypter } from "../../../stack/state/crypter.ts";
import { takeLock } from "../../../stack/state/lock.ts";
import {
  defaultProviderName,
  defaultProviderType,
  providerReference,
  type ResourceState,
  resourceSchema,
  stackType,
} from "../../../stack/state/resource-state.ts";
import { readStack } from "../../../stack/state/store.ts";
import { isHiddenProvider, makeUrn, parseUrn } from "../../../stack/state/urn.ts";
import type { PropertyMap } from "../../../stack/values/value.ts";
import { keepHistory } from "./history.ts";
import { type ImportedResource, readImportFile } from "./import-file.ts";
import { providerConfig } from "./run.ts";

export interface ImportOptions extends StackChoice {
  /** A file for `pulumi import --file`. */
  readonly file: string;
  /** Looks whether it could be done, and writes nothing. */
  readonly previewOnly?: boolean | undefined;
  /** Told what a user must know besides. */
  readonly inform?: (severity: "info" | "warning", message: string) => void;
}

export interface ImportResult {
  readonly stack: string;
  /** True where the stack, as a resource, is new. */
  readonly isNewStack: boolean;
  /** The resources that are taken into the state, in order. */
  readonly imported: readonly ResourceState[];
}

/**
 * Takes dynamic resources that exist already into a stack's state, as `pulumi import --file` does for entries that have
 * inputs and outputs: no provider is asked. The stack is made where it does not exist.
 * @throws EngineError: a bad file; BAD_CALL: a resource is in the state already; and whatever keeps a run from beginning
 */
export async function importResources(options: ImportOptions): Promise<ImportResult> {
  const started = performance.now();
  const { env = process.env, inform = () => {} } = options;
  const cwd = resolve(options.cwd ?? process.cwd());
  const preview = options.previewOnly === true;
  const entries = await readImportFile(resolve(cwd, options.file));
  const { project, backend, stack, stackFile } = await choose(options);
  const lock = preview ? undefined : await takeLock(backend, stack, (message) => inform("warning", message));
  try {
    const stored = await readStack(backend, stack);
    const crypters = await openCrypters(stored, stackFile, () => readPassphrase(env, cwd), preview);
    const config = applyConfig(project, stackFile, stack.name, crypters.config);
    // Imports that would be refused are refused before the stack is made.
    added(entries, { stack, config, crypter: crypters.state, base: stored.checkpoint.resources });
    const opened = await open({ backend, stack, stackFile, stored, crypters, preview });
    if (opened.created) inform("info", `Created stack '${stack.name}'`);
    if (opened.recovered !== undefined) inform("warning", opened.recovered);
    const { ledger, store, resources } = opened;
    const { roots, imported } = added(entries, { stack, config, crypter: crypters.state, base: resources });
    const isNewStack = roots.some(({ type }) => type === stackType);
    if (!preview) {
      ledger.rebase([...resources, ...roots, ...imported]);
      await store.rewrite(ledger);
      await store.finish(ledger);
      const same = resources.filter(({ urn, delete: isGone }) => !isHiddenProvider(urn) && !isGone).length;
      const changes = defined({
        import: imported.length,
        create: isNewStack ? 1 : undefined,
        same: same === 0 ? undefined : same,
      });
      const durationMs = performance.now() - started;
      keepHistory(backend, stack, { kind: "resource-import", durationMs, config, ok: true, changes }, env);
    }
    return { stack: stack.name, isNewStack, imported };
  } finally {
    lock?.release();
  }
}

interface Into {
  readonly stack: StackName;
  readonly config: Config;
  readonly crypter: Crypter | undefined;
  /** The resources in state. */
  readonly base: readonly Pick<ResourceState, "urn" | "id" | "type" | "delete">[];
}

/** Returns the resources to add, and what they need: the stack and the default provider, where the state lacks them. */
function added(entries: readonly ImportedResource[], { stack, config, crypter, base }: Into) {
  const { project, name } = stack;
  const now = new Date().toISOString();
  const there = new Map(base.flatMap((each) => (each.delete ? [] : [[each.urn, each] as const])));
  const roots: ResourceState[] = [];
  const root = (type: string, called: string, more: Partial<ResourceState>) => {
    const urn = makeUrn(name, project, "", type, called);
    const found = there.get(urn);
    if (found !== undefined) return found;
    const made = { ...decodeResource(resourceSchema.parse({ urn, type, custom: "id" in more }), undefined), ...more };
    roots.push({ ...made, created: now, modified: now });
    return made;
  };
  const stackUrn = root(stackType, `${project}-${name}`, {}).urn;
  const settings: PropertyMap = providerConfig(config);
  const provider = root(defaultProviderType, defaultProviderName, {
    id: randomUUID(),
    inputs: settings,
    outputs: settings,
  });
  const urns = new Map<string, string>();
  const imported = entries.map(({ parent, protect = false, ...entry }): ResourceState => {
    const parentUrn = (parent === undefined ? undefined : urns.get(parent)) ?? stackUrn;
    const urn = makeUrn(name, project, parseUrn(parentUrn).qualifiedType, entry.type, entry.name);
    if (there.has(urn)) {
      const advice =
        "What to do: export again, or take it out of the file; `npx --no-install merchant-rules local preview` shows what is in the stack";
      throw new EngineError("BAD_CALL", `${urn} is in the state of stack ${name} already. ${advice}`, { urn });
    }
    urns.set(entry.name, urn);
    const given = { ...entry, urn, custom: true, parent: parentUrn, protect, created: now, modified: now };
    return decodeResource(resourceSchema.parse({ ...given, provider: providerReference(provider) }), crypter);
  });
  return { roots, imported };
}
