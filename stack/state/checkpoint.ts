import { hash } from "node:crypto";
import { z } from "zod";
import { defined, findNotJson, pathOf } from "../../sdk/json/index.ts";
import { whyNotJson } from "../../sdk/json/json.ts";
import { printable } from "../../sdk/json/printable.ts";
import { describeIssues, EngineError } from "../errors.ts";
import { unsupported } from "../unsupported.ts";
import { operationSchema, type Stored } from "./codec.ts";
import type { Crypter } from "./crypter.ts";
import { type PendingOperation, type ResourceState, resourceSchema, type StoredResource } from "./resource-state.ts";
import { ResourceTexts } from "./resource-texts.ts";

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

/**
 * Writes a state file as the CLI does: one line, keys in its order. `stack` is `organization/<project>/<stack>`; `texts`
 * knows the resources' texts.
 */
export function formatCheckpoint(
  stack: string,
  { resources, pendingOperations }: Snapshot,
  rest: Checkpoint["rest"],
  crypter: Crypter | undefined,
  texts = new ResourceTexts(crypter),
): string {
  const operations = pendingOperations.map(({ resource, type }) =>
    objectOf([["resource", texts.of(resource)], ...textsOf({ type })]),
  );
  const { metadata = {}, ...others } = rest.latest;
  const latest = [
    ...textsOf({
      manifest: { time: new Date().toISOString(), magic: hash("sha256", formatVersion), version: formatVersion },
      ...defined({ secrets_providers: crypter && { type: "passphrase", state: { salt: crypter.salt } } }),
    }),
    ...listOf(
      "resources",
      resources.map((resource) => texts.of(resource)),
    ),
    ...listOf("pending_operations", operations),
    ...textsOf({ metadata, ...others }),
  ];
  const checkpoint = [...textsOf({ stack, ...rest.checkpoint }), ["latest", objectOf(latest)] as const];
  return objectOf([...textsOf({ version: 3 }), ["checkpoint", objectOf(checkpoint)]]);
}

/** A key with the JSON text of its value. */
type Field = readonly [key: string, text: string];

function textsOf(fields: Stored): Field[] {
  return Object.entries(fields).map(([key, value]) => [key, JSON.stringify(value)]);
}

/** Writes a list; one that is empty is left out, as the CLI does. */
function listOf(key: string, texts: readonly string[]): Field[] {
  return texts.length === 0 ? [] : [[key, `[${commas(texts)}]`]];
}

function objectOf(fields: readonly Field[]): string {
  return `{${commas(fields.map(([key, text]) => `${JSON.stringify(key)}:${text}`))}}`;
}

/** Joins texts by commas. Array.join would copy the whole state at each level. */
function commas([first = "", ...others]: readonly string[]): string {
  let text = first;
  for (const each of others) text += `,${each}`;
  return text;
}
