import type { Json, JsonObject } from "../../sdk/json/index.ts";
import { EngineError } from "../errors.ts";
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
} from "./value.ts";

/** The key that says that an object on the wire, or in state, stands for something else. */
export const signatureKey = "4dabf18193072939515e22adb298388d";
export const secretSignature = "1b47061264138c4ac30d75fd1eb44270";
export const referenceSignature = "5cf8f73096256a8f31e491e813e4eb8e";
const assetSignature = "c44067f5952c0a294b673a41bacd8c17";
const archiveSignature = "0def7320c3a5731c473e5ecbe6d01bc7";

/** The only one of Pulumi's seven that the Node SDK writes and knows. */
export const unknownText = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** The content of a protobuf Struct: JSON, checked while it is read. */
export type WireMap = { readonly [key: string]: unknown };

/** Reads properties from the protocol. Fails on assets and archives; output values cannot come. */
export function fromWire(map: WireMap): PropertyMap {
  return mapValues(map, readValue);
}

function readValue(value: unknown, at: string): PropertyValue {
  switch (typeof value) {
    case "string":
      return value === unknownText ? unknown : value;
    case "number":
    case "boolean":
      return value;
    case "object":
      break;
    default:
      throw new EngineError("FAILED", `property "${at}" holds a ${typeof value}`);
  }
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((element, i) => readValue(element, `${at}[${i}]`));
  const fields: WireMap = { ...value };
  const signature = property(fields, signatureKey);
  switch (signature) {
    case undefined:
      return mapValues(fields, (element, key) => readValue(element, `${at}.${key}`));
    case secretSignature:
      return new Secret(readValue(property(fields, "value") ?? null, at));
    case referenceSignature:
      return readReference(fields, at);
    case assetSignature:
    case archiveSignature:
      throw unsupported("asset", `the asset or archive in property "${at}"`);
    default:
      throw unsupported("asset", `the value in property "${at}" (signature ${String(signature)})`);
  }
}

/** Reads a reference, which the protocol and state write alike. */
export function readReference({ urn, id, packageVersion: version }: WireMap, at: string): ResourceReference {
  if (typeof urn !== "string") throw new EngineError("STATE_INVALID", `the resource reference at "${at}" has no URN`);
  const known = typeof id === "string" ? (id === unknownText || id === "" ? unknown : id) : undefined;
  return new ResourceReference(urn, known, typeof version === "string" ? version : "");
}

export interface WireOptions {
  /** True where the receiver knows secrets; if not, it gets what a secret holds. */
  readonly secrets: boolean;
  /** True where the receiver knows resource references; if not, it gets the resource's id, or its URN. */
  readonly references: boolean;
  /** True where unknown values are sent; if not, they are left out. */
  readonly unknowns: boolean;
}

/** Everything that the Node SDK understands. */
export const toProgram: WireOptions = { secrets: true, references: true, unknowns: true };

/** The wire form that a policy pack gets from Pulumi's own engine. */
export const toPolicies: WireOptions = { secrets: true, references: false, unknowns: true };

/** Returns the wire form that the dynamic provider host understands; unknowns only reach it in a preview. */
export function toProvider(preview: boolean): WireOptions {
  return { secrets: false, references: false, unknowns: preview };
}

/** Writes properties for the protocol. */
export function toWire(map: PropertyMap, options: WireOptions): JsonObject {
  const entries: [string, Json][] = [];
  for (const [key, value] of Object.entries(map)) {
    const written = writeValue(value, options);
    if (written !== undefined) entries.push([key, written]);
  }
  return Object.fromEntries(entries);
}

function writeValue(value: PropertyValue, options: WireOptions): Json | undefined {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Unknown) return options.unknowns ? unknownText : undefined;
  if (value instanceof Secret) {
    const element = writeValue(value.element, options);
    if (!options.secrets || element === undefined) return element;
    return { [signatureKey]: secretSignature, value: element };
  }
  if (value instanceof ResourceReference) {
    const id = value.id === undefined ? undefined : writeValue(value.id, options);
    if (!options.references) return id ?? value.urn;
    return {
      [signatureKey]: referenceSignature,
      urn: value.urn,
      ...(value.packageVersion === "" ? {} : { packageVersion: value.packageVersion }),
      ...(value.id === undefined ? {} : { id: value.id instanceof Unknown ? "" : (id ?? "") }),
    };
  }
  if (isArray(value))
    return value.map((element) => writeValue(element, options)).filter((element) => element !== undefined);
  return toWire(value, options);
}
