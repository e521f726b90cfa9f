import { RunError } from "@pulumi/pulumi/errors.js";
import { Output } from "@pulumi/pulumi/output.js";
import { isPlainObject, maxDepth } from "../../sdk/json/json.ts";
import { joinPath } from "../../sdk/json/walk.ts";

/**
 * Checks that a definition is JSON, and returns it as the engine is to get it: the engine's wire silently turns a Date
 * into {}, drops a Map and changes NaN. Outputs and promises inside are checked when they resolve. A field that is
 * undefined is left out: it is not declared.
 * @throws pulumi.RunError with the path; the program then ends with its message and without a stack trace.
 */
export function declaredJson(value: unknown, path: string, above: readonly object[] = []): unknown {
  if (value === null || typeof value === "boolean") return value;
  // The engine's wire would replace the character.
  if (typeof value === "string") return value.isWellFormed() ? value : refuse(path, "half a surrogate pair");
  if (typeof value === "number") return Number.isFinite(value) ? value : refuse(path, String(value));
  if (typeof value !== "object") return refuse(path, value === undefined ? "undefined" : `a ${typeof value}`);
  if (Output.isInstance(value)) return value.apply((resolved) => declaredJson(resolved, path));
  if (value instanceof Promise) return value.then((resolved) => declaredJson(resolved, path));
  if (above.includes(value)) return refuse(path, "a reference to an object that contains it");
  if (above.length >= maxDepth) return refuse(path, `more than ${maxDepth} levels of nesting`);
  const within = [...above, value];
  if (Array.isArray(value)) return value.map((element, index) => declaredJson(element, joinPath(path, index), within));
  if (!isPlainObject(value)) return refuse(path, `a ${value.constructor.name}`);
  // Pulumi's SDK copies fields by assignment, which loses this one.
  if (Object.hasOwn(value, "__proto__"))
    throw new RunError(
      `${joinPath(path, "__proto__")} cannot be declared: a field of this name does not reach the engine`,
    );
  const fields = Object.entries(value).filter(([, child]) => child !== undefined);
  const declared = Object.fromEntries(
    fields.map(([key, child]) => [key, declaredJson(child, joinPath(path, key), within)]),
  );
  if (!Object.hasOwn(declared, "toString") && !Object.hasOwn(declared, "valueOf")) return declared;
  // Pulumi's SDK turns inputs into strings, and fields with these names would make that fail.
  return Object.defineProperty(declared, Symbol.toPrimitive, { value: () => path });
}

function refuse(path: string, found: string): never {
  throw new RunError(`${path} holds ${found}, which is not JSON`);
}
