import { isSecret, Output, output } from "@pulumi/pulumi/output.js";
import { type Pointer, pointerOf } from "../../sdk/json/index.ts";

/**
 * Lists the places of a declared value at which the program has secrets; undefined where it has none. Of a promise that
 * is rejected nothing is listed: the value itself fails the program.
 */
export function declaredSecrets(value: unknown): Promise<Pointer[] | undefined> | undefined {
  const deferred = deferredIn(value);
  if (deferred.length === 0) return undefined;
  const listed = deferred.map(async ({ path, value: each }) => {
    const isHidden = await isSecret(output(each)).catch(() => false);
    return isHidden ? [pointerOf(path)] : [];
  });
  return Promise.all(listed).then((pointers) => (pointers.flat().length === 0 ? undefined : pointers.flat().sort()));
}

interface Deferred {
  readonly path: readonly string[];
  readonly value: unknown;
}

function deferredIn(value: unknown, path: readonly string[] = []): Deferred[] {
  if (typeof value !== "object" || value === null) return [];
  if (Output.isInstance(value) || value instanceof Promise) return [{ path, value }];
  return Object.entries(value).flatMap(([key, child]) => deferredIn(child, [...path, key]));
}
