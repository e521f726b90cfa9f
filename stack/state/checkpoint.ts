import { hash } from "node:crypto";
import { z } from "zod";
import { findNotJson, pathOf } from "../../sdk/rules/index.ts";
import { whyNotJson } from "../../sdk/rules/json.ts";
import { printable } from "../../sdk/rules/printable.ts";
import { describeIssues, EngineError } from "../errors.ts";
import { unsupported } from "../unsupported.ts";
import { encodeOperation, encodeResource, operationSchema, type Stored } from "./codec.ts";
import type { Crypter } from "./crypter.ts";
import { type PendingOperation, type ResourceState, resourceSchema, type StoredResource } from "./resource-state.ts";

/** The engine whose state format this is. The CLI checks that `magic` is the hash of `version`. */
const formatVersion = "v3.260.0";

const manifestSchema = z.looseObject({ time: z.string(), magic: z.string(), version: z.string() });

const deploymentSchema = z.looseObject({
  manifest: manifestSchema.optional(),
  secrets_providers: z.looseObject({ type: z.string(), state: z.unknown() }).nullish(),
  resources: z.array(resourceSchema).nullish(),
  pending_operations: z.array(operationSchema).nullish(),
});

const checkpointSchema = z.looseObject({ stack: z.string(), latest: deploymentSchema.nullish() });

const fileSchema = z.looseObject({ version: z.number(), checkpoint: z.unknown() });

const exportSchema = fileSchema.extend({ checkpoint: z.unknown().optional(), deployment: z.unknown().optional() });

/** A checkpoint as it was read: what this engine works with, and everything else to be written back. */
export interface Checkpoint {
  readonly resources: readonly StoredResource[];
  readonly pendingOperations: readonly z.infer<typeof operationSchema>[];
  readonly secretsProvider: { readonly type: string; readonly state: unknown } | undefined;
  /** Keys of the checkpoint and of its deployment that this engine does not use. */
  readonly rest: { readonly checkpoint: Stored; readonly latest: Stored };
}

export const emptyCheckpoint: Checkpoint = {
  resources: [],
  pendingOperations: [],
  secretsProvider: undefined,
  rest: { checkpoint: {}, latest: {} },
};

type Fail = (why: string) => EngineError;

/** Reads a state file. Fails, naming the file, on text that is not a whole checkpoint of version 3. */
export function parseCheckpoint(text: string, file: string): Checkpoint {
  const fail = (why: string): EngineError =>
    new EngineError(
      "STATE_INVALID",
      `the state file ${file} cannot be read: ${why}. It was not changed; ${file}.bak holds the state before it`,
    );
  const { version, checkpoint } = valid(fileSchema, parsed(text, fail), fail);
  return checkpointOf(version, checkpoint, file, fail);
}

/** Reads what `pulumi stack export` prints, or a state file. Fails, naming the source, on anything else. */
export function parseExport(text: string, source: string): Checkpoint {
  const fail = (why: string): EngineError =>
    new EngineError(
      "STATE_INVALID",
      `the state in ${source} cannot be read: ${why}. What to do: give what \`pulumi stack export\` prints`,
    );
  const { version, ...found } = valid(exportSchema, parsed(text, fail), fail);
  const checkpoint = found.deployment === undefined ? found.checkpoint : { stack: "", latest: found.deployment };
  return checkpointOf(version, checkpoint, source, fail);
}

function parsed(text: string, fail: Fail): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw fail(`it is not JSON: ${printable(whyNotJson(error))}`);
  }
}

function valid<T>(schema: z.ZodType<T>, value: unknown, fail: Fail): T {
  const result = schema.safeParse(value);
  if (!result.success) throw fail(describeIssues(result.error));
  return result.data;
}

function checkpointOf(version: number, value: unknown, file: string, fail: Fail): Checkpoint {
  if (version !== 3) {
    const older = version < 3 ? ", which the CLI updates by itself," : "";
    throw unsupported("state version", `version ${version} of the state format (${file})${older}`);
  }
  const { stack: _stack, latest, ...checkpoint } = valid(checkpointSchema, value, fail);
  const { manifest: _manifest, secrets_providers, resources, pending_operations, ...rest } = latest ?? {};
  const odd = findNotJson({ checkpoint, latest: rest });
  if (odd !== undefined) throw fail(`${printable(pathOf(odd.path), 100)} holds ${odd.found}`);
  return {
    resources: resources ?? [],
    pendingOperations: pending_operations ?? [],
    secretsProvider: secrets_providers ?? undefined,
    rest: { checkpoint, latest: rest },
  };
}

/** The state that a run writes. */
export interface Snapshot {
  readonly resources: readonly ResourceState[];
  readonly pendingOperations: readonly PendingOperation[];
}

/** Writes a state file as the CLI does: one line, keys in its order. `stack` is `organization/<project>/<stack>`. */
export function formatCheckpoint(
  stack: string,
  snapshot: Snapshot,
  rest: Checkpoint["rest"],
  crypter: Crypter | undefined,
): string {
  const resources = snapshot.resources.map((resource) => encodeResource(resource, crypter));
  const operations = snapshot.pendingOperations.map((operation) => encodeOperation(operation, crypter));
  const latest: Stored = {
    manifest: { time: new Date().toISOString(), magic: hash("sha256", formatVersion), version: formatVersion },
  };
  if (crypter !== undefined) latest.secrets_providers = { type: "passphrase", state: { salt: crypter.salt } };
  if (resources.length > 0) latest.resources = resources;
  if (operations.length > 0) latest.pending_operations = operations;
  const { metadata = {}, ...others } = rest.latest;
  latest.metadata = metadata;
  return JSON.stringify({ version: 3, checkpoint: { stack, ...rest.checkpoint, latest: { ...latest, ...others } } });
}
