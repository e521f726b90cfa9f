/**
 * Property values as the engine knows them: JSON, and three things that JSON has no word for. Values are never changed
 * in place. A key whose value is null counts as absent when values are compared, as in the Pulumi engine.
 */
export type PropertyValue =
  | null
  | boolean
  | number
  | string
  | readonly PropertyValue[]
  | PropertyMap
  | Secret
  | Unknown
  | ResourceReference;

export interface PropertyMap {
  readonly [key: string]: PropertyValue;
}

/** A value that must not be shown, and is encrypted wherever it is stored. */
export class Secret {
  readonly element: PropertyValue;
  /** The encrypted form that this value has in state, so that an unchanged secret keeps its text. */
  ciphertext: string | undefined;

  constructor(element: PropertyValue, ciphertext?: string) {
    this.element = element;
    this.ciphertext = ciphertext;
  }
}

/** A value that a preview cannot know yet. */
export class Unknown {}
export const unknown = new Unknown();

/** A resource used as a value. */
export class ResourceReference {
  readonly urn: string;
  /** Undefined for a component, which has no id. */
  readonly id: PropertyValue | undefined;
  readonly packageVersion: string;

  constructor(urn: string, id: PropertyValue | undefined, packageVersion: string) {
    this.urn = urn;
    this.id = id;
    this.packageVersion = packageVersion;
  }
}

export function isArray(value: PropertyValue | undefined): value is readonly PropertyValue[] {
  return Array.isArray(value);
}

export function isMap(value: PropertyValue | undefined): value is PropertyMap {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Secret) &&
    !(value instanceof Unknown) &&
    !(value instanceof ResourceReference)
  );
}

/** Returns the own value of a key; nothing that a map inherits. */
export function property<T>(map: { readonly [key: string]: T }, key: string): T | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Returns the same map with each value replaced. `Object.fromEntries` also keeps keys like `__proto__` as plain keys. */
export function mapValues<T, R>(
  map: { readonly [key: string]: T },
  change: (value: T, key: string) => R,
): { [key: string]: R } {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]));
}

/** Rebuilds a value from the inside out: `leaf` sees every secret, unknown and reference, and gives what stands for it. */
export function rebuild(
  value: PropertyValue,
  leaf: (value: Secret | Unknown | ResourceReference) => PropertyValue,
): PropertyValue {
  if (value instanceof Secret || value instanceof Unknown || value instanceof ResourceReference) return leaf(value);
  if (isArray(value)) return value.map((element) => rebuild(element, leaf));
  if (isMap(value)) return mapValues(value, (element) => rebuild(element, leaf));
  return value;
}

function some(value: PropertyValue, found: (value: PropertyValue) => boolean): boolean {
  if (found(value)) return true;
  if (value instanceof Secret) return some(value.element, found);
  if (value instanceof ResourceReference) return value.id !== undefined && some(value.id, found);
  if (isArray(value)) return value.some((element) => some(element, found));
  return isMap(value) && Object.values(value).some((element) => some(element, found));
}

export function containsSecret(value: PropertyValue): boolean {
  return some(value, (part) => part instanceof Secret);
}

export function containsUnknown(value: PropertyValue): boolean {
  return some(value, (part) => part instanceof Unknown);
}

/** Returns the value with every secret replaced by what it holds. */
export function reveal(value: PropertyValue): PropertyValue {
  return rebuild(value, (part) => (part instanceof Secret ? reveal(part.element) : part));
}

export function revealMap(map: PropertyMap): PropertyMap {
  return mapValues(map, reveal);
}

/**
 * Marks outputs as secret where the inputs were: the same key holds a secret, at any depth of objects; an array with a
 * secret inside becomes one secret. This is for a provider that takes and gives plain values.
 */
export function annotateSecrets(outputs: PropertyMap, inputs: PropertyMap): PropertyMap {
  return mapValues(outputs, (output, key) => {
    const input = property(inputs, key);
    if (input === undefined || output instanceof Secret) return output;
    if (isMap(output) && isMap(input)) return annotateSecrets(output, input);
    return containsSecret(input) ? new Secret(output) : output;
  });
}

/** Marks the named outputs, and those whose input of the same name is one, as secret. `id` cannot be one. */
export function markSecretOutputs(outputs: PropertyMap, inputs: PropertyMap, names: readonly string[]): PropertyMap {
  return mapValues(outputs, (output, key) => {
    if (output instanceof Secret) return output;
    const named = key !== "id" && names.includes(key);
    return named || property(inputs, key) instanceof Secret ? new Secret(output) : output;
  });
}

/** Decides deep equality: a null and an absent key are the same, a secret equals only a secret of the same value. */
export function equal(a: PropertyValue, b: PropertyValue): boolean {
  if (a === b) return true;
  if (a instanceof Secret) return b instanceof Secret && equal(a.element, b.element);
  if (a instanceof Unknown) return b instanceof Unknown;
  if (a instanceof ResourceReference) {
    return b instanceof ResourceReference && a.urn === b.urn && equal(a.id ?? null, b.id ?? null);
  }
  if (isArray(a)) return isArray(b) && a.length === b.length && a.every((element, i) => equal(element, b[i] ?? null));
  if (isMap(a)) return isMap(b) && equalMaps(a, b);
  return false;
}

export function equalMaps(a: PropertyMap, b: PropertyMap): boolean {
  for (const [key, value] of Object.entries(a)) if (!equal(value, property(b, key) ?? null)) return false;
  return Object.entries(b).every(([key, value]) => value === null || Object.hasOwn(a, key));
}

/** Gives secrets of `now` the encrypted text of the equal secret at the same place of `old`, so that state does not churn. */
export function keepCiphertexts(now: PropertyValue, old: PropertyValue | undefined): void {
  if (old === undefined || typeof now !== "object" || now === null) return;
  if (now instanceof Secret) {
    if (old instanceof Secret && now.ciphertext === undefined && equal(now.element, old.element))
      now.ciphertext = old.ciphertext;
  } else if (isArray(now)) {
    if (isArray(old)) for (const [i, element] of now.entries()) keepCiphertexts(element, old[i]);
  } else if (isMap(now) && isMap(old)) {
    for (const [key, element] of Object.entries(now)) keepCiphertexts(element, property(old, key));
  }
}
