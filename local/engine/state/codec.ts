import { z } from "zod";
import { findNotJson, pathOf } from "../../../sdk/rules/index.ts";
import { printable } from "../../../sdk/rules/printable.ts";
import { EngineError, messageOf } from "../errors.ts";
import { unsupported } from "../unsupported.ts";
import {
  isArray,
  mapValues,
  type PropertyMap,
  type PropertyValue,
  ResourceReference,
  Secret,
  Unknown,
  unknown,
} from "../values/value.ts";
import { readReference, referenceSignature, secretSignature, signatureKey, unknownText } from "../values/wire.ts";
import type { Crypter, Decrypter } from "./crypter.ts";
import type { OperationType, PendingOperation, ResourceState } from "./resource-state.ts";

const texts = z.array(z.string());
const timeouts = z.object({ create: z.number(), update: z.number(), delete: z.number(), read: z.number() }).partial();

/** Not a record, of which the schema would drop a key called `__proto__` without a word. */
const properties = z.custom<{ [key: string]: unknown }>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "expected an object",
);

/** One resource in a checkpoint. Keys that are not named here are kept. */
export const resourceSchema = z.looseObject({
  urn: z.string().min(1),
  custom: z.boolean(),
  type: z.string().min(1),
  id: z.string().default(""),
  inputs: properties.default({}),
  outputs: properties.default({}),
  parent: z.string().default(""),
  protect: z.boolean().default(false),
  external: z.boolean().default(false),
  delete: z.boolean().default(false),
  pendingReplacement: z.boolean().default(false),
  dependencies: texts.nullish(),
  propertyDependencies: z.record(z.string(), texts.nullable()).nullish(),
  provider: z.string().default(""),
  initErrors: texts.nullish(),
  additionalSecretOutputs: texts.nullish(),
  aliases: texts.nullish(),
  customTimeouts: timeouts.nullish(),
  retainOnDelete: z.boolean().default(false),
  deletedWith: z.string().default(""),
  ignoreChanges: texts.nullish(),
  replaceOnChanges: texts.nullish(),
  created: z.string().optional(),
  modified: z.string().optional(),
  sourcePosition: z.string().default(""),
});

const knownKeys = new Set(Object.keys(resourceSchema.shape));

export const operationSchema = z.looseObject({
  resource: resourceSchema,
  type: z.enum(["creating", "updating", "deleting", "reading", "importing"]),
});

export type StoredResource = z.infer<typeof resourceSchema>;
export type Stored = { [key: string]: unknown };

/** Stands for a key that is not at hand: each secret is one whose value is unknown. */
export const noKey: Decrypter = { decrypt: () => JSON.stringify(unknownText) };

/** Reads one resource; secrets are decrypted. */
export function decodeResource(stored: StoredResource, crypter: Decrypter | undefined): ResourceState {
  return {
    urn: stored.urn,
    type: stored.type,
    custom: stored.custom,
    id: stored.id,
    inputs: decodeMap(stored.inputs, stored.urn, crypter),
    outputs: decodeMap(stored.outputs, stored.urn, crypter),
    parent: stored.parent,
    protect: stored.protect,
    delete: stored.delete,
    pendingReplacement: stored.pendingReplacement,
    dependencies: stored.dependencies ?? [],
    propertyDependencies: mapValues(stored.propertyDependencies ?? {}, (urns) => urns ?? []),
    provider: stored.provider,
    initErrors: stored.initErrors ?? [],
    additionalSecretOutputs: stored.additionalSecretOutputs ?? [],
    aliases: stored.aliases ?? [],
    customTimeouts: readTimeouts(stored.customTimeouts),
    retainOnDelete: stored.retainOnDelete,
    deletedWith: stored.deletedWith,
    ignoreChanges: stored.ignoreChanges ?? [],
    replaceOnChanges: stored.replaceOnChanges ?? [],
    created: stored.created,
    modified: stored.modified,
    sourcePosition: stored.sourcePosition,
    rest: restOf(stored),
  };
}

function restOf(stored: StoredResource): ResourceState["rest"] {
  const rest = Object.fromEntries(Object.entries(stored).filter(([key]) => !knownKeys.has(key)));
  const odd = findNotJson(rest);
  if (odd === undefined) return rest;
  throw new EngineError("STATE_INVALID", `${stored.urn} ${printable(pathOf(odd.path), 100)} holds ${odd.found}`);
}

