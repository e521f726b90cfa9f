import { EngineError } from "../errors.ts";
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
} from "./value.ts";

/** The key that says that an object on the wire, or in state, stands for something else. */
export const signatureKey = "4dabf18193072939515e22adb298388d";
export const secretSignature = "1b47061264138c4ac30d75fd1eb44270";
const outputSignature = "d0e6a833031e9bbcd3f4e8bde6ca49a4";
export const referenceSignature = "5cf8f73096256a8f31e491e813e4eb8e";
const assetSignature = "c44067f5952c0a294b673a41bacd8c17";
const archiveSignature = "0def7320c3a5731c473e5ecbe6d01bc7";

export const unknownText = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const unknownTexts = new Set([
  unknownText,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
]);

/** What arrives in a protobuf Struct: JSON, checked while it is read. */
export type WireMap = { readonly [key: string]: unknown };

/**
 * Reads properties from the protocol. Output values become what they hold; `onDependencies` hears of the resources that
 * an output value names. Fails on assets and archives.
 */
export function fromWire(map: WireMap, onDependencies?: (key: string, urns: readonly string[]) => void): PropertyMap {
  return mapValues(map, (value, key) => readValue(value, key, (urns) => onDependencies?.(key, urns)));
}

function readValue(value: unknown, at: string, onDependencies: (urns: readonly string[]) => void): PropertyValue {
  switch (typeof value) {
    case "string":
      return unknownTexts.has(value) ? unknown : value;
    case "number":
    case "boolean":
      return value;
    case "object":
      break;
    default:
      throw new EngineError("FAILED", `property "${at}" holds a ${typeof value}`);
  }
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((element, i) => readValue(element, `${at}[${i}]`, onDependencies));
  const fields = Object.entries(value);
  const field = (name: string): unknown => fields.find(([key]) => key === name)?.[1];
  const signature = field(signatureKey);
  if (signature === undefined) {
    return Object.fromEntries(
      fields.map(([key, element]) => [key, readValue(element, `${at}.${key}`, onDependencies)]),
    );
  }
  switch (signature) {
    case secretSignature:
      return new Secret(readValue(field("value") ?? null, at, onDependencies));
    case outputSignature: {
      const dependencies = field("dependencies");
      if (Array.isArray(dependencies)) onDependencies(dependencies.filter((urn) => typeof urn === "string"));
      const known = fields.some(([key]) => key === "value");
      const element = known ? readValue(field("value"), at, onDependencies) : unknown;
      return field("secret") === true ? new Secret(element) : element;
    }
    case referenceSignature:
      return readReference(field, at);
    case assetSignature:
    case archiveSignature:
      throw unsupported("asset", `the asset or archive in property "${at}"`);
    default:
      throw unsupported("asset", `the value in property "${at}" (signature ${String(signature)})`);
  }
}

/** Shared by the protocol and state, which write references alike. */
export function readReference(field: (name: string) => unknown, at: string): ResourceReference {
  const [urn, id, version] = [field("urn"), field("id"), field("packageVersion")];
  if (typeof urn !== "string") throw new EngineError("STATE_INVALID", `the resource reference at "${at}" has no URN`);
  const known = typeof id === "string" ? (unknownTexts.has(id) || id === "" ? unknown : id) : undefined;
  return new ResourceReference(urn, known, typeof version === "string" ? version : "");
}

export interface WireOptions {
  /** Whether the receiver knows secrets; if not, it gets what they hold. */
  readonly secrets: boolean;
  /** Whether the receiver knows references; if not, it gets the id, or the URN of a component. */
  readonly references: boolean;
  /** Whether unknown values are sent; if not, they are left out. */
  readonly unknowns: boolean;
}

/** Everything that the Node SDK understands. */
export const toProgram: WireOptions = { secrets: true, references: true, unknowns: true };

/** What the dynamic provider host understands; unknowns only reach it in a preview. */
export function toProvider(preview: boolean): WireOptions {
  return { secrets: false, references: false, unknowns: preview };
}

/** Writes properties for the protocol. */
export function toWire(map: PropertyMap, options: WireOptions): { [key: string]: WireValue } {
  const entries: [string, WireValue][] = [];
  for (const [key, value] of Object.entries(map)) {
    const written = writeValue(value, options);
    if (written !== undefined) entries.push([key, written]);
  }
  return Object.fromEntries(entries);
}

export type WireValue = null | boolean | number | string | WireValue[] | { [key: string]: WireValue };

function writeValue(value: PropertyValue, options: WireOptions): WireValue | undefined {
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
    const reference: { [key: string]: WireValue } = { [signatureKey]: referenceSignature, urn: value.urn };
    if (value.packageVersion !== "") reference.packageVersion = value.packageVersion;
    if (value.id !== undefined) reference.id = value.id instanceof Unknown ? "" : (id ?? "");
    return reference;
  }
  if (isArray(value))
    return value.map((element) => writeValue(element, options)).filter((element) => element !== undefined);
  return toWire(value, options);
}
