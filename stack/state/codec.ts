import { z } from "zod";
import { findNotJson, pathOf } from "../../sdk/json/index.ts";
import { printable } from "../../sdk/json/printable.ts";
import { EngineError, messageOf } from "../errors.ts";
import { unsupported } from "../unsupported.ts";
import {
  isArray,
  mapValues,
  type PropertyMap,
  type PropertyValue,
  property,
  ResourceReference,
  Secret,
  Unknown,
  unknown,
} from "../values/value.ts";
import { readReference, referenceSignature, secretSignature, signatureKey, unknownText } from "../values/wire.ts";
import type { Crypter, Decrypter } from "./crypter.ts";
import {
  knownSchema,
  operationTypeSchema,
  type PendingOperation,
  type ResourceState,
  resourceSchema,
  type StoredResource,
} from "./resource-state.ts";

export const operationSchema = z.looseObject({ resource: resourceSchema, type: operationTypeSchema });
export type Stored = { [key: string]: unknown };

/** Stands for a key that is not at hand: each secret is one whose value is unknown. */
export const noKey: Decrypter = { decrypt: () => JSON.stringify(unknownText) };

const knownKeys = Object.keys(knownSchema.shape);

/** Reads one resource; secrets are decrypted. */
export function decodeResource(stored: StoredResource, crypter: Decrypter | undefined): ResourceState {
  const { inputs, outputs, external: _external, ...known } = knownSchema.parse(stored);
  const rest = Object.fromEntries(Object.entries(stored).filter(([key]) => !knownKeys.includes(key)));
  const odd = findNotJson(rest);
  if (odd !== undefined)
    throw new EngineError("STATE_INVALID", `${stored.urn} ${printable(pathOf(odd.path), 100)} holds ${odd.found}`);
  return {
    ...known,
    inputs: decodeMap(inputs, stored.urn, crypter),
    outputs: decodeMap(outputs, stored.urn, crypter),
    rest,
  };
}

/** Keys that are written even where they are empty. */
const alwaysWritten = new Set(["urn", "custom", "type", "customTimeouts", "created", "modified"]);

/** Writes one resource in the CLI's key order; keys with nothing to say are left out, as the CLI does. */
export function encodeResource(state: ResourceState, crypter: Crypter | undefined): Stored {
  const { rest, inputs, outputs, ...plain } = state;
  const all: Stored = { ...plain, inputs: encodeMap(inputs, crypter), outputs: encodeMap(outputs, crypter) };
  const written = knownKeys.filter((key) => !isEmpty(all[key]) || (alwaysWritten.has(key) && all[key] !== undefined));
  return { ...Object.fromEntries(written.map((key) => [key, all[key]])), ...rest };
}

function isEmpty(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === false || value === "";
}

export function decodeOperation(
  { resource, type }: z.infer<typeof operationSchema>,
  crypter: Decrypter | undefined,
): PendingOperation {
  return { resource: decodeResource(resource, crypter), type };
}

/** The means to open a stored secret: a key, nothing, or (inside another secret) the text itself. */
type Opener = Decrypter | "plain" | undefined;

function decodeMap(stored: { [key: string]: unknown }, urn: string, crypter: Opener): PropertyMap {
  return mapValues(stored, (value, key) => decodeValue(value, `${urn} ${key}`, crypter));
}

/** Far more than a definition may nest, and far less than what would overflow the stack of whoever walks through it. */
const deepest = 500;

/** The signature of a stored number that JSON has no word for. */
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
  const fields: Stored = { ...stored };
  const signature = property(fields, signatureKey);
  if (signature === undefined) return mapValues(fields, (value) => decodeValue(value, at, crypter, depth + 1));
  if (signature === referenceSignature) return readReference(fields, at);
  if (signature === floatSignature) return decodeNumber(fields.value, at);
  if (signature === secretSignature) return decodeSecret(fields, at, crypter, depth);
  throw unsupported(
    "value in state",
    `the state of ${at} holds an asset, an archive or a value of another kind, which`,
  );
}

function decodeSecret({ ciphertext, plaintext }: Stored, at: string, crypter: Opener, depth: number): Secret {
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
  return mapValues(map, (value) => encodeValue(value, (secret) => ({ ciphertext: sealed(secret, crypter) })));
}

function sealed(secret: Secret, crypter: Crypter | undefined): string {
  if (crypter === undefined)
    throw new EngineError("PASSPHRASE", "a secret cannot be stored: this stack has no secrets provider");
  secret.ciphertext ??= crypter.encrypt(open(secret));
  return secret.ciphertext;
}

/** Writes the content of a secret as JSON: secrets in it keep their mark, but are not encrypted a second time. */
function open({ element }: Secret): string {
  return JSON.stringify(encodeValue(element, (inner) => ({ plaintext: open(inner) })));
}

function encodeValue(value: PropertyValue, encodeSecret: (secret: Secret) => Stored): unknown {
  if (typeof value === "number") return encodeNumber(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Unknown) return unknownText;
  if (value instanceof Secret) return { [signatureKey]: secretSignature, ...encodeSecret(value) };
  if (value instanceof ResourceReference) {
    const { urn, id, packageVersion } = value;
    const known = id === undefined ? {} : { id: typeof id === "string" ? id : "" };
    return { [signatureKey]: referenceSignature, urn, packageVersion, ...known };
  }
  if (isArray(value)) return value.map((element) => encodeValue(element, encodeSecret));
  return mapValues(value, (element) => encodeValue(element, encodeSecret));
}

/** Writes a number. JSON has no word for NaN and the infinities: they are stored by their bits, NaN by those that it has on the wire. */
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
