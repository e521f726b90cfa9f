import { isJsonArray, type Json, type JsonObject } from "../../sdk/json/json.ts";
import { type Pointer, segmentsOf, valueAt } from "../../sdk/json/pointer.ts";

/** Returns a function that gives the value at a pointer of an object, as `valueAt` does. It is made once for many objects. */
export function getterOf(pointer: Pointer): (object: JsonObject) => Json | undefined {
  const segments = segmentsOf(pointer);
  const [first = "", second = ""] = segments;
  // A name that every object inherits needs the look whether it is its own.
  if (segments.length === 0 || segments.length > 2 || segments.some((name) => name in Object.prototype))
    return (object) => valueAt(object, pointer);
  if (segments.length === 1) return (object) => object[first];
  const rest = pointer.slice(pointer.indexOf("/", 1));
  return (object) => {
    const inside = object[first];
    if (typeof inside !== "object" || inside === null) return undefined;
    return isJsonArray(inside) ? valueAt(inside, rest) : (inside as JsonObject)[second];
  };
}
