import { isJsonArray, isJsonObject, type Json, type JsonObject, type Path } from "../../sdk/rules/index.ts";
import { isUnknown, type Properties, withinSecret } from "./wire.ts";

/** Properties in plain, and where in them secrets are. */
export interface Revealed {
  readonly plain: Properties;
  /** The places of all secrets. */
  readonly secrets: readonly Path[];
  /**
   * Those of them whose value is not known here, because nothing could decrypt it. The field is not in `plain`; an
   * element of an array is null there.
   */
  readonly unreadable: readonly Path[];
}

/** Takes the marks off that the engine puts around secrets. */
export function revealed(properties: Properties): Revealed {
  const secrets: Path[] = [];
  const unreadable: Path[] = [];
  // One array for the whole walk: most values are no secrets, and need no path.
  const path: (string | number)[] = [];

  function at(key: string | number, value: Json): Json | undefined {
    if (typeof value !== "object" || value === null) return value;
    path.push(key);
    const plain = step(value);
    path.pop();
    return plain;
  }

  function step(value: Json): Json | undefined {
    const inside = withinSecret(value);
    if (inside !== undefined) {
      secrets.push([...path]);
      if (!isUnknown(inside)) return step(inside);
      unreadable.push([...path]);
      return undefined;
    }
    if (isJsonArray(value)) return value.map((element, index) => at(index, element) ?? null);
    return isJsonObject(value) ? fields(value) : value;
  }

  function fields(object: JsonObject): JsonObject {
    const plain: [string, Json][] = [];
    for (const [key, value] of Object.entries(object)) {
      const shown = at(key, value);
      if (shown !== undefined) plain.push([key, shown]);
    }
    return Object.fromEntries(plain);
  }

  return { plain: fields(properties), secrets, unreadable };
}