function readTimeouts(stored: z.infer<typeof timeouts> | null | undefined): ResourceState["customTimeouts"] {
  if (stored === null || stored === undefined) return undefined;
  const { create, update, delete: remove, read } = stored;
  return {
    ...(create === undefined ? {} : { create }),
    ...(update === undefined ? {} : { update }),
    ...(remove === undefined ? {} : { delete: remove }),
    ...(read === undefined ? {} : { read }),
  };
}

/** Writes one resource in the CLI's key order; keys with nothing to say are left out, as the CLI does. */
export function encodeResource(state: ResourceState, crypter: Crypter | undefined): Stored {
  const all: [string, unknown, boolean][] = [
    ["delete", state.delete, state.delete],
    ["id", state.id, state.id !== ""],
    ["type", state.type, true],
    ["inputs", encodeMap(state.inputs, crypter), Object.keys(state.inputs).length > 0],
    ["outputs", encodeMap(state.outputs, crypter), Object.keys(state.outputs).length > 0],
    ["parent", state.parent, state.parent !== ""],
    ["protect", state.protect, state.protect],
    ["dependencies", state.dependencies, state.dependencies.length > 0],
    ["initErrors", state.initErrors, state.initErrors.length > 0],
    ["provider", state.provider, state.provider !== ""],
    ["propertyDependencies", state.propertyDependencies, Object.keys(state.propertyDependencies).length > 0],
    ["pendingReplacement", state.pendingReplacement, state.pendingReplacement],
    ["additionalSecretOutputs", state.additionalSecretOutputs, state.additionalSecretOutputs.length > 0],
    ["aliases", state.aliases, state.aliases.length > 0],
    ["customTimeouts", state.customTimeouts, state.customTimeouts !== undefined],
    ["retainOnDelete", state.retainOnDelete, state.retainOnDelete],
    ["deletedWith", state.deletedWith, state.deletedWith !== ""],
    ["created", state.created, state.created !== undefined],
    ["modified", state.modified, state.modified !== undefined],
    ["sourcePosition", state.sourcePosition, state.sourcePosition !== ""],
    ["ignoreChanges", state.ignoreChanges, state.ignoreChanges.length > 0],
    ["replaceOnChanges", state.replaceOnChanges, state.replaceOnChanges.length > 0],
  ];
  const stored: Stored = { urn: state.urn, custom: state.custom };
  for (const [key, value, present] of all) if (present) stored[key] = value;
  return { ...stored, ...state.rest };
}

export function encodeOperation({ resource, type }: PendingOperation, crypter: Crypter | undefined): Stored {
  return { resource: encodeResource(resource, crypter), type };
}

export function decodeOperation(
  stored: { resource: StoredResource; type: OperationType },
  crypter: Decrypter | undefined,
): PendingOperation {
  return { resource: decodeResource(stored.resource, crypter), type: stored.type };
}

/** What opens a stored secret: a key, nothing, or (inside another secret, which was encrypted as a whole) the text itself. */
type Opener = Decrypter | "plain" | undefined;

function decodeMap(stored: { [key: string]: unknown }, urn: string, crypter: Opener): PropertyMap {
  return mapValues(stored, (value, key) => decodeValue(value, `${urn} ${key}`, crypter));
}

/** Far more than a definition may nest, and far less than what would overflow the stack of whoever walks through it. */
const deepest = 500;

/** What tells a stored number that JSON has no word for. */
const floatSignature = "8ad145fe-0d11-4827-bfd7-1abcbf086f5c";

/** Reads one stored property. `at` says where, for errors. */
export function decodeValue(stored: unknown, at: string, crypter: Opener, depth = 0): PropertyValue {
  if (stored === null || typeof stored === "boolean") return stored;
  if (typeof stored === "number") {
    if (Number.isFinite(stored)) return stored;
    throw new EngineError("STATE_INVALID", `${at} holds a number that is too large`);
  }
  if (typeof stored === "string") return stored === unknownText ? unknown : stored;
  if (depth >= deepest) throw new EngineError("STATE_INVALID", `${at} nests deeper than ${deepest} levels`);
  if (Array.isArray(stored)) return stored.map((element) => decodeValue(element, at, crypter, depth + 1));
  if (typeof stored !== "object") throw new EngineError("STATE_INVALID", `${at} holds a ${typeof stored}`);
  const fields = Object.entries(stored);
  const field = (name: string): unknown => fields.find(([key]) => key === name)?.[1];
  const signature = field(signatureKey);
  if (signature === undefined)
    return Object.fromEntries(fields.map(([key, value]) => [key, decodeValue(value, at, crypter, depth + 1)]));
  if (signature === referenceSignature) return readReference(field, at);
  if (signature === floatSignature) return decodeNumber(field("value"), at);
  if (signature === secretSignature) return decodeSecret(field("ciphertext"), field("plaintext"), at, crypter, depth);
  throw unsupported(
    "value in state",
    `the state of ${at} holds an asset, an archive or a value of another kind, which`,
  );
}

