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

  function step(value: Json, path: Path): Json | undefined {
    const inside = withinSecret(value);
    if (inside !== undefined) {
      secrets.push(path);
      if (!isUnknown(inside)) return step(inside, path);
      unreadable.push(path);
      return undefined;
    }
    if (isJsonArray(value)) return value.map((element, index) => step(element, [...path, index]) ?? null);
    return isJsonObject(value) ? fields(value, path) : value;
  }

  function fields(object: JsonObject, path: Path): JsonObject {
    const plain: [string, Json][] = [];
    for (const [key, value] of Object.entries(object)) {
      const shown = step(value, [...path, key]);
      if (shown !== undefined) plain.push([key, shown]);
    }
    return Object.fromEntries(plain);
  }

  return { plain: fields(properties, []), secrets, unreadable };
}
