import { type Pointer, pointerOf } from "../../sdk/json/pointer.ts";

/**
 * Returns the pointer that a plain JSONPath (RFC 9535) means: `$.card.country`, `$['card'].items[0]`; undefined of one with wildcards,
 * filters, slices or a descent, which can name several values.
 */
export function pointerOfJsonPath(path: string): Pointer | undefined {
  if (!path.startsWith("$")) return undefined;
  const step = /\.([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)|\[(0|[1-9]\d{0,8})\]|\['([^'\\]*)'\]|\["([^"\\]*)"\]/y;
  const segments: (string | number)[] = [];
  step.lastIndex = 1;
  while (step.lastIndex < path.length) {
    const match = step.exec(path);
    if (match === null) return undefined;
    const [, name, index, quoted, doubleQuoted] = match;
    segments.push(name ?? quoted ?? doubleQuoted ?? Number(index));
  }
  return pointerOf(segments);
}