function decodeSecret(ciphertext: unknown, plaintext: unknown, at: string, crypter: Opener, depth: number): Secret {
  let text: string;
  if (typeof ciphertext === "string") {
    if (crypter === undefined)
      throw new EngineError("STATE_INVALID", `${at} holds a secret, but the state names no secrets provider`);
    text = crypter === "plain" ? ciphertext : decrypt(ciphertext, at, crypter);
  } else if (typeof plaintext === "string") text = plaintext;
  else throw new EngineError("STATE_INVALID", `${at} holds a secret with neither ciphertext nor plaintext`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Without a cause, which would quote the secret.
    throw new EngineError("STATE_INVALID", `${at} holds a secret that is not JSON`);
  }
  const kept = typeof ciphertext === "string" && crypter !== "plain" ? ciphertext : undefined;
  return new Secret(decodeValue(value, at, "plain", depth + 1), kept);
}

function decrypt(ciphertext: string, at: string, crypter: Decrypter): string {
  try {
    return crypter.decrypt(ciphertext);
  } catch (error) {
    const code = error instanceof EngineError ? error.code : "STATE_INVALID";
    throw new EngineError(code, `${at}: ${messageOf(error)}`);
  }
}

/** Writes properties; a secret is encrypted once, and keeps its text from then on. */
export function encodeMap(map: PropertyMap, crypter: Crypter | undefined): Stored {
  return mapValues(map, (value) => encodeValue(value, crypter));
}

function encodeValue(value: PropertyValue, crypter: Crypter | undefined): unknown {
  if (typeof value === "number") return encodeNumber(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Unknown) return unknownText;
  if (value instanceof Secret) {
    if (crypter === undefined)
      throw new EngineError("PASSPHRASE", "a secret cannot be stored: this stack has no secrets provider");
    value.ciphertext ??= crypter.encrypt(JSON.stringify(plain(value.element)));
    return { [signatureKey]: secretSignature, ciphertext: value.ciphertext };
  }
  if (value instanceof ResourceReference) return encodeReference(value);
  if (isArray(value)) return value.map((element) => encodeValue(element, crypter));
  return encodeMap(value, crypter);
}

/** JSON has no word for NaN and the infinities: they are stored by their bits, NaN by those that it has on the wire. */
function encodeNumber(value: number): unknown {
  if (Number.isFinite(value)) return value;
  const bits = Buffer.alloc(8);
  bits.writeDoubleBE(value);
  return { [signatureKey]: floatSignature, value: Number.isNaN(value) ? "7fffffffffffffff" : bits.toString("hex") };
}

function decodeNumber(bits: unknown, at: string): number {
  if (typeof bits === "string" && /^[0-9a-f]{16}$/.test(bits)) return Buffer.from(bits, "hex").readDoubleBE();
  throw new EngineError("STATE_INVALID", `${at} holds a number that cannot be read`);
}

function encodeReference({ urn, id, packageVersion }: ResourceReference): Stored {
  const known = id === undefined ? {} : { id: typeof id === "string" ? id : "" };
  return { [signatureKey]: referenceSignature, urn, packageVersion, ...known };
}

/** What is inside a secret: secrets in it keep their mark, but are not encrypted a second time. */
function plain(value: PropertyValue): unknown {
  if (typeof value === "number") return encodeNumber(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Unknown) return unknownText;
  if (value instanceof Secret)
    return { [signatureKey]: secretSignature, plaintext: JSON.stringify(plain(value.element)) };
  if (value instanceof ResourceReference) return encodeReference(value);
  if (isArray(value)) return value.map(plain);
  return mapValues(value, plain);
}
